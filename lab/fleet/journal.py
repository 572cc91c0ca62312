"""The journal of a fleet: one line for each attempt that begins or ends, written to disk before anything else."""

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from lab.base import durable, untrusted
from lab.base.errors import BadInput
from lab.base.untrusted import from_json


class Event(StrEnum):
    """What a line is about."""

    RESUMED = "resumed"  # a controller begins or resumes the fleet: earlier failures no longer count
    BEGAN = "began"
    ENDED = "ended"


class Outcome(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    FAILED = "failed"
    HELD = "held"  # somebody else uses a host: nothing was begun
    BUSY = "busy"  # an earlier attempt of this task still restores the hosts
    STOPPED = "stopped"  # by `lab fleet stop`, or with the controller
    WINDOW = "window"  # its window of time closed


NOT_COUNTED = (Outcome.HELD, Outcome.BUSY, Outcome.STOPPED, Outcome.WINDOW)  # outcomes that are no failure of the task


@dataclass(frozen=True)
class Line:
    """A line of the journal. Keys without a meaning for its event keep their defaults."""

    at: str
    event: Event
    task: str = ""
    attempt: int = 0
    outcome: Outcome | None = None
    exit_code: int | None = None
    seconds: float = 0.0
    said: str = ""

    @property
    def time(self) -> float:
        """When it was written, in seconds since 1970."""
        return datetime.fromisoformat(self.at).timestamp()


class Journal:
    """A journal in a file. If the disk is full, ``add`` raises OSError and adds nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[Line]:
        """Every line but a last one that was cut off. Raises BadInput for any other line that cannot be read."""
        if not os.path.lexists(self.path):
            return []
        lines: list[Line] = []
        try:
            for text in untrusted.read_lines(self.path):
                if text.endswith(b"\n"):
                    lines.append(parse_line(text.decode()))
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be read: {error.strerror}") from error
        except ValueError as error:
            problem = f"{self.path}: line {len(lines) + 1}: {error}"
            raise BadInput(problem, "remove that line: what is done is read from the run folders") from error
        return lines

    def mend(self) -> None:
        """Cut off a last line that a crash left unfinished. Only the controller may do so."""
        if os.path.lexists(self.path):
            whole = sum(len(text) for text in untrusted.read_lines(self.path) if text.endswith(b"\n"))
            if whole < self.path.stat().st_size:
                durable.cut_off(self.path, whole)

    def add(self, event: Event, task: str = "", attempt: int = 0, **more: object) -> Line:
        """Add a line, durably."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = parse_line(json.dumps({"at": now, "event": event, "task": task, "attempt": attempt, **more}))
        content = {key: value for key, value in asdict(line).items() if value is not None and value != ""}
        durable.append(self.path, json.dumps(content).encode() + b"\n")
        return line


def parse_line(text: str) -> Line:
    """Parse a line of a journal. Raises ValueError for a line that no fleet wrote."""
    content = from_json(text)
    if not isinstance(content, dict) or not content.keys() <= Line.__dataclass_fields__.keys():
        raise ValueError("not a line of a fleet's journal")
    texts = {key: content.get(key, "") for key in ("at", "task", "said")}
    if not all(isinstance(value, str) for value in texts.values()):
        raise ValueError("not a line of a fleet's journal")
    exit_code = content.get("exit_code")
    line = Line(
        at=texts["at"], task=texts["task"], said=untrusted.one_line(texts["said"], 1000),
        event=Event(content.get("event", "")), attempt=untrusted.count(content.get("attempt", 0)),
        outcome=Outcome(content["outcome"]) if content.get("outcome") else None,
        exit_code=None if exit_code is None else untrusted.count(exit_code),
        seconds=untrusted.quantity(content.get("seconds", 0)),
    )  # fmt: skip
    if datetime.fromisoformat(line.at).tzinfo is None:
        raise ValueError("its time has no zone")
    return line
