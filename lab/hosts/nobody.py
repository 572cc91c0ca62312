"""A server that nobody logs in to: it has an address, and takes no commands."""

from __future__ import annotations

from collections.abc import Callable

from lab.base.errors import HostError
from lab.hosts.host import Host, Result


class Nobody(Host):
    """Stands where a host is expected; every command is an error that says why."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        raise self._unreached()

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """See :meth:`Host.reconnect`."""
        raise self._unreached()

    def close(self) -> None:
        """See :meth:`Host.close`."""

    def _unreached(self) -> HostError:
        message = f"nobody logs in there: [{self.name}] of the hosts file has no host"
        return HostError(message, "give it one, where there is a login", host=self.name)
