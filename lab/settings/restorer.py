"""Reaches hosts again whose connections break, and puts changes back by their records, newest first."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from lab.base import signals
from lab.base.errors import DeadlineExceeded, HostError, HostKeyError, HostLost, NotNoted, RestoreError
from lab.base.os_errors import reason_of
from lab.base.untrusted import one_line
from lab.hosts import Host
from lab.settings import by_hand
from lab.settings.by_hand import Problem
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.host_journal import HostJournal
from lab.settings.journal import Journal, Record

T = TypeVar("T")
PATIENCE_S = 90.0  # a machine that was restarted is back by then
PAUSE_S = 0.5
GONE = "the local lab that this host belonged to was taken down, and what was changed on it went with it"


@dataclass(eq=False)
class Connections:
    """Reaches hosts again for up to ``patience_s``. ``gone`` has the reason for each host that cannot be reached.

    ``tell`` gets a message if it takes long. ``is_gone`` tells whether the local lab of the hosts was taken down. Each
    new connection takes the host's journal before the old one is closed, because the lock ends with its connection.
    """

    hosts: Mapping[str, Host]
    host_journals: Mapping[str, HostJournal]
    patience_s: float
    gone: dict[str, str]
    tell: Callable[[str], None]
    is_gone: Callable[[], bool]

    def ensure(self, role: str) -> None:
        try:
            self.hosts[role].run("true", deadline_s=10)
        except HostError:
            self.reach(role)

    def insist(self, role: str, act: Callable[[], T]) -> T:
        """Do it, and once more if the connection broke or it hung."""
        try:
            return act()
        except HostLost:
            self.reach(role)
        except DeadlineExceeded:
            self.ensure(role)
        return act()

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


@dataclass
class _Progress:
    """By number of record: problems on hosts, problems with the journal only, and changes put back, still to note."""

    problems: dict[int, Problem] = field(default_factory=dict)
    unnoted: dict[int, Problem] = field(default_factory=dict)
    why_unnoted: OSError | None = None
    settled: dict[int, Record] = field(default_factory=dict)


class Restorer:
    """Puts back changes that are not ``is_given_up``. ``restarted`` counts, by role, what a restart undid."""

    def __init__(self, journal: Journal, connections: Connections):
        self.journal = journal
        self.connections = connections
        self.restarted: Counter[str] = Counter()
        self.is_given_up: Callable[[Record], bool] = lambda _: False

    def restore(self, records: list[Record]) -> None:
        """Put these back, newest first, whatever fails. Raises RestoreError, or NotNoted if only the journal failed."""
        # the host's journal last: its folder can be removed only once no record is left in it
        taken = [record for record in records if record.name == HOST_JOURNAL]
        order = list(reversed([*taken, *(record for record in records if record not in taken)]))
        progress = _Progress()
        self._go_through(order, progress)
        # a folder on a failed disk goes with the mount below it
        as_before = [record for record in order if record.number in progress.problems and self._is_as_it_was(record)]
        for record in as_before:
            if record.operation.may_stay:
                self.connections.tell(f"warning: {record.operation.may_stay}")
            self._settle(record, progress)
        if as_before:
            again = [record for record in order if progress.problems.pop(record.number, None) is not None]
            self._go_through(again, progress)
        for role in {record.host for record in progress.settled.values()}:
            progress.problems |= self._strike(role, progress)
        if progress.problems:
            numbered, own = progress.problems | progress.unnoted, {record.number for record in taken}
            problems = [problem for number, problem in numbered.items() if number not in own] or [*numbered.values()]
            raise RestoreError([problem.why for problem in problems], by_hand.write(self.journal.path, problems))
        if not self.journal.open:
            by_hand.remove(self.journal.path)
        if progress.why_unnoted:
            raise NotNoted([problem.why for problem in progress.unnoted.values()], progress.why_unnoted)

    def _go_through(self, order: list[Record], progress: _Progress) -> None:
        problems = progress.problems
        for record in order:
            if record.name == HOST_JOURNAL:
                problems |= self._strike(record.host, progress)
            if self._is_needed(record, order, problems):
                problems[record.number] = Problem(f"{record.host}: {record.name} stays: another open change needs it")
            elif problem := self._put_back(record):
                problems[record.number] = problem
            else:
                self._settle(record, progress)

    def _is_needed(self, record: Record, order: list[Record], problems: dict[int, Problem]) -> bool:
        """Whether a later change that is not put back needs this one. All of them need the host's journal."""
        open_later = [later for later in order if later.host == record.host and later.number in problems]
        if record.name != HOST_JOURNAL:
            open_later = [later for later in open_later if not later.operation.stands_alone]
        return record.operation.holds and bool(open_later)

    def _is_as_it_was(self, record: Record) -> bool:
        connections = self.connections
        if record.name == HOST_JOURNAL or record.host in connections.gone or record.host not in connections.hosts:
            return False
        try:
            return record.read.run(connections.hosts[record.host]) == record.old
        except HostError:
            return False

    def _settle(self, record: Record, progress: _Progress) -> None:
        """Settle this record after later failed ones of the same thing: to retry these would restore a wrong value."""
        for same in reversed(self.journal.open):
            if (same.host, same.read) == (record.host, record.read) and same.number >= record.number:
                progress.settled[same.number] = same
                progress.problems.pop(same.number, None)

    def _put_back(self, record: Record) -> Problem | None:
        """Restore one old value, if need be over a new connection; returns what went wrong."""
        connections = self.connections
        if record.host in connections.gone:
            return record.problem(f"unknown ({connections.gone[record.host]})")
        if record.host not in connections.hosts:
            return Problem(f"{one_line(record.host, 80)}: {one_line(record.name, 80)}: there is no such host")
        try:
            if self.is_given_up(record):
                return None
            return connections.insist(record.host, partial(self._put_back_once, record))
        except DeadlineExceeded as error:
            return record.problem("unknown", record.operation.if_it_hangs or error.cause())
        except HostError as error:
            return record.problem(f"unknown ({error.cause()})")

    def _put_back_once(self, record: Record) -> Problem | None:
        host_journal = self.connections.host_journals.get(record.host)
        if host_journal and record.ended_by_restart(host_journal.boot):
            self.restarted[record.host] += 1
            return None
        return record.put_back(self.connections.hosts[record.host])

    def _strike(self, role: str, progress: _Progress) -> dict[int, Problem]:
        """Note on a host, then in the journal, what has been put back there; returns problems by number of record.

        Problems of the journal are kept apart: a full disk here is no reason to leave a host changed.
        """
        settled = progress.settled
        noted = [settled.pop(number) for number in sorted(settled) if settled[number].host == role]
        try:
            if host_journal := self.connections.host_journals.get(role):
                on_host = [record for record in noted if record.name != HOST_JOURNAL]
                self.connections.insist(role, partial(host_journal.strike, on_host))
        except HostError as error:
            why = error.on_one_line()
            return {record.number: Problem(f"{role}: {record.name} was put back, but {why}") for record in noted}
        for record in noted:
            try:
                self.journal.close(record)
            except OSError as error:
                message = f"{role}: {record.name} was put back, but the journal says not: {reason_of(error)}"
                progress.unnoted[record.number], progress.why_unnoted = Problem(message), error
        return {}
