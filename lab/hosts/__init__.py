"""Reaching a host: the only place that knows SSH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.hosts.host import CommandLog, Host, Result
from lab.hosts.nobody import Nobody
from lab.hosts.role import ROLES, Role, role_of

if TYPE_CHECKING:
    from lab.hosts.ssh import SshHost
    from lab.hosts.testbed import connected, reached

__all__ = ["ROLES", "CommandLog", "Host", "Nobody", "Result", "Role", "SshHost", "connected", "reached", "role_of"]


def __getattr__(name: str) -> object:
    """What speaks SSH needs paramiko, which takes longer to import than a plan takes to make: it is, once asked for."""
    if name == "SshHost":
        from lab.hosts.ssh import SshHost

        return SshHost
    if name in ("connected", "reached"):
        from lab.hosts import testbed

        return getattr(testbed, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
