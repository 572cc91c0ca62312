"""The connections to the hosts, made anew where they break."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from lab.base import signals
from lab.base.errors import HostError, HostKeyError
from lab.hosts import Host
from lab.settings.host_journal import HostJournal

PATIENCE_S = 90.0  # a machine that was restarted is back by then
PAUSE_S = 0.5
GONE = "the local lab that this host belonged to was taken down, and what was changed on it went with it"


class Connections:
    """Reaches hosts again. ``gone`` says of hosts that cannot be reached why; ``tell`` is told where it takes long.

    ``is_gone`` says whether the hosts no longer exist, those of a local lab that was taken down: then nobody waits.

    A host's journal in ``host_journals`` is locked to the connection, so that every new connection takes it again, and
    does so before the old one is closed: nobody must take the host for one that an ended run left.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        host_journals: Mapping[str, HostJournal] | None = None,
        patience_s: float = PATIENCE_S,
        gone: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda _: None,
        is_gone: Callable[[], bool] = lambda: False,
    ):
        self.hosts = hosts
        self.host_journals = host_journals or {}
        self.patience_s = patience_s
        self.gone = dict(gone or {})
        self.tell = tell
        self.is_gone = is_gone

    def ensure(self, role: str) -> None:
        """Reach a host, unless its connection works."""
        try:
            self.hosts[role].run("true", deadline_s=10)
        except HostError:
            self.reach(role)

    def reach(self, role: str) -> None:
        """Connect again to a host whose connection was lost, for as long as a restart takes.

        Raises HostError where it cannot be reached, and once more, at once, at every later call.
        """
        if role in self.gone:
            raise HostError(self.gone[role], several=True)
        if self.patience_s and not signals.is_pending() and not self.is_gone():
            self.tell(f"{role}: connection lost; trying for {self.patience_s:g} s to reach it again (Ctrl-C gives up)")
        try:
            self.reach_until(time.monotonic() + self.patience_s, role)
        except HostError as error:
            self.gone[role] = error.on_one_line()
            self.patience_s = 0.0  # the other host had the same time to come back
            raise

    def reach_until(self, deadline: float, role: str, use: Callable[[], None] = lambda: None) -> None:
        """Make new connections until one can be used, or the deadline (monotonic) has passed. Raises HostError."""
        host_journal = self.host_journals.get(role)
        take_over = host_journal.take if host_journal else lambda: None
        while True:
            try:
                self.hosts[role].reconnect(take_over)
                use()
                return
            except HostKeyError:
                raise
            except HostError as error:
                if self.is_gone():
                    raise HostError(GONE, host=role) from error
                if time.monotonic() >= deadline or signals.is_pending():
                    raise
                time.sleep(PAUSE_S)
