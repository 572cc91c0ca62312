"""Hosts that note what runs change on them."""

from __future__ import annotations

import pytest
from support.host_journal_fixtures import *  # noqa: F403 – fixtures

pytest.register_assert_rewrite("scenarios.host_journals")
