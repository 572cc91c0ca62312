"""Hosts that are reached over SSH, by either transport."""

from __future__ import annotations

from support.sshd_fixtures import *  # noqa: F403 – fixtures
