"""The journal: what was changed on the hosts, written to the controller's disk before the change.

A record is all that it takes to put a change back, as plain data, so that the journal alone can restore a host long
after the program that wrote it was killed. Each host keeps the same records of its own changes
(:mod:`lab.settings.host_journal`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from lab.base import durable
from lab.base.errors import BadInput, DeadlineExceeded
from lab.hosts import Host
from lab.hosts.command import Command


@dataclass(frozen=True)
class Record:
    """A change that was begun and not yet put back: all that it takes to put it back. A line of the journal.

    ``run`` is the token of the run that made it, ``boot`` what tells the host's present start from every other one
    (empty: not known). A ``volatile`` change does not outlive a restart of its host. One that ``holds`` what it takes
    to put later ones back (a folder of the lab's) must outlive them.
    """

    number: int
    """From 1; the line that says that it was put back has the same."""
    host: str
    """The role: ``client`` or ``server``."""
    name: str
    """The setting."""
    old: str
    """Its value before."""
    new: str
    """The value that was asked for."""
    read: Command
    """Prints the present value."""
    undo: tuple[Command, ...]
    """Bring the old value back; safe to repeat."""
    run: str = ""
    """The token of the run that made the change."""
    boot: str = ""
    """What tells the host's start from every other one; empty: not known."""
    volatile: bool = True
    """Whether a restart of the host undoes it."""
    holds: bool = False
    """Whether later changes need it, to be put back."""
    event: Literal["change"] = "change"
    """Tells the two kinds of lines apart."""

    def put_back(self, host: Host) -> str:
        """Bring the old value back; returns what is wrong where that failed, else an empty string. Safe to repeat.

        Raises HostError where the value cannot be read.
        """
        value = self.read.run(host)
        for step in self.undo if value != self.old else ():
            with suppress(DeadlineExceeded):  # the next step may be the one that forces it
                step.run(host, check=False)  # its exit code proves nothing; the value read back does
        value = self.read.run(host)
        return "" if value == self.old else self.problem(f"{value!r:.200}")

    def problem(self, state: str) -> str:
        """One line: the old value, the present ``state``, and how to bring the old value back without the lab."""
        steps = "; ".join(step.by_hand() for step in self.undo)
        return f"{self.host}: {self.name} should be {self.old!r} and is {state}; by hand: {steps}"

    def ended_by_restart(self, boot: str) -> bool:
        """Whether a restart of its host has undone it already; ``boot`` is the host's present start."""
        return self.volatile and bool(self.boot and boot) and self.boot != boot

    def as_json(self) -> dict[str, Any]:
        """As a line has it. Raises ValueError for commands with standard input, which may be secret."""
        content = asdict(self)
        for step in (content["read"], *content["undo"]):
            if step.pop("given"):
                raise ValueError(f"{self.name}: a command that reads or undoes must not need standard input")
        return content


@dataclass(frozen=True)
class Restored:
    """The line of the journal that says that a change has been put back."""

    number: int
    """That of the change."""
    event: Literal["restored"] = "restored"
    """Tells the two kinds of lines apart."""


LINE: TypeAdapter[Record | Restored] = TypeAdapter(Annotated[Record | Restored, Field(discriminator="event")])


def parse(content: bytes | str) -> Record | Restored:
    """A line of a journal. Raises ValueError that says where it is none."""
    try:
        return LINE.validate_json(content, strict=True)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise ValueError(f"{'.'.join(str(part) for part in wrong['loc'])} {wrong['msg']}") from error


class Journal:
    """``journal.jsonl``: a line when a change is about to begin, a line when it has been put back.

    ``open`` holds the records still to be put back, oldest first. A torn last line (the machine stopped while it was
    written) is a change that never began; it is moved to ``journal.torn``. Raises BadInput for any other line that is
    not of a journal: a change that cannot be read must not be taken for put back. Without a path nothing is kept on
    disk.
    """

    def __init__(self, path: Path | None):
        self.path = path
        self.open: list[Record] = []
        self._number = 0
        if path is not None:
            self._load(path)

    def _load(self, path: Path) -> None:
        try:
            *lines, rest = path.read_bytes().split(b"\n")
            for number, line in enumerate(lines, 1):
                self._replay(line, number)
            self._mend(path, rest, len(lines) + 1)
        except FileNotFoundError:
            return
        except OSError as error:
            raise BadInput(f"{path}: cannot be read or mended: {error}") from error

    def _replay(self, content: bytes, number: int) -> None:
        try:
            line = parse(content)
        except ValueError as error:
            raise BadInput(f"{self.path}: line {number} is not of a journal: {error}") from error
        self._number = max(self._number, line.number)
        standing = [record for record in self.open if record.number != line.number]
        if isinstance(line, Restored):
            self.open = standing
        elif len(standing) < len(self.open):
            raise BadInput(f"{self.path}: line {number} is not of a journal: change {line.number} stands in it twice")
        else:
            self.open.append(line)

    def _mend(self, path: Path, rest: bytes, number: int) -> None:
        """Deal with what stands after the last line end: a whole line that lacks only that, or a torn one."""
        if not rest:
            return
        try:
            json.loads(rest)
        except (ValueError, RecursionError):
            durable.append(path.with_name("journal.torn"), rest + b"\n")
            os.truncate(path, path.stat().st_size - len(rest))
        else:
            self._replay(rest, number)
            durable.append(path, b"\n")

    def next_number(self) -> int:
        """The number of the record that comes next."""
        return self._number + 1

    def intend(self, record: Record) -> None:
        """Put a record on disk, before its change."""
        self._number = max(self._number, record.number)
        # first in memory: were the program interrupted between the two, undoing nothing does no harm
        self.open.append(record)
        self._write(record.as_json())

    def close(self, record: Record) -> None:
        """Note that a change has been put back."""
        self._write(asdict(Restored(record.number)))
        self.open.remove(record)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self.path is not None:
            durable.append(self.path, json.dumps(line).encode() + b"\n")
