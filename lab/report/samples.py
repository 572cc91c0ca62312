"""The course of trials, from samples.jsonl, as lines over the seconds; what cannot be read is left out."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from lab.base import untrusted
from lab.base.secret_texts import all_without_secrets
from lab.base.untrusted import from_json
from lab.hosts.role import ROLES
from lab.results.run_folder import RunFolder

MOST_BYTES = 512 << 20  # of samples.jsonl that a page is made from
Number = float | None
Json = Mapping[str, object]  # written by others


class Line(NamedTuple):
    """The readings of one host over the seconds; as many values as times."""

    role: str
    at_s: Sequence[float]
    values: Sequence[float]


def lines_of(folder: RunFolder) -> Iterator[bytes]:
    """The lines of samples.jsonl; none if the file is missing or too large."""
    path = folder.samples_path
    with suppress(OSError):
        if os.path.lexists(path) and path.lstat().st_size <= MOST_BYTES:
            yield from untrusted.read_lines(path)


def read_course(line: bytes) -> Json | None:
    """One line of samples.jsonl; None if it is no course."""
    with suppress(ValueError):
        course = from_json(line.decode())
        if isinstance(course, dict):
            shown: Json = all_without_secrets(course)
            return shown
    return None


def course_of(folder: RunFolder, trial_id: str) -> Json | None:
    """The course of one trial, or None."""
    courses = (read_course(line) for line in lines_of(folder) if trial_id.encode() in line)
    return next((course for course in courses if course and course.get("trial_id") == trial_id), None)


def trials_with_samples(folder: RunFolder) -> list[str]:
    """The ids of the trials that have a course, in the order of the run."""
    courses = filter(None, map(read_course, lines_of(folder)))
    return [str(course["trial_id"]) for course in courses if "trial_id" in course]


def _numbers(values: object) -> list[Number]:
    if not isinstance(values, list):
        return []
    return [
        float(value) if isinstance(value, int | float) and abs(value) < untrusted.LARGEST else None for value in values
    ]


def panels_of(course: Json) -> tuple[list[Line], list[Line], list[Line]]:
    """The lines of three panels: rates on the wire, as the client sees them; busiest cores; and segments sent again."""
    hosts = {role: host for role in ROLES if isinstance(host := course.get(role), dict)}
    return (
        [line for host in list(hosts.values())[:1] for line in _rates(host)],
        [_busiest_core(role, host) for role, host in hosts.items()],
        [_sent_again(role, host) for role, host in hosts.items()],
    )


def _rates(host: Json) -> Iterator[Line]:
    """The rates of sent (solid) and received (dashed) bytes between readings, in MB/s."""
    times = _numbers(host.get("at_s"))
    for look, name in (("client", "tx_bytes"), ("server", "rx_bytes")):
        known = [reading for reading in zip(times, _numbers(host.get(name)), strict=False) if None not in reading]
        at = np.array(known, dtype=float).reshape(-1, 2)
        spans = np.diff(at, axis=0)
        later = spans[:, 0] > 0
        if later.any():
            by_second = spans[later, 1] / spans[later, 0] / 1e6
            yield Line(look, at[1:, 0][later].tolist(), np.maximum(by_second, 0).tolist())


def _busiest_core(role: str, host: Json) -> Line:
    """The busiest core at each reading."""
    times, cores = _numbers(host.get("at_s")), host.get("core_busy")
    shares = [_numbers(values) for values in cores.values()] if isinstance(cores, dict) else []
    most = [(at, [share for share in now if share is not None]) for at, *now in zip(times, *shares, strict=False)]
    known = [(at, 100 * max(now)) for at, now in most if now and at is not None]
    return Line(role, [at for at, _ in known], [share for _, share in known])


def _sent_again(role: str, host: Json) -> Line:
    """Segments that all connections of a host sent again since the first reading of each."""
    first: dict[str, float] = {}
    latest: dict[str, float] = {}
    summed: dict[float, float] = {}
    readings = host.get("connections")
    for entry in readings if isinstance(readings, list) else []:
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], dict)):
            continue
        at, count = _numbers([entry[0], entry[2].get("retransmits")])
        if at is not None and count is not None:
            first.setdefault(str(entry[1]), count)
            latest[str(entry[1])] = count
            summed[at] = sum(latest.values()) - sum(first.values())
    return Line(role, list(summed), list(summed.values()))
