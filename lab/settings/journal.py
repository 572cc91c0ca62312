"""The journal: changes of hosts, each written to the controller's disk before it is made.

A record is plain data that suffices to put one change back: the operation with its parameters, and the old value, but
no command. So the journal alone can restore a host long after the program that wrote it was killed. Each host keeps
the same records of its own changes (:mod:`lab.settings.host_journal`).

A seal proves that this controller wrote a line, in this run and at this place. It is an HMAC (RFC 2104) over the
previous seal (at first the run's identity) and the line. So a line of another run, or one that was moved, changed or
left out, makes its own seal and all later ones wrong.
"""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from lab.base import durable, untrusted
from lab.base.errors import BadInput, DeadlineExceeded, LabFailure
from lab.base.os_errors import reason_of
from lab.base.units import LARGEST
from lab.base.untrusted import first_line, from_json, one_line
from lab.hosts import Host
from lab.hosts.command import Command
from lab.settings.by_hand import REMEDIES, Problem
from lab.settings.operation import Kinds, Operation, check_keys, parse_operation
from lab.settings.parameters import Boot, HostKey, NoToken, check_fields

SEALED = re.compile(rb'(\{.*), "seal": "([0-9a-f]{64})"\}', re.DOTALL)


def mac(key: bytes, *parts: bytes) -> bytes:
    """An HMAC-SHA256 over parts, which differs for each list of parts."""
    return hmac.digest(key, b"".join(len(part).to_bytes(8, "big") + part for part in parts), "sha256")


class NoSeals:
    """For a journal without proof: lines are written without seals, and read with or without."""

    def seal(self, content: bytes) -> bytes:
        return content

    def accept(self, line: bytes) -> bytes:
        match = SEALED.fullmatch(line)
        return match[1] + b"}" if match else line


class RunSeals:
    """Seals for a run of this controller. A sealed line counts once it is accepted; ``count`` is their number."""

    def __init__(self, key: bytes, run: str):
        self._key = key
        self._last = mac(key, b"journal", run.encode())
        self.count = 0

    def seal(self, content: bytes) -> bytes:
        return content[:-1] + b', "seal": "%s"}' % self._next(content).hex().encode()

    def accept(self, line: bytes) -> bytes:
        """The content without its seal. Raises ValueError for a missing or wrong seal."""
        match = SEALED.fullmatch(line)
        if not match:
            raise ValueError("it has no seal of this controller")
        content = match[1] + b"}"
        seal = self._next(content)
        if not hmac.compare_digest(seal.hex().encode(), match[2]):
            raise ValueError("its seal is not that of this line of this run")
        self._last = seal
        self.count += 1
        return content

    def _next(self, content: bytes) -> bytes:
        return mac(self._key, b"line", self._last, content)


LONGEST_NAME, LONGEST_ERROR = 200, 200  # characters of what a change is about, and of a command's error
Number = Annotated[int, Field(ge=1, le=LARGEST)]
UNREADABLE = (
    "nothing of it was done. If a run of yours wrote it, the lab of the code_version in its run.json puts it back; "
    "else look at MTU, sysctl, mounts and folders file-share-lab-* of its hosts, and remove the line"
)


@dataclass(frozen=True)
class Record:
    """A change that was begun and not yet put back: all that it takes to put it back. A line of the journal.

    ``run`` is the token of the run that made it, ``boot`` what tells the host's present start from every other one
    (empty: not known). Raises LabFailure for what no lab writes.
    """

    number: Number
    """From 1; the line that says that it was put back has the same."""
    host: HostKey
    """Its section in the hosts file: ``client``, ``server``, ``client.2``."""
    operation: Operation
    """[What was changed](#operations): its ``kind`` and its parameters."""
    old: str
    """Its value before."""
    new: str
    """The value that was asked for."""
    run: NoToken = ""
    """The token of the run that made the change."""
    boot: Boot = ""
    """What tells the host's start from every other one; empty: not known."""
    event: Literal["change"] = "change"
    """Tells the two kinds of lines apart."""

    def __post_init__(self) -> None:
        check_fields(self, "a change")
        self.operation.check(self.old)
        self.operation.check(self.new)

    @property
    def name(self) -> str:
        return self.operation.label

    @property
    def read(self) -> Command:
        return self.operation.read()

    @property
    def undo(self) -> tuple[Command, ...]:
        """The commands that bring the old value back, safe to repeat."""
        return self.operation.undo(self.old)

    def put_back(self, host: Host) -> Problem | None:
        """Restore the old value, safe to repeat; returns what is wrong. Raises HostError."""
        value, error = self.read.run(host), ""
        for step in self.undo if value != self.old else ():
            error = _last_line_of(step, host) or error
        value = self.read.run(host)
        if value == self.old:
            return None
        why = self.operation.explain(value)
        if why:
            return Problem(f"{self.host}: {why}")
        remedies = (remedy for words, remedy in REMEDIES.items() if re.search(words, error))
        return self.problem(f"{value!r:.200}", "; ".join([error.rstrip("."), *remedies]))

    def problem(self, state: str, error: str = "") -> Problem:
        """The old value, the present ``state`` and the last ``error``; and the commands that restore the old value."""
        why = f"{self.host}: {one_line(self.name, LONGEST_NAME)} should be {self.old!r} and is {state}"
        return Problem(": ".join(filter(None, [why, error])), "\n".join(step.by_hand() for step in self.undo))

    def ended_by_restart(self, boot: str) -> bool:
        """Whether a restart of the host has undone the change already; ``boot`` identifies the present boot."""
        return self.operation.volatile and bool(self.boot and boot) and self.boot != boot

    def as_json(self) -> dict[str, object]:
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return content | {"operation": self.operation.as_json()}


def _last_line_of(step: Command, host: Host) -> str:
    """The last line of a step's errors. Its exit code proves nothing; the value read back does. Raises HostError."""
    try:
        errors = step.attempt(host).stderr
    except DeadlineExceeded as error:  # the next step may force it
        return error.cause()
    return first_line(errors.rstrip().rpartition("\n")[2], LONGEST_ERROR)


@dataclass(frozen=True)
class Restored:
    """The line of the journal that says that a change has been put back."""

    number: Number
    """The number of the change that was put back."""
    event: Literal["restored"] = "restored"
    """Tells the two kinds of lines apart."""

    def __post_init__(self) -> None:
        check_fields(self, "a change put back")


@dataclass(frozen=True)
class LineFormat:
    """The format of journal lines, with these ``kinds`` of operations."""

    kinds: Kinds

    def parse(self, line: bytes | str) -> Record | Restored:
        """Parse a line of a journal. Raises ValueError that says what is wrong."""
        content = from_json(line.decode() if isinstance(line, bytes) else line)
        if not isinstance(content, dict):
            raise ValueError("it is no object")
        try:
            if content.get("event") == "restored":
                check_keys(content, {"number", "event"})
                return Restored(**content)
            if content.get("event") != "change":
                raise ValueError(f"event {content.get('event')!r:.60} is none")
            check_keys(content, {field.name for field in fields(Record)})
            return Record(**content | {"operation": parse_operation(content["operation"], self.kinds)})
        except LabFailure as error:
            raise ValueError(str(error)) from error


class Journal:
    """``journal.jsonl``: a line before each change, and a line after it was put back.

    ``open`` holds the records still to be put back, oldest first. A torn last line (the machine stopped while writing)
    is a change that never began; it is moved to ``journal.torn``. Any other unreadable line raises BadInput: its change
    may still be in effect. Without a path nothing is kept on disk. ``seals``, if given, prove who wrote the lines.
    """

    def __init__(self, path: Path | None, lines: LineFormat, seals: RunSeals | None = None):
        self.path = path
        self.lines = lines
        self.seals: RunSeals | NoSeals = seals or NoSeals()
        self.open: list[Record] = []
        self._number = 0
        if path is not None:
            self._load(path)

    @classmethod
    def of(cls, path: Path, content: bytes, lines: LineFormat) -> Self:
        """A journal from a file's content, to look at; nothing is repaired."""
        journal = cls(None, lines)
        journal.path = path
        *whole, rest = content.split(b"\n")
        for number, line in enumerate([*whole, rest] if _is_whole(rest) else whole, 1):
            journal._replay(line, number)
        return journal

    def _load(self, path: Path) -> None:
        try:
            for number, line in enumerate(untrusted.read_lines(path), 1):
                if line.endswith(b"\n"):
                    self._replay(line[:-1], number)
                else:
                    self._mend(path, line, number)
                    break
        except FileNotFoundError:
            return
        except OSError as error:
            raise BadInput(f"{path}: cannot be read or mended: {reason_of(error)}") from error

    def _replay(self, content: bytes, number: int) -> None:
        try:
            line = self.lines.parse(self.seals.accept(content))
        except ValueError as error:
            message = f"{self.path}: line {number} is not of a journal: {one_line(str(error), 300)}"
            raise BadInput(message, UNREADABLE) from error
        self._number = max(self._number, line.number)
        standing = [record for record in self.open if record.number != line.number]
        if isinstance(line, Restored):
            self.open = standing
        elif len(standing) < len(self.open):
            raise BadInput(f"{self.path}: line {number} is not of a journal: change {line.number} stands in it twice")
        else:
            self.open.append(line)

    def _mend(self, path: Path, rest: bytes, number: int) -> None:
        """Repair the text after the last line end: a whole line that lacks only its end, or a torn one."""
        if _is_whole(rest):
            self._replay(rest, number)
            durable.append(path, b"\n")
        else:
            durable.append(path.with_name("journal.torn"), rest + b"\n")
            durable.cut_off(path, path.stat().st_size - len(rest))

    def next_number(self) -> int:
        return self._number + 1

    def intend(self, record: Record) -> None:
        """Write a record to disk, before its change."""
        self._number = max(self._number, record.number)
        # first in memory: if the program is interrupted in between, undoing nothing does no harm
        self.open.append(record)
        try:
            self._write(record.as_json())
        except OSError:
            self.open.remove(record)  # nothing is on disk, and the change does not begin
            raise

    def close(self, record: Record) -> None:
        """Write that a change has been put back."""
        self._write(asdict(Restored(record.number)))
        self.open.remove(record)

    def _write(self, line: Mapping[str, object]) -> None:
        if self.path is not None:
            sealed = self.seals.seal(json.dumps(line).encode())
            durable.append(self.path, sealed + b"\n")
            self.seals.accept(sealed)


def _is_whole(line: bytes) -> bool:
    """Whether a last line lacks only its end."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
