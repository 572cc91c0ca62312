"""Reaching a host: the only place that knows SSH."""

from lab.hosts.host import CommandLog, Host, Nobody, Result
from lab.hosts.role import ROLES, Role, role_of

__all__ = ["ROLES", "CommandLog", "Host", "Nobody", "Result", "Role", "role_of"]
