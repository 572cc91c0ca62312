"""The trials on a page: each as a row, in files to be saved without a network and a script, and as a drawing."""

import base64
import itertools
import json
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, COLUMNS, OPTIONS
from lab.report.analysis import Analysis
from lab.report.page.html import escape, folded, html_table, paragraph
from lab.report.samples import Json, Line, lines_of, panels_of, read_course
from lab.report.tables import TextTable, no_formula, number
from lab.results.run_folder import RunFolder

MOST_ROWS, MOST_DATA = 400, 1500  # trials in the table, and in the files to be saved: a page stays below 3 MB
ALWAYS = ("protocol", "tool", "direction")
MEASURED = {
    "MB_per_s": ".2f", "share_of_ceiling": ".3f", "client_cpu_s_per_GB": ".2f", "server_cpu_s_per_GB": ".2f",
}  # fmt: skip
LONGEST = 200  # characters of a text in a file to be saved
TYPES = {"CSV": "text/csv;charset=utf-8", "JSON": "application/json"}
MOST_COURSES = 150  # on a page, which stays below 3 MB with them
MOST_POINTS = 120  # of a line: as many as it has pixels
WIDTH, HEIGHT, TOP = 320, 46, 12  # of a panel: its lines lie between TOP and HEIGHT
LOOKS = {"client": "#0072b2", "server": "#d55e00"}  # of figures, so that light and dark paper have their own
DASHES = {"client": "", "server": ' stroke-dasharray="5 2"'}


def trial_data(run: Analysis) -> str:
    """Every trial in a table and as files, or a sample of them if there are very many; folded."""
    frame = run.trials.frame
    if frame.empty:
        return ""
    table, data = _some(frame, MOST_ROWS), _plain(_some(frame, MOST_DATA))
    # the names of the columns once, because with the names in each row the file would be twice as long
    values = {"columns": list(data.columns), "data": data.to_numpy().tolist()}
    files = {"CSV": data.to_csv(index=False), "JSON": json.dumps(values, allow_nan=False, separators=(",", ":"))}
    encoded = {kind: base64.b64encode(content.encode()).decode() for kind, content in files.items()}
    links = "".join(
        f'<a download="trials.{kind.lower()}" href="data:{TYPES[kind]};base64,{content}">Save as {kind}</a>'
        for kind, content in encoded.items()
    )
    about = f"{_how_many(len(data), len(frame))} as a file. table.csv beside this page has every column of all of them."
    inner = [f'<p class="actions">{links}</p>', paragraph(about, "note"), html_table(_table(table, frame), "Trials")]
    return folded("Every trial, and the data to save", "\n".join(inner), "trials")


def _some(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    return frame.iloc[np.linspace(0, len(frame) - 1, min(most, len(frame))).astype(np.intp)]


def _how_many(shown: int, total: int) -> str:
    return f"All {total:,} trials" if shown == total else f"{shown:,} of {total:,} trials, evenly over the run,"


def _varied(frame: pd.DataFrame) -> list[str]:
    """The factors that a table of trials has: protocol, tool and direction, and whichever else varies."""
    names = [name for name in (*COLUMNS, *OPTIONS) if name in frame and name not in ALWAYS]
    return [*ALWAYS, *(name for name in names if frame[name].nunique() > 1)]


def _table(shown: pd.DataFrame, frame: pd.DataFrame) -> TextTable:
    names = _varied(frame)
    rows = []
    for row in stats.rows_of(shown):
        levels = [str(row[name]) if row[name] == ABSENT else stats.level_label(name, row[name]) for name in names]
        measured = [number(row[name], style) for name, style in MEASURED.items()]
        rows.append([*levels, str(row["block"]), *measured, row["status"], row["trial_id"]])
    headings = [*map(stats.factor_label, names), "block", "MB/s", "of ceiling", "client CPU s/GB", "server CPU s/GB"]
    caption = f"{_how_many(len(shown), len(frame))} in the order in which they were written down."
    return TextTable([*headings, "status", "trial"], rows, caption, factors=len(names))


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Units are in the names; None where nothing was measured; no text that a spreadsheet takes for a formula."""
    columns = ["trial_id", "started_at", "block", *_varied(frame), "elapsed_s", *MEASURED, "status", "reason"]
    data = frame[columns].assign(started_at=frame["started_at"].astype(str).str[:19] + "Z")
    texts = [str(name) for name in data.select_dtypes(exclude="number")]
    data = data.assign(**{name: data[name].map(lambda value: no_formula(str(value)[:LONGEST])) for name in texts})
    data = data.rename(columns=lambda name: no_formula(str(name)))
    return data.round(6).astype(object).where(data.notna(), None)


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


def _drawing(course: Json, trial: stats.Row) -> str:
    panels = dict(zip(("MB/s", "% busy", "resent"), panels_of(course), strict=True))
    name = f"{stats.row_label(trial)}, block {trial['block']}, {trial['trial_id']}"
    name += "" if trial["status"] == "ok" else f" ({trial['status']})"
    lasts = max((line.at_s[-1] for lines in panels.values() for line in lines if line.at_s), default=0.0) or 1.0
    drawn, values = "", []
    for place, (unit, lines) in enumerate(panels.items()):
        highest = max((max(line.values) for line in lines if line.values), default=None)
        drawn += _panel(unit, lines, lasts, highest, place * HEIGHT)
        values += [] if highest is None else [f"at most {highest:,.1f} {unit}"]
    highest_values = ", ".join(values)
    svg = (
        f'<svg class="figure small" role="img" viewBox="0 0 {WIDTH} {HEIGHT * len(panels)}">'
        f"<title>{escape(f'{name}: {lasts:.1f} s; {highest_values}')}</title>{drawn}</svg>"
    )
    return folded(name, f"{svg}{paragraph(f'{lasts:.2f} s; {highest_values}.', 'note')}", level=0)


def _panel(unit: str, lines: Sequence[Line], lasts: float, highest: float | None, top: int) -> str:
    words = "not seen" if highest is None else f"up to {highest:,.0f} {unit}"
    drawn = "".join(_path(line, lasts, max(highest or 0.0, 1e-9), top) for line in lines if line.values)
    base = f'<path d="M0 {top + HEIGHT - 1}H{WIDTH}" fill="none" stroke="#dddddd"/>'
    return f'{base}{drawn}<text x="1" y="{top + 9}" font-size="9">{escape(f"{unit}: {words}")}</text>'


def _path(line: Line, lasts: float, highest: float, top: int) -> str:
    step = max(1, math.ceil(len(line.values) / MOST_POINTS))
    x = np.round(WIDTH * np.array(line.at_s[::step]) / lasts).astype(int)
    y = np.round(top + HEIGHT - 1 - (HEIGHT - TOP - 1) * np.array(line.values[::step]) / highest).astype(int)
    points = " ".join(f"{at_x},{at_y}" for at_x, at_y in zip(x, y, strict=True))
    return f'<path d="M{points}" fill="none" stroke="{LOOKS[line.role]}"{DASHES[line.role]}/>'
