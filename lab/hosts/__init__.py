"""Reaching a host: the only place that knows SSH."""

from lab.hosts.base import CommandLog, Host, Result
from lab.hosts.pair import ROLES, connected, reached
from lab.hosts.ssh import SshHost

__all__ = ["ROLES", "CommandLog", "Host", "Result", "SshHost", "connected", "reached"]
