"""Check that the times of a run's trials follow each other."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from lab.base.templates import pattern_of
from lab.contribution.flaw import Flaw
from lab.contribution.plausible import Record, is_planned
from lab.design.factors import LOCAL
from lab.results.json_object import RunJson
from lab.results.packed_run import TRIALS
from lab.results.trial import STORE_PROTOCOL, read_time
from lab.run.transfer.result import SLEPT

SLACK_S = 0.5  # the controller's clock may be adjusted a little during a run
CLOCK = 0.005  # relative difference between two clocks, far more than quartz clocks have
SECONDS = 1.0  # tolerance of times without a fraction
Timed = tuple[int, Record, float]  # line, trial, and its start


def check_times(lines: Sequence[tuple[int, Record]], run: RunJson) -> Iterator[Flaw]:
    """Trials (with their lines) that began before the trial above, during another one, or outside of the run."""
    timed = [
        (line, record, read_time(record["started_at"]).timestamp())
        for line, record in lines
        if record["protocol"] not in (STORE_PROTOCOL, LOCAL)  # shots of a store are noted together
    ]
    for (_, before, first), (line, record, begun) in pairwise(row for row in timed if is_planned(row[1])):
        if begun < first - SLACK_S:
            early = f"{first - begun:.1f} s before {before['trial_id']}, which stands above it"
            yield Flaw(TRIALS, line, f"{record['trial_id']} began {early}")
    by_start = sorted(timed, key=lambda row: row[2])
    yield from _overlapping(by_start)
    yield from _awake(by_start)
    yield from _outside(timed, run)


def _overlapping(timed: Sequence[Timed]) -> Iterator[Flaw]:
    for (_, before, first), (line, record, begun) in pairwise(timed):
        took_s = before["elapsed_s"] or 0.0
        if first + took_s * (1 - CLOCK) - SLACK_S > begun:
            after = f"{begun - first:.1f} s after {before['trial_id']}, which took {took_s:.1f} s"
            yield Flaw(TRIALS, line, f"{record['trial_id']} began {after}")


def _awake(timed: Sequence[Timed]) -> Iterator[Flaw]:
    """Trials during which the client is said to have slept, but the next trial began too soon."""
    for (line, record, begun), (_, _, following) in pairwise(timed):
        match = pattern_of(SLEPT).fullmatch(record["reason"])
        slept_s = float(match["slept_s"]) if match and match["slept_s"].isdecimal() else 0.0
        if following - begun < slept_s - SECONDS - SLACK_S:
            problem = f"{record['reason']}, and the next one began {following - begun:.1f} s after it"
            yield Flaw(TRIALS, line, f"{record['trial_id']}: {problem}")


def _outside(timed: Sequence[Timed], run: RunJson) -> Iterator[Flaw]:
    try:
        names = ("started_at", "finished_at")
        start, end = (read_time(run[name]).timestamp() if run.get(name) else None for name in names)
    except ValueError as error:
        yield Flaw("run.json", None, f"started_at or finished_at: {error}")
        return
    for line, record, begun in timed:
        if start is not None and begun < start - SECONDS - SLACK_S:
            yield Flaw(TRIALS, line, f"{record['trial_id']} began {start - begun:.0f} s before the run")
        took_s = (record["elapsed_s"] or 0.0) * (1 - CLOCK)
        if end is not None and begun + took_s > end + SECONDS + SLACK_S:
            yield Flaw(TRIALS, line, f"{record['trial_id']} ended {begun + took_s - end:.0f} s after the run")
