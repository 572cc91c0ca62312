"""Settings of a host, and changing them so that they are put back.

A setting is a named piece of a host's state: a command that reads it, commands that change it, commands that change it
back. The order is always the same: read the old value, have it on the disks of controller and host, change, read back.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from lab.base import signals
from lab.base.errors import (
    CommandError,
    DeadlineExceeded,
    HostError,
    HostKeyError,
    HostLost,
    RestoreError,
    SettingRefused,
)
from lab.hosts import Host
from lab.hosts.command import lenient, together
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.host_journal import HostJournal
from lab.settings.journal import Journal, Record
from lab.settings.setting import Setting

T = TypeVar("T")
PATIENCE_S = 90.0  # a machine that was restarted is back by then
PAUSE_S = 0.5
LONGEST_VALUE = 4096


class Settings:
    """Changes settings on hosts and puts them back, newest first.

    ``host_journals`` are the hosts' own, by role; ``gone`` says of hosts that cannot be reached why; ``restarted``
    counts, by role, what a restart of the host put back. ``tell`` is told where it takes long.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        journal: Journal,
        host_journals: Mapping[str, HostJournal] | None = None,
        patience_s: float = PATIENCE_S,
        gone: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ):
        self.hosts = hosts
        self.journal = journal
        self.host_journals = host_journals or {}
        self.patience_s = patience_s
        self.tell = tell
        self.restarted: Counter[str] = Counter()
        self.gone = dict(gone or {})
        self._standing: dict[int, Setting] = {}

    def claim(self, role: str) -> None:
        """Take a host's journal, which is a change like every other. Raises HostError where another run has it."""
        if host_journal := self.host_journals.get(role):
            if not any((record.name, record.host) == (HOST_JOURNAL, role) for record in self.journal.open):
                self.journal.intend(host_journal.record(self.journal.next_number()))
            host_journal.take()

    def apply(self, setting: Setting) -> None:
        """Bring a setting about. Raises SettingRefused where it does not read back as asked.

        A value that is as wanted already is left alone, and will not be "put back" either.
        """
        host = self.hosts[setting.host]
        old = setting.read.run(host)
        if old == setting.wanted:
            return
        if len(old) > LONGEST_VALUE:
            raise HostError(f"{setting.host}: {setting.name}: {len(old)} characters are no value that it can have")
        host_journal = self.host_journals.get(setting.host)
        run, boot = (host_journal.run, host_journal.boot) if host_journal else ("", "")
        record = setting.record(self.journal.next_number(), old, run, boot)
        self.journal.intend(record)
        self._standing[record.number] = setting
        if host_journal:
            host_journal.note(record)
        if host_journal and setting.may_cut_off:
            self._change_confirmed(setting, record, host_journal)
        else:
            self._change(setting)
        self._expect(setting, setting.read.run(host))

    def _expect(self, setting: Setting, found: str) -> None:
        if found != setting.wanted:
            said = f"{setting.host}: {setting.name}: asked for {setting.wanted!r}, in effect is {found!r:.200}"
            raise SettingRefused(f"{said}: {setting.remedy}" if setting.remedy else said)

    def renew(self, record: Record) -> None:
        """Undo one change of this program and bring it about again; the journal has it all along.

        Raises SettingRefused where it does not read back as asked, and HostError.
        """
        setting = self._standing[record.number]
        steps = together([*map(lenient, record.undo), *setting.apply, setting.read])
        said = [step.run(self.hosts[record.host]) for step in steps]
        self._expect(setting, said[-1])

    def _change(self, setting: Setting) -> None:
        try:
            for step in setting.apply:
                step.run(self.hosts[setting.host])
        except DeadlineExceeded:
            raise
        except CommandError as error:
            hint = error.remedy or setting.remedy
            raise CommandError(error.host, error.argv, error.exit_code, error.output, hint) from error

    def _change_confirmed(self, setting: Setting, record: Record, host_journal: HostJournal) -> None:
        """Change it while a timer on the host runs, and call that off over a connection that came after the change."""
        failed: HostError | None = None
        host_journal.arm(record)
        deadline = time.monotonic() + host_journal.revert_after_s
        try:
            self._change(setting)
        except HostError as error:
            failed = error
        try:
            self._connect_until(setting.host, deadline, lambda: host_journal.confirm(record))
        except HostError as error:
            self.reach(setting.host)
            raise SettingRefused(
                f"{setting.host}: {setting.name}: with {setting.wanted!r} the controller did not reach the host again "
                f"within {host_journal.revert_after_s:g} s, so that the host took it back by itself ({error})"
            ) from error
        if failed and not isinstance(failed, HostLost | DeadlineExceeded):  # of those, what reads back decides
            raise failed

    def reach(self, role: str) -> None:
        """Connect again to a host whose connection was lost, for as long as a restart takes.

        Raises HostError where it cannot be reached, and once more, at once, at every later call.
        """
        if role in self.gone:
            raise HostError(self.gone[role])
        if self.patience_s and not signals.waiting():
            self.tell(f"{role}: connection lost; trying for {self.patience_s:g} s to reach it again (Ctrl-C gives up)")
        try:
            self._connect_until(role, time.monotonic() + self.patience_s, lambda: None)
        except HostError as error:
            self.gone[role] = str(error)
            self.patience_s = 0.0  # another host that is not there was waited for as well
            raise

    def ensure(self, role: str) -> None:
        """Reach a host, unless its connection works."""
        try:
            self.hosts[role].run("true", deadline_s=10)
        except HostError:
            self.reach(role)

    def _connect_until(self, role: str, deadline: float, use: Callable[[], None]) -> None:
        """Make new connections until one can be used, or the deadline (monotonic) has passed. Raises HostError."""
        while True:
            try:
                self.hosts[role].reconnect()
                if role in self.host_journals:
                    self.host_journals[role].take()
                use()
                return
            except HostKeyError:
                raise
            except HostError:
                if time.monotonic() >= deadline or signals.waiting():
                    raise
                time.sleep(PAUSE_S)

    def apply_all(self, settings: Iterable[Setting]) -> None:
        """Bring settings about in this order."""
        for setting in settings:
            self.apply(setting)

    def follow(self, steps: Generator[Setting, None, T]) -> T:
        """Bring settings about as a generator makes them, each after the one before took; its return value."""
        while True:
            try:
                setting = next(steps)
            except StopIteration as end:
                value: T = end.value
                return value
            self.apply(setting)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Put back, at its end, whatever was changed inside; on success, error and interruption alike."""
        mark = len(self.journal.open)
        try:
            yield
        finally:
            self.unwind(mark)

    def unwind(self, mark: int = 0) -> None:
        """Put back all but the oldest ``mark`` changes, newest first. One that fails does not stop the others.

        Raises RestoreError at the end, with what to type by hand for each that failed; those stay in the journal.
        """
        with signals.held():
            problems = self._unwind(self.journal.open[mark:])
            if problems:
                advice = "`lab restore` tries again"
                raise RestoreError("\n".join(["not everything could be put back; " + advice, *problems.values()]))

    def _unwind(self, records: list[Record]) -> dict[int, str]:
        """Put these back, newest first; what went wrong, by the number of the record."""
        problems: dict[int, str] = {}
        unnoted: dict[int, str] = {}
        settled: dict[int, Record] = {}
        for record in reversed(records):
            if record.name == HOST_JOURNAL:  # which must have nothing left to tell by then
                problems |= self._strike(record.host, settled, unnoted)
            if record.holds and any(later.host == record.host and later.number in problems for later in records):
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
        return problems | unnoted

    def _put_back(self, record: Record) -> str:
        """Bring one old value back, over a new connection if need be; what went wrong, empty where nothing did."""
        if record.host in self.gone:
            return record.problem(f"unknown ({self.gone[record.host]})")
        if record.host not in self.hosts:
            return f"{record.host}: {record.name}: there is no such host"
        host = self.hosts[record.host]
        try:
            try:
                return self._put_back_on(host, record)
            except (HostLost, DeadlineExceeded):
                self.reach(record.host)
                return self._put_back_on(host, record)
        except HostError as error:
            return record.problem(f"unknown ({error})")

    def _put_back_on(self, host: Host, record: Record) -> str:
        host_journal = self.host_journals.get(record.host)
        if host_journal and record.ended_by_restart(host_journal.boot):
            self.restarted[record.host] += 1
            return ""
        return record.put_back(host)

    def _strike(self, role: str, settled: dict[int, Record], unnoted: dict[int, str]) -> dict[int, str]:
        """Note on a host, then in the journal, what has been put back there; what went wrong, by number of record.

        ``unnoted`` takes what went wrong here only: a full disk here is no reason to leave a host changed.
        """
        done = [settled.pop(number) for number in sorted(settled) if settled[number].host == role]
        try:
            self._strike_on(role, [record for record in done if record.name != HOST_JOURNAL])
        except HostError as error:
            return {record.number: f"{role}: {record.name} was put back, but {error}" for record in done}
        for record in done:
            self._standing.pop(record.number, None)
            try:
                self.journal.close(record)
            except OSError as error:
                said = f"{role}: {record.name} was put back, but the journal says not: {error}"
                unnoted[record.number] = said
        return {}

    def _strike_on(self, role: str, records: list[Record]) -> None:
        if role not in self.host_journals:
            return
        try:
            self.host_journals[role].strike(records)
        except (HostLost, DeadlineExceeded):
            self.reach(role)
            self.host_journals[role].strike(records)

    def _settled_by(self, record: Record) -> list[Record]:
        """This record, after later ones of the same thing that failed: trying one again would bring a wrong value."""
        same = [later for later in self.journal.open if (later.host, later.read) == (record.host, record.read)]
        return [later for later in reversed(same) if later.number >= record.number]
