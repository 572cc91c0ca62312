"""Putting changes back by their records, newest first, and noting on host and controller that they are."""

from __future__ import annotations

from collections import Counter

from lab.base.errors import DeadlineExceeded, HostError, HostLost
from lab.base.untrusted import one_line
from lab.settings.connections import Connections
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal, Record


class Restorer:
    """Puts back changes of a journal. ``restarted`` counts, by role, those that a restart of the host put back."""

    def __init__(self, journal: Journal, connections: Connections):
        self.journal = journal
        self.connections = connections
        self.restarted: Counter[str] = Counter()

    def restore(self, records: list[Record]) -> list[str]:
        """Put these back, newest first. One that fails does not stop the others; a line for each that does."""
        problems: dict[int, str] = {}
        unnoted: dict[int, str] = {}
        settled: dict[int, Record] = {}
        # a host's journal last, whenever it was taken: its folder can only go once no record is left in it
        taken = [record for record in records if record.name == HOST_JOURNAL]
        for record in reversed([*taken, *(record for record in records if record not in taken)]):
            if record.name == HOST_JOURNAL:
                problems |= self._strike(record.host, settled, unnoted)
            if record.operation.holds and any(
                later.host == record.host and later.number in problems for later in records
            ):
                problems[record.number] = f"{record.host}: {record.name} stays, for what is left needs it"
                continue
            if problem := self._put_back(record):
                problems[record.number] = problem
                continue
            for done in self._settled_by(record):
                settled[done.number] = done
                problems.pop(done.number, None)
        for role in {record.host for record in settled.values()}:
            problems |= self._strike(role, settled, unnoted)
        return list((problems | unnoted).values())

    def _put_back(self, record: Record) -> str:
        """Bring one old value back, over a new connection if need be; what went wrong, empty where nothing did."""
        connections = self.connections
        if record.host in connections.gone:
            return record.problem(f"unknown ({connections.gone[record.host]})")
        if record.host not in connections.hosts:
            return f"{one_line(record.host, 80)}: {one_line(record.name, 80)}: there is no such host"
        try:
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

    def _strike(self, role: str, settled: dict[int, Record], unnoted: dict[int, str]) -> dict[int, str]:
        """Note on a host, then in the journal, what has been put back there; what went wrong, by number of record.

        ``unnoted`` takes what went wrong on the controller only: a full disk here is no reason to leave a host changed.
        """
        done = [settled.pop(number) for number in sorted(settled) if settled[number].host == role]
        try:
            self._strike_on_host(role, [record for record in done if record.name != HOST_JOURNAL])
        except HostError as error:
            return {record.number: f"{role}: {record.name} was put back, but {error.on_one_line()}" for record in done}
        for record in done:
            try:
                self.journal.close(record)
            except OSError as error:
                unnoted[record.number] = f"{role}: {record.name} was put back, but the journal says not: {error}"
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
        """This record, after later ones of the same thing that failed: trying one again would bring a wrong value."""
        same = [later for later in self.journal.open if (later.host, later.read) == (record.host, record.read)]
        return [later for later in reversed(same) if later.number >= record.number]
