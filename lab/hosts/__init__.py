"""Reaching a host: the only place that knows SSH."""

from lab.hosts.host import CommandLog, Host, Result
from lab.hosts.ssh import SshHost
from lab.hosts.testbed import ROLES, connected, reached

__all__ = ["ROLES", "CommandLog", "Host", "Result", "SshHost", "connected", "reached"]
