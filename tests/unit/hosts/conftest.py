"""This machine as a host, for tests of commands; tests/scenarios/ssh runs the same tests over SSH."""

from __future__ import annotations

import pytest
from support.sshd_fixtures import connect_any  # noqa: F401 – a fixture

from lab.hosts.host_config import HostConfig


@pytest.fixture(scope="module")
def any_config() -> HostConfig:
    """How to reach this machine."""
    return HostConfig(transport="local", sudo="none", data_address="192.0.2.1")
