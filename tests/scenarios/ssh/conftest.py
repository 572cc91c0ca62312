"""Hosts that are reached over SSH, by either transport."""

from support.sshd_fixtures import *  # noqa: F403 – fixtures
