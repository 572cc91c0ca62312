"""The trials on a page: as a table, and as CSV and JSON inside it to be saved, without a network and a script."""

import base64
import json

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, COLUMNS, OPTIONS
from lab.report.analysis import Analysis
from lab.report.page.html import folded, html_table, paragraph
from lab.report.tables import TextTable, no_formula, number

MOST_ROWS, MOST_DATA = 400, 1500  # trials in the table, and in the files to be saved: a page stays below 3 MB
ALWAYS = ("protocol", "tool", "direction")
MEASURED = {
    "MB_per_s": ".2f", "share_of_ceiling": ".3f", "client_cpu_s_per_GB": ".2f", "server_cpu_s_per_GB": ".2f",
}  # fmt: skip
LONGEST = 200  # characters of a text in a file to be saved
TYPES = {"CSV": "text/csv;charset=utf-8", "JSON": "application/json"}


def trial_data(run: Analysis) -> str:
    """Every trial in a table and as files, or a sample of them, and then it says so; folded."""
    frame = run.trials.frame
    if frame.empty:
        return ""
    table, data = _some(frame, MOST_ROWS), _plain(_some(frame, MOST_DATA))
    files = {"CSV": data.to_csv(index=False), "JSON": _json(data)}
    links = "".join(_link(kind, content) for kind, content in files.items())
    about = f"{_how_many(len(data), len(frame))} as a file. table.csv beside this page has every column of all of them."
    inner = [f'<p class="actions">{links}</p>', paragraph(about, "note"), html_table(_table(table, frame), "Trials")]
    return folded("Every trial, and the data to save", "\n".join(inner), "trials")


def _json(data: pd.DataFrame) -> str:
    """The names of the columns and the rows of their values: with the names in each row it would be twice as long."""
    values = {"columns": list(data.columns), "data": data.to_numpy().tolist()}
    return json.dumps(values, allow_nan=False, separators=(",", ":"))


def _some(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    """At most so many of the trials, evenly over the run."""
    if len(frame) <= most:
        return frame
    return frame.iloc[np.linspace(0, len(frame) - 1, most).astype(np.intp)]


def _how_many(shown: int, total: int) -> str:
    return f"All {total:,} trials" if shown == total else f"{shown:,} of {total:,} trials, evenly over the run,"


def _link(kind: str, content: str) -> str:
    data = base64.b64encode(content.encode()).decode()
    return f'<a download="trials.{kind.lower()}" href="data:{TYPES[kind]};base64,{data}">Save as {kind}</a>'


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
    numbers = set(data.select_dtypes(include="number").columns)
    texts = {str(name): data[name].map(_as_text) for name in data if name not in numbers}
    data = data.assign(**texts)
    data = data.rename(columns={str(name): no_formula(str(name)) for name in data})
    return data.round(6).astype(object).where(data.notna(), None)


def _as_text(value: object) -> str:
    return no_formula(str(value)[:LONGEST])
