"""The runs of a results folder, each in a few figures, without an analysis."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from lab.base.errors import BadInput, shorten
from lab.base.os_errors import reason_of
from lab.base.units import LARGEST
from lab.base.untrusted import first_line, one_line
from lab.results.run_folder import RunFolder
from lab.results.run_names import UNFINISHED, paths_of_runs, sweep_of
from lab.results.trial import CEILINGS, LEAST, emulated

MOST_BYTES = 8 << 20  # of the trials of one run that are read: 3000 trials, in 30 ms
LONGEST_TEXT, LONGEST_REASON = 100, 160  # characters of a text in run.json


class _Line(msgspec.Struct):
    """The fields of a line of trials.jsonl that a list needs."""

    case_id: str
    protocol: str
    direction: Literal["write", "read"]
    status: Literal["ok", "void", "failed"]
    size_bytes: Annotated[int, msgspec.Meta(ge=0, le=LARGEST - 1)]
    elapsed_s: float | None
    anchor: bool = False


_decode = msgspec.json.Decoder(_Line).decode


@dataclass(frozen=True, kw_only=True)
class ListedRun:
    """One run of a list. If it has a ``problem``, the rest is empty."""

    path: str  #: Its folder.
    sweep: str  #: The name of its sweep.
    started_at: str = ""  #: ISO 8601, UTC.
    ended: str = ""  #: How it ended, or that it has not ended.
    failed: bool = False  #: Whether an error ended it.
    hosts: dict[str, str] = field(default_factory=dict)  #: The name of each host, by role.
    label: str = ""  #: ``local lab`` or ``emulated Mac``: its numbers are no measurement of real machines.
    trials: dict[str, int] = field(default_factory=dict)  #: How many transfers are ok, void and failed.
    is_whole: bool = True  #: Whether all trials were counted: only the beginning of a long file is read.
    fastest: dict[str, float] = field(default_factory=dict)
    """The median speed of the fastest case in each direction, MB/s."""
    problem: str = ""  #: Why it cannot be read.

    @property
    def began(self) -> bool:
        """Whether it may be of use: it has a transfer, or did not end by a failure."""
        return any(self.trials.values()) or not self.failed


def list_runs(results: Path) -> Iterator[ListedRun]:
    """Each run of a results folder, the newest first."""
    for path in paths_of_runs(results):
        try:
            yield _look_at(path)
        except (BadInput, OSError) as error:
            text = one_line(reason_of(error).removeprefix(f"{path}: ").removeprefix(f"{path}/"))
            yield ListedRun(path=str(path), sweep=sweep_of(path), problem=text)


def _look_at(path: Path) -> ListedRun:
    folder = RunFolder(path)
    counts: Counter[str] = Counter(ok=0, void=0, failed=0)
    speeds: dict[tuple[str, str], list[float]] = defaultdict(list)
    lines, ended = list(_lines(folder)), folder.run.get("ended")
    for line, _ in lines:
        if line and line.protocol not in CEILINGS:
            counts[line.status] += 1
            if line.status == "ok" and line.elapsed_s and line.elapsed_s >= LEAST and not line.anchor:
                speeds[line.direction, line.case_id].append(line.size_bytes / line.elapsed_s / 1e6)
    return ListedRun(
        path=str(path), sweep=sweep_of(path), started_at=_text(folder.run.get("started_at")),
        # a long reason keeps its end, too, because the cause is there
        ended=shorten(ended, LONGEST_REASON) if isinstance(ended, str) and ended else UNFINISHED,
        failed=folder.run.get("failed") is True,
        hosts={_text(role): _text(facts.get("hostname")) for role, facts in folder.run.get("hosts", {}).items()},
        label="emulated Mac" if emulated(folder.run) else "local lab" if folder.run.get("instance") is not None else "",
        trials=dict(counts), is_whole=not lines or lines[-1][1] < MOST_BYTES, fastest=_fastest(speeds),
    )  # fmt: skip


def _lines(folder: RunFolder) -> Iterator[tuple[_Line | None, int]]:
    """The first trials, each with the bytes up to its end; None for a last line that was cut short."""
    read_bytes = 0
    for number, line in enumerate(folder.raw_lines(), 1):
        read_bytes += len(line)
        try:
            yield _decode(line), read_bytes
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            if line.endswith(b"\n"):
                raise BadInput(f"{folder.trials_path}: line {number}: not a trial: {error}") from error
            yield None, read_bytes
        if read_bytes >= MOST_BYTES:
            return


def _fastest(speeds: dict[tuple[str, str], list[float]]) -> dict[str, float]:
    fastest: dict[str, float] = {}
    for (direction, _), values in speeds.items():
        fastest[direction] = max(fastest.get(direction, 0.0), statistics.median(values))
    return {direction: fastest[direction] for direction in ("write", "read") if direction in fastest}


def _text(value: object) -> str:
    return first_line(value, LONGEST_TEXT) if isinstance(value, str) else ""
