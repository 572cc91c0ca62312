"""Whom TCP buffers reach on a Mac, by what the drivers say and by the version of macOS."""

import pytest

from lab import protocols
from lab.platforms.macos.preflight import tcp_reach
from lab.settings.tcp_reach import Reach


def reach(system: str, protocol: str, role: str) -> Reach:
    return tcp_reach(system, protocols.find(protocol).tcp_reach("macos", role))


@pytest.mark.parametrize(
    ("version", "protocol", "role", "reaches"),
    [
        ("10.6.8", "smb", "client", False), ("10.8.5", "smb", "client", False), ("10.10.5", "smb", "client", False),
        ("10.13.6", "smb", "client", None), ("14.6", "smb", "client", False), ("15.0", "smb", "client", True),
        ("26.4.1", "smb", "client", True), ("14.6", "smb", "server", None),
        ("10.14.6", "nfs", "client", True), ("10.15.7", "nfs", "client", False), ("14.4", "nfs", "client", False),
        ("10.14.6", "nfs", "server", True), ("13.0", "nfs", "server", False), ("26.0", "nfs", "server", False),
        ("12.0", "afp", "client", None), ("10.6.8", "ssh", "server", True),
        ("10.5.8", "smb", "client", None),
    ],
)  # fmt: skip
def test_whom_tcp_buffers_reach_on_a_mac(version: str, protocol: str, role: str, reaches: bool | None) -> None:
    assert reach(f"macOS {version} (25E253)", protocol, role).reaches is reaches


def test_what_to_set_instead() -> None:
    assert reach("Mac OS X 10.6.8 (10K549)", "smb", "client").instead.startswith("net.smb.fs.tcpsndbuf")
    assert reach("macOS 14.4 (23E214)", "nfs", "client").instead == "vfs.generic.nfs.client.tcp_sockbuf"
    assert reach("macOS (a)", "smb", "client").reaches is None


def test_of_a_platform_without_a_driver_nothing_is_known() -> None:
    assert protocols.find("smb").tcp_reach("freebsd", "client") == {}
    assert tcp_reach("macOS 26.0 (25A354)", {}).reaches is None
