"""Check that the course of each trial, in samples.jsonl, ends with the counts of the trial."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.base.untrusted import from_json, read_lines
from lab.contribution.flaw import Flaw
from lab.contribution.plausible import Record, is_transfer
from lab.hosts import ROLES
from lab.results.run_folder import RunFolder
from lab.workloads.metadata import TOOL as METADATA

NAME = "samples.jsonl"
BEFORE_S = 0.05  # the times of samples have hundredths of a second
AFTER_S = 2.0  # a busy machine may take so long to take the last sample
COUNTS = ("tx_bytes", "rx_bytes", "disk_read_bytes", "disk_written_bytes")
Course = Mapping[str, Any]


def check_courses(run: RunFolder, lines: Sequence[tuple[int, Record]]) -> Iterator[Flaw]:
    """Courses that contradict their trial, and transfers without a course although others have one."""
    if not run.samples_path.exists():
        return
    courses: dict[str, list[tuple[int, Course]]] = defaultdict(list)
    for number, text in enumerate(read_lines(run.samples_path), 1):
        try:
            course = from_json(text.decode())
            courses[course["trial_id"]].append((number, course))
        except (ValueError, LookupError, TypeError) as error:
            yield Flaw(NAME, number, f"no course of a trial: {error!r:.60}")
    for line, trial in lines:
        if is_transfer(trial):
            yield from _check(line, trial, courses.get(trial["trial_id"], []))


def _check(line: int, trial: Record, courses: Sequence[tuple[int, Course]]) -> Iterator[Flaw]:
    """Check the last course of a transfer; a transfer that was cut off and repeated has earlier ones."""
    if not courses:
        if trial["status"] != "failed" and "client" in trial["observed"]:
            yield Flaw("trials.jsonl", line, f"{trial['trial_id']}: its course is missing in {NAME}")
        return
    number, course = courses[-1]
    if trial["status"] == "failed":
        yield Flaw(NAME, number, f"{trial['trial_id']}: a course of a trial that failed: such a one has none")
        return
    for role in map(str, ROLES):
        usage, of_role = trial["observed"].get(role), course.get(role)
        if isinstance(usage, dict) and (problem := _problem(trial, role, usage, of_role)):
            yield Flaw(NAME, number, f"{trial['trial_id']}: {role}: {problem}")


def _problem(trial: Record, role: str, usage: Mapping[str, Any], course: object) -> str:
    """How a course contradicts its trial; empty if it does not."""
    try:
        at_s: list[float] = course["at_s"]  # type: ignore[index]
        ends = {name: course[name][-1] for name in COUNTS if name in course}  # type: ignore[index,operator]
        available = [count for count in course["available_bytes"] if count is not None]  # type: ignore[index]
        lasted_s = at_s[-1] - at_s[0]
    except (LookupError, TypeError) as error:
        return f"no course of a host: {error!r:.60}"
    for name, count in (ends | {"memory_least_bytes": min(available, default=None)}).items():
        if count != usage.get(name):
            return f"{name} is {count}, and {usage.get(name)} in the trial"
    if len(at_s) - 2 != usage.get("samples"):
        return f"{len(at_s) - 2} samples, and the trial has {usage.get('samples')}"
    elapsed_s = trial["elapsed_s"]
    is_of_all = role == "client" and "together" not in trial["observed"] and trial["tool"] != METADATA.name
    if is_of_all and not elapsed_s - BEFORE_S <= lasted_s <= elapsed_s + AFTER_S:
        return f"it lasted {lasted_s:.2f} s, and elapsed_s is {elapsed_s}"
    return ""
