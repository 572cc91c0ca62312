"""Hosts that are reached over SSH, by either transport."""

from __future__ import annotations

import pytest
from support.sshd_fixtures import *  # noqa: F403 – fixtures

pytest.register_assert_rewrite("unit.hosts")
