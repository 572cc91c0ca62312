"""Settings of hosts, changed so that they are put back.

A setting is a named piece of a host's state: the operation that reads it and changes it back, and commands that change
it. The order is always the same: read the old value, have it on the disks of controller and host, change, read back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from lab.base import signals
from lab.base.errors import (
    CommandError,
    DeadlineExceeded,
    HostError,
    HostLost,
    LabFailure,
    SettingRefused,
)
from lab.hosts import Host
from lab.hosts.command import lenient, together
from lab.settings.background import RUNNING
from lab.settings.connections import PATIENCE_S, Connections
from lab.settings.host_journal import LAPSED, HostJournal
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal, Record
from lab.settings.restorer import Restorer
from lab.settings.setting import Setting

T = TypeVar("T")


class Settings:
    """Changes settings on hosts and has them put back, newest first.

    ``connections`` reaches hosts again, ``restorer`` puts back. ``host_journals`` are the hosts' own, by role; for
    ``patience_s``, ``gone``, ``tell`` and ``is_gone`` see :class:`Connections`.
    """

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
        self.connections = Connections(hosts, host_journals, patience_s, gone, tell, is_gone)
        self.restorer = Restorer(journal, self.connections)
        self._applied: dict[int, Setting] = {}  # by number of the open record

    def claim(self, role: str) -> None:
        """Take a host's journal, which is a change like every other. Raises HostError where another run has it."""
        if host_journal := self.host_journals.get(role):
            again = any((record.name, record.host) == (HOST_JOURNAL, role) for record in self.journal.open)
            if not again:
                self.journal.intend(host_journal.record(self.journal.next_number()))
            with signals.deferred():  # what is under way there would make the folder after it was put back
                host_journal.take(again)

    # --- changing

    def apply(self, setting: Setting) -> None:
        """Bring a setting about. Raises SettingRefused where it does not read back as asked.

        A value that is as wanted already is left alone, and will not be "put back" either. Raises HostError on a host
        that has put everything back by itself: what this setting stands on is gone.
        """
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
        record = setting.record(self.journal.next_number(), old, run, boot)
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

    def renew(self, record: Record) -> None:
        """Undo one change of this program and bring it about again; its record stays open all along.

        Raises SettingRefused where it does not read back as asked, and HostError.
        """
        setting = self._applied[record.number]
        host = self.hosts[record.host]
        if host.is_narrow:
            for step in record.undo:
                step.run(host, check=False)
            steps = [*setting.apply, setting.read]
        else:
            steps = [*map(lenient, record.undo), *setting.apply, setting.read]
            if host.needs_no_sudo:  # then all of them have the same rights, and become one command
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
        """Change it while a timer on the host runs, and disarm that over a connection made after the change."""
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
        if failure and not isinstance(failure, HostLost | DeadlineExceeded):  # of those, the value read back decides
            raise failure

    def find_ended(self, *roles: str) -> Record | None:
        """The newest process that was started on these hosts, or on any, and runs no more.

        None where all run, or their host does not say.
        """
        for record in reversed(self.journal.open):
            if record.new == RUNNING and record.host in (roles or self.hosts):
                with suppress(HostError):
                    if record.read.run(self.hosts[record.host]) != RUNNING:
                        return record
        return None

    # --- putting back

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
        with signals.deferred():
            try:
                self.restorer.restore(self.journal.open[mark:])
            finally:
                numbers = {record.number for record in self.journal.open}
                self._applied = {number: setting for number, setting in self._applied.items() if number in numbers}


def _check_value(setting: Setting, value: str) -> None:
    """Raise SettingRefused where a setting reads back otherwise than asked."""
    if value != setting.wanted:
        message = f"{setting.name}: asked for {setting.wanted!r}, in effect is {value!r:.200}"
        raise SettingRefused(message, setting.remedy, host=setting.host)
