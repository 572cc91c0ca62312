"""Connections to the hosts, made anew when they break."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.base import signals
from lab.base.errors import HostError, HostKeyError
from lab.hosts import Host
from lab.settings.host_journal import HostJournal

PATIENCE_S = 90.0  # a machine that was restarted is back by then
PAUSE_S = 0.5
GONE = "the local lab that this host belonged to was taken down, and what was changed on it went with it"


@dataclass(eq=False)
class Connections:
    """Reaches hosts again for up to ``patience_s``. ``gone`` has the reason for each host that cannot be reached.

    ``tell`` gets a message if it takes long. ``is_gone`` tells whether the local lab of the hosts was taken down: then
    nobody waits. Each new connection takes the host's journal again before the old connection is closed, because the
    lock ends with its connection, and the host would seem to be left by an ended run.
    """

    hosts: Mapping[str, Host]
    host_journals: Mapping[str, HostJournal]
    patience_s: float
    gone: dict[str, str]
    tell: Callable[[str], None]
    is_gone: Callable[[], bool]

    def ensure(self, role: str) -> None:
        """Reach a host, unless its connection works."""
        try:
            self.hosts[role].run("true", deadline_s=10)
        except HostError:
            self.reach(role)

    def reach(self, role: str) -> None:
        """Connect again to a host, waiting as long as a restart takes. Raises HostError, and at once in later calls."""
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
        """Make new connections until one works, or the deadline (monotonic) has passed. Raises HostError."""
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
