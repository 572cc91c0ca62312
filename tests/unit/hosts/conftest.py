"""This machine as a host, for tests of commands; tests/scenarios/ssh runs the same tests over SSH."""

from collections.abc import Callable

import pytest

from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost


@pytest.fixture(scope="module")
def any_config() -> HostConfig:
    """How to reach this machine."""
    return HostConfig(transport="local", sudo="none", data_address="192.0.2.1")


@pytest.fixture
def here(connect_any: Callable[[], SshHost]) -> SshHost:
    """This machine as a host."""
    return connect_any()
