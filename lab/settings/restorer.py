"""Puts changes back by their records, newest first, and notes that on host and controller."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from lab.base.errors import DeadlineExceeded, HostError, HostLost, NotNoted, RestoreError
from lab.base.os_errors import reason_of
from lab.base.untrusted import one_line
from lab.settings.connections import Connections
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal, Record


@dataclass
class _Progress:
    """By number of record: problems on hosts, problems with the journal only, and changes put back, still to note."""

    problems: dict[int, str] = field(default_factory=dict)
    unnoted: dict[int, str] = field(default_factory=dict)
    why_unnoted: OSError | None = None
    settled: dict[int, Record] = field(default_factory=dict)


class Restorer:
    """Puts back changes of a journal. ``restarted`` counts, by role, changes that a restart of the host undid.

    ``is_given_up`` tells which changes the user has given up.
    """

    def __init__(self, journal: Journal, connections: Connections):
        self.journal = journal
        self.connections = connections
        self.restarted: Counter[str] = Counter()
        self.is_given_up: Callable[[Record], bool] = lambda _: False

    def restore(self, records: list[Record]) -> None:
        """Put these back, newest first. A failure does not stop the others.

        Raises RestoreError with a line for each failure; NotNoted if only the journal failed.
        """
        # the host's journal last: its folder can be removed only once no record is left in it
        taken = [record for record in records if record.name == HOST_JOURNAL]
        order = list(reversed([*taken, *(record for record in records if record not in taken)]))
        progress = _Progress()
        self._go_through(order, progress)
        if self._find_gone(order, progress):
            again = [record for record in order if progress.problems.pop(record.number, None) is not None]
            self._go_through(again, progress)
        for role in {record.host for record in progress.settled.values()}:
            progress.problems |= self._strike(role, progress)
        if progress.problems:
            raise RestoreError(list((progress.problems | progress.unnoted).values()))
        if progress.why_unnoted:
            raise NotNoted(list(progress.unnoted.values()), progress.why_unnoted)

    def _go_through(self, order: list[Record], progress: _Progress) -> None:
        """Put records back in this order."""
        problems = progress.problems
        for record in order:
            if record.name == HOST_JOURNAL:
                problems |= self._strike(record.host, progress)
            if self._is_needed(record, order, problems):
                problems[record.number] = f"{record.host}: {record.name} stays: another open change needs it"
            elif problem := self._put_back(record):
                problems[record.number] = problem
            else:
                self._settle(record, progress)

    def _is_needed(self, record: Record, order: list[Record], problems: dict[int, str]) -> bool:
        """Whether a later change that is not put back needs this one. All of them need the host's journal."""
        left = [later for later in order if later.host == record.host and later.number in problems]
        if record.name != HOST_JOURNAL:
            left = [later for later in left if not later.operation.stands_alone]
        return record.operation.holds and bool(left)

    def _find_gone(self, order: list[Record], progress: _Progress) -> bool:
        """Settle failures that have their old value by now: a folder on a failed disk goes with the mount below it."""
        restored = [r for r in order if r.number in progress.problems and self._is_as_it_was(r)]
        for record in restored:
            self._settle(record, progress)
        return bool(restored)

    def _is_as_it_was(self, record: Record) -> bool:
        connections = self.connections
        if record.name == HOST_JOURNAL or record.host in connections.gone or record.host not in connections.hosts:
            return False
        try:
            return record.read.run(connections.hosts[record.host]) == record.old
        except HostError:
            return False

    def _settle(self, record: Record, progress: _Progress) -> None:
        for done in self._settled_by(record):
            progress.settled[done.number] = done
            progress.problems.pop(done.number, None)

    def _put_back(self, record: Record) -> str:
        """Restore one old value, if need be over a new connection; returns what went wrong, or an empty text."""
        connections = self.connections
        if record.host in connections.gone:
            return record.problem(f"unknown ({connections.gone[record.host]})")
        if record.host not in connections.hosts:
            return f"{one_line(record.host, 80)}: {one_line(record.name, 80)}: there is no such host"
        try:
            if self.is_given_up(record):
                return ""
            try:
                return self._put_back_once(record)
            except (HostLost, DeadlineExceeded):
                connections.reach(record.host)
                return self._put_back_once(record)
        except HostError as error:
            return record.problem(f"unknown ({error.cause()})")

    def _put_back_once(self, record: Record) -> str:
        host_journal = self.connections.host_journals.get(record.host)
        if host_journal and record.ended_by_restart(host_journal.boot):
            self.restarted[record.host] += 1
            return ""
        return record.put_back(self.connections.hosts[record.host])

    def _strike(self, role: str, progress: _Progress) -> dict[int, str]:
        """Note on a host, then in the journal, what has been put back there; returns problems by number of record.

        Problems of the journal are kept apart: a full disk here is no reason to leave a host changed.
        """
        settled = progress.settled
        done = [settled.pop(number) for number in sorted(settled) if settled[number].host == role]
        try:
            self._strike_on_host(role, [record for record in done if record.name != HOST_JOURNAL])
        except HostError as error:
            return {record.number: f"{role}: {record.name} was put back, but {error.on_one_line()}" for record in done}
        for record in done:
            try:
                self.journal.close(record)
            except OSError as error:
                message = f"{role}: {record.name} was put back, but the journal says not: {reason_of(error)}"
                progress.unnoted[record.number], progress.why_unnoted = message, error
        return {}

    def _strike_on_host(self, role: str, records: list[Record]) -> None:
        host_journals = self.connections.host_journals
        if role not in host_journals:
            return
        try:
            host_journals[role].strike(records)
        except (HostLost, DeadlineExceeded):
            self.connections.reach(role)
            host_journals[role].strike(records)

    def _settled_by(self, record: Record) -> list[Record]:
        """This record, after later failed ones of the same thing: to try these again would restore a wrong value."""
        same = [later for later in self.journal.open if (later.host, later.read) == (record.host, record.read)]
        return [later for later in reversed(same) if later.number >= record.number]
