"""Settings of hosts, changed so that they are put back; and layers of settings, kept while the next case needs them.

A setting is a named piece of a host's state, with an operation that reads and restores it, and commands that change it.
The order is always: read the old value, write it to the disks of controller and host, change it, read it back.
"""

import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from lab.base import signals
from lab.base.errors import CommandError, DeadlineExceeded, HostError, HostLost, LabFailure, SettingRefused
from lab.hosts import Host
from lab.hosts.command import lenient, together
from lab.settings.background import RUNNING
from lab.settings.host_journal import LAPSED, HostJournal
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal, Record
from lab.settings.operation import Setting
from lab.settings.restorer import PATIENCE_S, Connections, Restorer

T = TypeVar("T")


class Settings:
    """Changes settings on hosts and puts them back, newest first; for the parameters see :class:`Connections`."""

    def __init__(
        self,
        hosts: Mapping[str, Host],
        journal: Journal,
        host_journals: Mapping[str, HostJournal] | None = None,
        patience_s: float = PATIENCE_S,
        gone: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda _: None,
        is_gone: Callable[[], bool] = lambda: False,
    ):
        self.hosts = hosts
        self.journal = journal
        self.host_journals = host_journals or {}
        self.connections = Connections(hosts, self.host_journals, patience_s, dict(gone or {}), tell, is_gone)
        self.restorer = Restorer(journal, self.connections)
        self._applied: dict[int, Setting] = {}  # by number of the open record

    def claim(self, role: str) -> None:
        """Take a host's journal, which is a change like any other. Raises HostError if another run has it."""
        if host_journal := self.host_journals.get(role):
            again = any((record.name, record.host) == (HOST_JOURNAL, role) for record in self.journal.open)
            if not again:
                self.journal.intend(host_journal.record(self.journal.next_number()))
            with signals.deferred():  # else the script there might create the folder after it was put back
                host_journal.take(again)

    # --- changing

    def apply(self, setting: Setting) -> None:
        """Apply a setting, unless it has the wanted value. Raises SettingRefused if it reads back otherwise."""
        host, host_journal = self.hosts[setting.host], self.host_journals.get(setting.host)
        if host_journal and host_journal.lapsed:
            raise HostError(LAPSED, host=setting.host)
        old = setting.before or setting.read.run(host)
        if old == setting.wanted:
            return
        try:
            setting.operation.check(old)
        except LabFailure as error:
            raise HostError(error.message, host=setting.host) from error
        run, boot = (host_journal.run, host_journal.boot) if host_journal else ("", "")
        number = self.journal.next_number()
        record = Record(number, setting.host, setting.operation, old, setting.wanted, run, boot)
        self.journal.intend(record)
        self._applied[record.number] = setting
        if host_journal:
            host_journal.note(record)
        if host_journal and setting.operation.may_cut_off:
            self._change_confirmed(setting, record, host_journal)
        else:
            self._change(setting)
        _check_value(setting, setting.read.run(host))

    def apply_all(self, settings: Iterable[Setting]) -> None:
        for setting in settings:
            self.apply(setting)

    def follow(self, steps: Generator[Setting, None, T]) -> T:
        """Apply settings as a generator yields them, each after the one before; returns the generator's value."""
        while True:
            try:
                setting = next(steps)
            except StopIteration as end:
                value: T = end.value
                return value
            self.apply(setting)

    def renew(self, record: Record) -> None:
        """Undo one change of this program and apply it again; its record stays open. Raises as :meth:`apply`."""
        setting = self._applied[record.number]
        host = self.hosts[record.host]
        if host.is_narrow:
            for step in record.undo:
                step.run(host, check=False)
            steps = [*setting.apply, setting.read]
        else:
            steps = [*map(lenient, record.undo), *setting.apply, setting.read]
            if host.needs_no_sudo:  # all steps have the same rights: together they are one command
                steps = [replace(step, root=True) for step in steps]
            steps = together(steps)
        outputs = [step.run(host) for step in steps]
        _check_value(setting, outputs[-1])

    def _change(self, setting: Setting) -> None:
        try:
            for step in setting.apply:
                step.run(self.hosts[setting.host])
        except DeadlineExceeded:
            raise
        except CommandError as error:
            remedy = error.remedy or setting.remedy
            raise CommandError(error.host, error.argv, error.exit_code, error.output, remedy) from error

    def _change_confirmed(self, setting: Setting, record: Record, host_journal: HostJournal) -> None:
        """Change it while a timer runs on the host, and stop the timer over a connection made after the change."""
        failure: HostError | None = None
        host_journal.arm(record)
        deadline = time.monotonic() + host_journal.revert_after_s
        try:
            self._change(setting)
        except HostError as error:
            failure = error
        try:
            self.connections.reach_until(deadline, setting.host, lambda: host_journal.confirm(record))
        except HostError as error:
            self.connections.reach(setting.host)
            message = (
                f"{setting.name}: with {setting.wanted!r} the controller did not reach the host again within "
                f"{host_journal.revert_after_s:g} s, so that the host took it back by itself ({error.on_one_line()})"
            )
            raise SettingRefused(message, host=setting.host) from error
        if failure and not isinstance(failure, HostLost | DeadlineExceeded):  # after those the value read back decides
            raise failure

    def find_ended(self, *roles: str) -> Record | None:
        """The newest process started on these hosts (default: all) that has ended; None if there is none known."""
        for record in reversed(self.journal.open):
            if record.new == RUNNING and record.host in (roles or self.hosts):
                with suppress(HostError):
                    if record.read.run(self.hosts[record.host]) != RUNNING:
                        return record
        return None

    # --- putting back

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Put back at the end whatever was changed inside, also after an error or interruption."""
        mark = len(self.journal.open)
        try:
            yield
        finally:
            self.unwind(mark)

    def unwind(self, mark: int = 0) -> None:
        """Put back all but the oldest ``mark`` changes, newest first, whatever fails. Raises RestoreError."""
        with signals.deferred():
            try:
                self.restorer.restore(self.journal.open[mark:])
            finally:
                numbers = {record.number for record in self.journal.open}
                self._applied = {number: setting for number, setting in self._applied.items() if number in numbers}


def _check_value(setting: Setting, value: str) -> None:
    if value != setting.wanted:
        message = f"{setting.name}: asked for {setting.wanted!r}, in effect is {value!r:.200}"
        raise SettingRefused(message, setting.remedy, host=setting.host)


Layer = tuple[Hashable, Callable[[], None]]  # its identity, and the function that applies it


class Layers:
    """Layers from the most expensive change (lowest) to the cheapest; a layer may rely only on those below."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._present: list[tuple[Hashable, int]] = []  # each key, and how many changes were open before it

    def move(self, layers: Sequence[Layer]) -> None:
        """Change to exactly these layers, from the first difference on. One that fails is undone; raises its error."""
        same = [present == target for (present, _), (target, _) in zip(self._present, layers, strict=False)]
        common = [*same, False].index(False)
        self.step_down(common)
        for key, apply in layers[common:]:
            self._present.append((key, len(self.settings.journal.open)))
            try:
                apply()
            except BaseException:
                self.step_down(len(self._present) - 1)
                raise

    def stands_on(self, layers: Sequence[Layer]) -> bool:
        """Whether these are the lowest present layers."""
        return [key for key, _ in self._present[: len(layers)]] == [key for key, _ in layers]

    def drop_uppermost(self, count: int = 1) -> None:
        self.step_down(len(self._present) - count)

    def step_down(self, keep: int) -> None:
        """Undo all but the lowest ``keep`` layers."""
        if keep < len(self._present):
            mark = self._present[keep][1]
            del self._present[keep:]
            self.settings.unwind(mark)
