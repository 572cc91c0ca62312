"""The course of trials as small drawings: rate on the wire, busy cores, and segments sent again, over the seconds."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lab import stats
from lab.hosts import ROLES
from lab.report.analysis import Analysis
from lab.report.page.html import escape, folded, paragraph
from lab.report.samples import Line, busiest_core, lines_of, rates, read_course, sent_again
from lab.results.run_folder import RunFolder

MOST_COURSES = 150  # on a page, which stays below 3 MB with them
MOST_POINTS = 120  # of a line: as many as it has pixels
WIDTH, HEIGHT, TOP = 320, 46, 12  # of a panel: its lines lie between TOP and HEIGHT
LOOKS = {"client": "#0072b2", "server": "#d55e00"}  # of figures, so that light and dark paper have their own
DASHES = {"client": "", "server": ' stroke-dasharray="5 2"'}


def courses(folder: RunFolder, run: Analysis) -> str:
    """The course of every trial that has samples, or of some of them evenly over the run, folded; empty without."""
    frame = run.trials.frame
    named = {str(row["trial_id"]): row for row in stats.rows_of(frame[["trial_id", *stats.POOLED, "block", "status"]])}
    total = sum(1 for _ in lines_of(folder))
    step = max(1, math.ceil(total / MOST_COURSES))
    drawn = []
    for line in itertools.islice(lines_of(folder), 0, None, step):
        course = read_course(line)
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


def _drawing(course: dict[str, Any], trial: stats.Row) -> str:
    """Three panels under the name of the trial, which is folded with the numbers that they reach."""
    hosts = {role: course[role] for role in ROLES if isinstance(course.get(role), dict)}
    panels = {
        "MB/s": [line for role in list(hosts)[:1] for line in rates(hosts[role])],
        "% busy": [busiest_core(role, host) for role, host in hosts.items()],
        "resent": [sent_again(role, host) for role, host in hosts.items()],
    }
    name = f"{stats.row_label(trial)}, block {trial['block']}, {trial['trial_id']}"
    name += "" if trial["status"] == "ok" else f" ({trial['status']})"
    lasts = max((line.at_s[-1] for lines in panels.values() for line in lines if line.at_s), default=0.0) or 1.0
    drawn = [_panel(unit, lines, lasts, place * HEIGHT) for place, (unit, lines) in enumerate(panels.items())]
    most = {
        unit: max((max(line.values) for line in lines if line.values), default=None) for unit, lines in panels.items()
    }
    highest_values = ", ".join(f"at most {value:,.1f} {unit}" for unit, value in most.items() if value is not None)
    svg = (
        f'<svg class="figure small" role="img" viewBox="0 0 {WIDTH} {HEIGHT * len(panels)}">'
        f"<title>{escape(f'{name}: {lasts:.1f} s; {highest_values}')}</title>{''.join(drawn)}</svg>"
    )
    return folded(name, f"{svg}{paragraph(f'{lasts:.2f} s; {highest_values}.', 'note')}", level=0)


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
