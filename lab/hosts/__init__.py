"""Reaching a host: the only place that knows SSH."""

from lab.hosts.host import CommandLog, Host, Result
from lab.hosts.nobody import Nobody
from lab.hosts.role import ROLES, Role
from lab.hosts.ssh import SshHost
from lab.hosts.testbed import connected, reached

__all__ = ["ROLES", "CommandLog", "Host", "Nobody", "Result", "Role", "SshHost", "connected", "reached"]
