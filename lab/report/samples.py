"""The course of trials, from samples.jsonl, as lines of numbers over the seconds: what figures and pages draw.

No number of a report rests on it: what cannot be read is left out.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lab.base import untrusted
from lab.base.secret_texts import all_without_secrets
from lab.base.untrusted import from_json
from lab.results.run_folder import RunFolder

MOST_BYTES = 512 << 20  # of samples.jsonl: a page is not made of more
Number = float | None


class Line(NamedTuple):
    """What one host says over the seconds; as many values as times."""

    role: str
    at_s: Sequence[float]
    values: Sequence[float]


def lines_of(folder: RunFolder) -> Iterator[bytes]:
    """The lines of samples.jsonl; none where there is no such file, or one that no lab wrote."""
    path = folder.samples_path
    try:
        if os.path.lexists(path) and path.lstat().st_size <= MOST_BYTES:
            yield from untrusted.read_lines(path)
    except OSError:
        return  # no number rests on samples


def read_course(line: bytes) -> dict[str, Any] | None:
    """One line of samples.jsonl; None for what is none."""
    try:
        course = from_json(line.decode())
    except ValueError:
        return None
    return all_without_secrets(course) if isinstance(course, dict) else None


def course_of(folder: RunFolder, trial_id: str) -> dict[str, Any] | None:
    """The course of one trial; None where it has none."""
    for line in lines_of(folder):
        if trial_id.encode() in line and (course := read_course(line)) and course.get("trial_id") == trial_id:
            return course
    return None


def trials_with_samples(folder: RunFolder) -> list[str]:
    """The ids of the trials that have a course, in the order of the run."""
    courses = filter(None, map(read_course, lines_of(folder)))
    return [str(course["trial_id"]) for course in courses if "trial_id" in course]


def _numbers(values: object) -> list[Number]:
    """The numbers of a list that others wrote, None for whatever else there is."""
    if not isinstance(values, list):
        return []
    return [
        float(value) if isinstance(value, int | float) and abs(value) < untrusted.LARGEST else None for value in values
    ]


def rates(host: dict[str, Any]) -> Iterator[Line]:
    """What was sent (solid) and received (dashed) between readings, in MB/s."""
    times = _numbers(host.get("at_s"))
    for look, name in (("client", "tx_bytes"), ("server", "rx_bytes")):
        known = [pair for pair in zip(times, _numbers(host.get(name)), strict=False) if None not in pair]
        at = np.array(known, dtype=float).reshape(-1, 2)
        spans = np.diff(at, axis=0)
        later = spans[:, 0] > 0
        if later.any():
            by_second = spans[later, 1] / spans[later, 0] / 1e6
            yield Line(look, at[1:, 0][later].tolist(), np.maximum(by_second, 0).tolist())


def busiest_core(role: str, host: dict[str, Any]) -> Line:
    """The busiest core at each reading."""
    times, cores = _numbers(host.get("at_s")), host.get("core_busy")
    shares = [_numbers(values) for values in cores.values()] if isinstance(cores, dict) else []
    most = [(at, [share for share in now if share is not None]) for at, *now in zip(times, *shares, strict=False)]
    known = [(at, 100 * max(now)) for at, now in most if now and at is not None]
    return Line(role, [at for at, _ in known], [share for _, share in known])


def sent_again(role: str, host: dict[str, Any]) -> Line:
    """Segments sent again of all connections of a host, since the first that was seen of each."""
    first: dict[str, float] = {}
    latest: dict[str, float] = {}
    summed: dict[float, float] = {}
    seen = host.get("connections")
    for entry in seen if isinstance(seen, list) else []:
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], dict)):
            continue
        at, count = _numbers([entry[0], entry[2].get("retransmits")])
        if at is not None and count is not None:
            first.setdefault(str(entry[1]), count)
            latest[str(entry[1])] = count
            summed[at] = sum(latest.values()) - sum(first.values())
    return Line(role, list(summed), list(summed.values()))
