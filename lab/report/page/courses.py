"""The course of trials as small drawings: rate on the wire, busy cores, and segments sent again, over the seconds."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lab import stats
from lab.base import untrusted
from lab.base.untrusted import from_json
from lab.hosts import ROLES
from lab.report.analysis import Analysis
from lab.report.page.text import escape, folded, paragraph
from lab.results.run_folder import RunFolder

MOST_COURSES = 150  # on a page, which stays below 3 MB with them
MOST_POINTS = 120  # of a line: as many as it has pixels
WIDTH, HEIGHT, TOP = 320, 46, 12  # of a panel: its lines lie between TOP and HEIGHT
LOOKS = {"client": "#0072b2", "server": "#d55e00"}  # of figures, so that light and dark paper have their own
DASHES = {"client": "", "server": ' stroke-dasharray="5 2"'}
MOST_BYTES = 512 << 20  # of samples.jsonl: a page is not made of more
Number = float | None


class Line(NamedTuple):
    """What one host says over the seconds; as many values as times."""

    role: str
    at_s: Sequence[float]
    values: Sequence[float]


def courses(folder: RunFolder, run: Analysis) -> str:
    """The course of every trial that has samples, or of some of them evenly over the run, folded; empty without."""
    frame = run.trials.frame
    named = {str(row["trial_id"]): row for row in stats.rows_of(frame[["trial_id", *stats.POOLED, "block", "status"]])}
    total = sum(1 for _ in _lines(folder))
    step = max(1, math.ceil(total / MOST_COURSES))
    drawn = []
    for line in itertools.islice(_lines(folder), 0, None, step):
        course = _parse(line)
        if course and str(course.get("trial_id")) in named:
            drawn.append(_drawing(course, named[str(course["trial_id"])]))
    if not drawn:
        return ""
    some = f"{len(drawn)} of {total:,}, evenly over the run; samples.jsonl has the others. " if step > 1 else ""
    about = (
        f"{some}Above: what the client sent (solid) and received (dashed), MB/s (10⁶). Middle: the busiest core, % of "
        "its time. Below: segments sent again so far. In both the client is solid, and the server dashed."
    )
    return folded("The course of trials", "\n".join([paragraph(about, "note"), *drawn]), "courses")


def _lines(folder: RunFolder) -> Iterator[bytes]:
    """The lines of samples.jsonl; none where there is no such file, or one that no lab wrote."""
    path = folder.samples_path
    try:
        if os.path.lexists(path) and path.lstat().st_size <= MOST_BYTES:
            yield from untrusted.read_lines(path)
    except OSError:
        return  # no number rests on samples


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        course = from_json(line.decode())
    except ValueError:
        return None
    return course if isinstance(course, dict) else None


def _drawing(course: dict[str, Any], trial: stats.Row) -> str:
    """Three panels under the name of the trial, which is folded with the numbers that they reach."""
    hosts = {role: course[role] for role in ROLES if isinstance(course.get(role), dict)}
    panels = {
        "MB/s": [line for role in list(hosts)[:1] for line in _rates(hosts[role])],
        "% busy": [_busiest(role, host) for role, host in hosts.items()],
        "resent": [_resent(role, host) for role, host in hosts.items()],
    }
    name = f"{stats.row_label(trial)}, block {trial['block']}, {trial['trial_id']}"
    name += "" if trial["status"] == "ok" else f" ({trial['status']})"
    lasts = max((line.at_s[-1] for lines in panels.values() for line in lines if line.at_s), default=0.0) or 1.0
    drawn = [_panel(unit, lines, lasts, place * HEIGHT) for place, (unit, lines) in enumerate(panels.items())]
    most = {
        unit: max((max(line.values) for line in lines if line.values), default=None) for unit, lines in panels.items()
    }
    said = ", ".join(f"at most {value:,.1f} {unit}" for unit, value in most.items() if value is not None)
    svg = (
        f'<svg class="figure small" role="img" viewBox="0 0 {WIDTH} {HEIGHT * len(panels)}">'
        f"<title>{escape(f'{name}: {lasts:.1f} s; {said}')}</title>{''.join(drawn)}</svg>"
    )
    return folded(name, f"{svg}{paragraph(f'{lasts:.2f} s; {said}.', 'note')}", level=0)


def _numbers(values: object) -> list[Number]:
    """The numbers of a list that others wrote, None for whatever else there is."""
    if not isinstance(values, list):
        return []
    return [
        float(value) if isinstance(value, int | float) and abs(value) < untrusted.LARGEST else None for value in values
    ]


def _rates(host: dict[str, Any]) -> Iterator[Line]:
    """What was sent (solid) and received (dashed) between readings, in MB/s."""
    times = _numbers(host.get("at_s"))
    for look, name in (("client", "tx_bytes"), ("server", "rx_bytes")):
        known = [pair for pair in zip(times, _numbers(host.get(name)), strict=False) if None not in pair]
        at = np.array(known, dtype=float).reshape(-1, 2)
        spans = np.diff(at, axis=0)
        later = spans[:, 0] > 0
        if later.any():
            rates = spans[later, 1] / spans[later, 0] / 1e6
            yield Line(look, at[1:, 0][later].tolist(), np.maximum(rates, 0).tolist())


def _busiest(role: str, host: dict[str, Any]) -> Line:
    """The busiest core at each reading."""
    times, cores = _numbers(host.get("at_s")), host.get("core_busy")
    shares = [_numbers(values) for values in cores.values()] if isinstance(cores, dict) else []
    most = [(at, [share for share in now if share is not None]) for at, *now in zip(times, *shares, strict=False)]
    known = [(at, 100 * max(now)) for at, now in most if now and at is not None]
    return Line(role, [at for at, _ in known], [share for _, share in known])


def _resent(role: str, host: dict[str, Any]) -> Line:
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


def _panel(unit: str, lines: Sequence[Line], lasts: float, top: int) -> str:
    """A panel with its unit and the highest value; nothing but these where nothing was seen."""
    highest = max((max(line.values) for line in lines if line.values), default=math.nan)
    shown = "not seen" if math.isnan(highest) else f"{highest:,.0f} {unit}"
    drawn = "".join(_path(line, lasts, max(highest, 1e-9), top) for line in lines if line.values)
    base = f'<path d="M0 {top + HEIGHT - 1}H{WIDTH}" fill="none" stroke="#dddddd"/>'
    words = shown if math.isnan(highest) else f"up to {shown}"
    return f'{base}{drawn}<text x="1" y="{top + 9}" font-size="9">{escape(f"{unit}: {words}")}</text>'


def _path(line: Line, lasts: float, highest: float, top: int) -> str:
    step = max(1, math.ceil(len(line.values) / MOST_POINTS))
    x = np.round(WIDTH * np.array(line.at_s[::step]) / lasts).astype(int)
    y = np.round(top + HEIGHT - 1 - (HEIGHT - TOP - 1) * np.array(line.values[::step]) / highest).astype(int)
    points = " ".join(f"{at_x},{at_y}" for at_x, at_y in zip(x, y, strict=True))
    return f'<path d="M{points}" fill="none" stroke="{LOOKS[line.role]}"{DASHES[line.role]}/>'
