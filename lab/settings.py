"""Settings of a host, the journal of their old values, and putting them back.

A setting is a named piece of a host's state: a command that reads it, commands that change it, commands that change it
back. Everything needed to change it back is plain data, so that the journal alone can restore a host long after the
program that wrote it was killed.

The order is always the same: read the old value, write it to the journal and to the disk (fsync), change, read back.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from lab import durable, interrupts
from lab.errors import BadInput, DeadlineExceeded, HostError, RestoreError, SettingRefused
from lab.hosts import Host

T = TypeVar("T")


@dataclass(frozen=True)
class Command:
    """A command for a host. ``given`` is its standard input: the place for secrets, and never journalled."""

    argv: tuple[str, ...]
    root: bool = False
    given: str = field(default="", repr=False)
    deadline_s: float = 30.0

    def run(self, host: Host, check: bool = True) -> str:
        """Run it and return what it printed, stripped. Raises as :meth:`Host.run` does."""
        result = host.run(*self.argv, root=self.root, given=self.given, deadline_s=self.deadline_s, check=check)
        return result.stdout.strip()

    def by_hand(self) -> str:
        """How a person types it."""
        return ("sudo " if self.root else "") + shlex.join(self.argv)


def command(*argv: str, root: bool = False, given: str = "", deadline_s: float = 30.0) -> Command:
    """A command of these words."""
    return Command(argv, root, given, deadline_s)


def script(text: str, *args: str, root: bool = False, given: str = "", deadline_s: float = 30.0) -> Command:
    """A script for ``/bin/sh``; ``args`` are its ``$1``, ``$2``, …"""
    return Command(("/bin/sh", "-c", text, "sh", *args), root, given, deadline_s)


@dataclass(frozen=True)
class Setting:
    """One piece of a host's state that the lab may change.

    ``read`` prints the present value; ``apply`` brings about ``wanted``; ``undo`` makes, from an old value, the
    commands that bring it back. ``host`` is a role.
    """

    host: str
    name: str
    read: Command
    wanted: str
    apply: tuple[Command, ...]
    undo: Callable[[str], tuple[Command, ...]]


@dataclass(frozen=True)
class Record:
    """A change that was begun and not yet put back: all that it takes to put it back. A line of the journal."""

    number: int
    host: str
    name: str
    old: str
    new: str
    read: Command
    undo: tuple[Command, ...]
    event: Literal["change"] = "change"

    def put_back(self, host: Host) -> str:
        """Bring the old value back; returns what is wrong where that failed, else an empty string. Safe to repeat."""
        try:
            found = self.read.run(host)
            for step in self.undo if found != self.old else ():
                with suppress(DeadlineExceeded):  # the next step may be the one that forces it
                    step.run(host, check=False)  # what counts is what reads back
            found = self.read.run(host)
        except HostError as error:
            found = f"unknown ({error})"
        if found == self.old:
            return ""
        steps = "; ".join(step.by_hand() for step in self.undo)
        return f"{self.host}: {self.name} should be {self.old!r} and is {found!r}; by hand: {steps}"


@dataclass(frozen=True)
class Restored:
    """The line of the journal that says that a change has been put back."""

    number: int
    event: Literal["restored"] = "restored"


LINE: TypeAdapter[Record | Restored] = TypeAdapter(Annotated[Record | Restored, Field(discriminator="event")])


class Journal:
    """``journal.jsonl``: a line when a change is about to begin, a line when it has been put back.

    ``open`` holds the records still to be put back, oldest first. A torn last line (the machine stopped while it was
    written) is a change that never began; it is moved to ``journal.torn``. Raises BadInput for anything else that is
    not of a journal: what it cannot read it must not take for put back.
    """

    def __init__(self, path: Path):
        self.path = path
        self.open: list[Record] = []
        self._number = 0
        try:
            *lines, rest = path.read_bytes().split(b"\n")
            for number, line in enumerate(lines, 1):
                self._replay(line, number)
            self._mend(rest, len(lines) + 1)
        except FileNotFoundError:
            return
        except OSError as error:
            raise BadInput(f"{path}: cannot be read or mended: {error}") from error

    def _replay(self, content: bytes, number: int) -> None:
        try:
            line = LINE.validate_json(content, strict=True)
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(str(part) for part in wrong["loc"])
            raise BadInput(f"{self.path}: line {number} is not of a journal: {where} {wrong['msg']}") from error
        self._number = max(self._number, line.number)
        standing = [record for record in self.open if record.number != line.number]
        if isinstance(line, Restored):
            self.open = standing
        elif len(standing) < len(self.open):
            raise BadInput(f"{self.path}: line {number} is not of a journal: change {line.number} stands in it twice")
        else:
            self.open.append(line)

    def _mend(self, rest: bytes, number: int) -> None:
        """Deal with what stands after the last line end: a whole line that lacks only that, or a torn one."""
        if not rest:
            return
        try:
            json.loads(rest)
        except (ValueError, RecursionError):
            durable.append(self.path.with_name("journal.torn"), rest + b"\n")
            os.truncate(self.path, self.path.stat().st_size - len(rest))
        else:
            self._replay(rest, number)
            durable.append(self.path, b"\n")

    def intend(self, setting: Setting, old: str) -> Record:
        """Put the old value on disk, before the change."""
        self._number += 1
        undo = setting.undo(old)
        record = Record(self._number, setting.host, setting.name, old, setting.wanted, setting.read, undo)
        # first in memory: were the program interrupted between the two, undoing nothing does no harm
        self.open.append(record)
        content = asdict(record)
        for step in (content["read"], *content["undo"]):
            if step.pop("given"):
                raise ValueError(f"{setting.name}: a command that reads or undoes must not need standard input")
        self._write(content)
        return record

    def close(self, record: Record) -> None:
        """Note that a change has been put back."""
        self._write(asdict(Restored(record.number)))
        self.open.remove(record)

    def _write(self, line: Mapping[str, Any]) -> None:
        durable.append(self.path, json.dumps(line).encode() + b"\n")


class Settings:
    """Changes settings on hosts and puts them back, newest first."""

    def __init__(self, hosts: Mapping[str, Host], journal: Journal):
        self.hosts = hosts
        self.journal = journal

    def apply(self, setting: Setting) -> None:
        """Bring a setting about. Raises SettingRefused where it does not read back as asked.

        A value that is as wanted already is left alone, and will not be "put back" either.
        """
        host = self.hosts[setting.host]
        old = setting.read.run(host)
        if old == setting.wanted:
            return
        self.journal.intend(setting, old)
        for step in setting.apply:
            step.run(host)
        found = setting.read.run(host)
        if found != setting.wanted:
            raise SettingRefused(
                f"{setting.host}: {setting.name}: asked for {setting.wanted!r}, in effect is {found!r}"
            )

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
        problems: dict[int, str] = {}
        with interrupts.held():
            for record in reversed(self.journal.open[mark:]):
                host = self.hosts.get(record.host)
                problem = record.put_back(host) if host else f"{record.host}: {record.name}: there is no such host"
                if problem:
                    problems[record.number] = problem
                    continue
                try:
                    for done in self._settled_by(record):
                        self.journal.close(done)
                        problems.pop(done.number, None)
                except OSError as error:  # a full disk here is no reason to leave the hosts changed
                    put_back = f"{record.host}: {record.name} was put back, but the journal says not: {error}"
                    problems[record.number] = put_back
            if problems:
                advice = "`lab restore` tries again"
                raise RestoreError("\n".join(["not everything could be put back; " + advice, *problems.values()]))

    def _settled_by(self, record: Record) -> list[Record]:
        """This record, after later ones of the same thing that failed: trying one again would bring a wrong value."""
        same = [later for later in self.journal.open if (later.host, later.read) == (record.host, record.read)]
        return [later for later in reversed(same) if later.number >= record.number]
