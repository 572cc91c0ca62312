"""Whether the course of each trial, in samples.jsonl, ends with what the trial says was counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.base.untrusted import from_json, read_lines
from lab.contribution.finding import Finding
from lab.contribution.plausible import Record, is_transfer
from lab.hosts import ROLES
from lab.results.run_folder import RunFolder
from lab.workloads.metadata import TOOL as METADATA

NAME = "samples.jsonl"
BEFORE_S = 0.05  # the clock of the samples counts in hundredths of a second
AFTER_S = 2.0  # a busy machine may take so long to look once more after the end
COUNTS = ("tx_bytes", "rx_bytes", "disk_read_bytes", "disk_written_bytes")
Course = Mapping[str, Any]


def check_courses(run: RunFolder, lines: Sequence[tuple[int, Record]]) -> Iterator[Finding]:
    """Courses of trials that cannot have one or say otherwise, and transfers without one where others have theirs."""
    if not run.samples_path.exists():
        return
    courses: dict[str, list[tuple[int, Course]]] = defaultdict(list)
    for number, text in enumerate(read_lines(run.samples_path), 1):
        try:
            course = from_json(text.decode())
            courses[course["trial_id"]].append((number, course))
        except (ValueError, LookupError, TypeError) as error:
            yield Finding(NAME, number, f"no course of a trial: {error!r:.60}")
    for line, one in lines:
        yield from _check(line, one, courses.get(one["trial_id"], []))


def _check(line: int, one: Record, courses: Sequence[tuple[int, Course]]) -> Iterator[Finding]:
    """One that was cut off has a course that counts for nothing before the one that counts, the last."""
    if not is_transfer(one):
        return
    if not courses:
        if one["status"] != "failed" and "client" in one["observed"]:
            yield Finding("trials.jsonl", line, f"{one['trial_id']}: its course is missing in {NAME}")
        return
    number, course = courses[-1]
    if one["status"] == "failed":
        yield Finding(NAME, number, f"{one['trial_id']}: a course of a trial that failed: such a one has none")
        return
    for role in map(str, ROLES):
        usage, of_role = one["observed"].get(role), course.get(role)
        if isinstance(usage, dict) and (what := _problem(one, role, usage, of_role)):
            yield Finding(NAME, number, f"{one['trial_id']}: {role}: {what}")


def _problem(one: Record, role: str, usage: Mapping[str, Any], course: object) -> str:
    """What a course says otherwise than its trial; empty where nothing is."""
    try:
        at_s: list[float] = course["at_s"]  # type: ignore[index]
        ends = {name: course[name][-1] for name in COUNTS if name in course}  # type: ignore[index,operator]
        left = [count for count in course["available_bytes"] if count is not None]  # type: ignore[index]
        lasted_s = at_s[-1] - at_s[0]
    except (LookupError, TypeError) as error:
        return f"no course of a host: {error!r:.60}"
    for name, count in (ends | {"memory_least_bytes": min(left, default=None)}).items():
        if count != usage.get(name):
            return f"{name} is {count}, and {usage.get(name)} in the trial"
    if len(at_s) - 2 != usage.get("samples"):
        return f"{len(at_s) - 2} samples, and the trial has {usage.get('samples')}"
    elapsed_s = one["elapsed_s"]
    is_of_all = role == "client" and "together" not in one["observed"] and one["tool"] != METADATA.name
    if is_of_all and not elapsed_s - BEFORE_S <= lasted_s <= elapsed_s + AFTER_S:
        return f"it lasted {lasted_s:.2f} s, and elapsed_s is {elapsed_s}"
    return ""
