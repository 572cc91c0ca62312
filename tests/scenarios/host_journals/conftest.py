"""Hosts that note what runs change on them."""

from support.host_journal_fixtures import *  # noqa: F403 – fixtures
