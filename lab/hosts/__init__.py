"""Reaching a host: the only place that knows SSH."""

from lab.hosts.base import CommandLog, Host, Result
from lab.hosts.ssh import SshHost

__all__ = ["CommandLog", "Host", "Result", "SshHost"]
