"""Hosts that note what runs change on them."""

from __future__ import annotations

from support.host_journal_fixtures import *  # noqa: F403 – fixtures
