"""A run as something to show: report.html (one file, no network), post.md, figures, table.csv, terminal tables.

The same tables and texts are rendered for HTML, Markdown and the terminal, so that they cannot disagree. Whatever came
from a host or a file is escaped.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from lab import figures, results, stats
from lab.report_words import LOCAL_LAB, TEXTS
from lab.results import RunFolder
from lab.untrusted import printable

SPREADS = (("min", "max"), ("low", "high"))
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; display: block; overflow-x: auto }
th, td { padding: .25em .7em; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th:first-child, td:first-child, .text td, .text th { text-align: left; white-space: normal }
img { width: 100% } pre { background: #f4f4f4; padding: 1em; overflow-x: auto } .where { color: #555 }
"""
# The browser itself is told to fetch nothing: the report stays one file whatever a host has put into it.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class _Grid:
    """A table as text: what every renderer starts from."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    is_text: bool = False


@dataclass(frozen=True)
class _Section:
    title: str
    text: str = ""
    figure: str = ""
    grids: Sequence[_Grid] = ()


def write(folder: RunFolder) -> Path:
    """Write the report of a run into its folder, over an older one; the path of report.html."""
    title, trials = f"How fast is this share? {folder.text('name')}", results.load(folder.path)
    drawings = _draw(trials, folder.report_path / "figures")
    records = trials.assign(options=trials["options"].map(json.dumps), effective=trials["effective"].map(json.dumps))
    words: list[str] = list(records.select_dtypes("str").columns)
    records[words] = records[words].map(_no_formula)
    records.to_csv(folder.report_path / "table.csv", index=False)
    sections = _sections(trials)
    post = _markdown(title, folder.run, trials, [*sections, _hosts(folder.run)])
    (folder.report_path / "post.md").write_text(post, encoding="utf-8")
    page = folder.report_path / "report.html"
    everything = [*sections, *_details(folder.run, trials)]
    page.write_text(_html(title, folder.run, trials, everything, drawings), encoding="utf-8")
    return page


def _no_formula(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def comparison_table(trials: pd.DataFrame) -> Table:
    """For the terminal: one line a protocol and tool, medians of write and read at the baseline setting."""
    return _rich(_comparison(trials), stats.provenance(trials))


def effects_table(trials: pd.DataFrame) -> Table:
    """For the terminal: what each other MTU and TCP buffer changes, one line a protocol and tool."""
    return _rich(_effects(trials), stats.provenance(trials))


def show_json(folder: RunFolder) -> dict[str, Any]:
    """A run as JSON values: run.json, counts, and the tables as lists of records; null where there is no number."""
    trials = results.load(folder.path)
    tables = {
        "summary": stats.summary(trials),
        "effects": stats.all_effects(trials),
        "ceilings": stats.ceilings(trials),
        "not_ok": _not_ok(trials),
    }
    status = stats.transfers(trials)["status"]
    counts = {name: int((status == name).sum()) for name in ("ok", "void", "failed")}
    records = {name: json.loads(table.to_json(orient="records", double_precision=15)) for name, table in tables.items()}
    return {"path": str(folder.path), "run": folder.run, "counts": counts, **records}


def _draw(trials: pd.DataFrame, directory: Path) -> dict[str, bytes]:
    """Write every figure as SVG and PNG; the SVG of each, by name. The same run gives the same bytes."""
    directory.mkdir(parents=True, exist_ok=True)
    drawings = {}
    for name, draw in figures.ALL.items():
        figure, drawing = draw(trials), io.BytesIO()
        figure.savefig(directory / f"{name}.png")
        with matplotlib.rc_context({"svg.hashsalt": name}):
            figure.savefig(drawing, format="svg", metadata={"Date": None})
        drawings[name] = drawing.getvalue()
        (directory / f"{name}.svg").write_bytes(drawings[name])
    return drawings


def _sections(trials: pd.DataFrame) -> list[_Section]:
    return [
        _Section("Throughput", _fastest(trials) + TEXTS["throughput"], "throughput", [_comparison(trials)]),
        _Section("What MTU and TCP buffers change", TEXTS["effects"], "effects", [_effects(trials)]),
        _Section("What it costs in CPU", TEXTS["cpu_cost"], "cpu_cost"),
        _Section("Did anything drift?", TEXTS["timeline"], "timeline"),
    ]


def _details(run: dict[str, Any], trials: pd.DataFrame) -> list[_Section]:
    """What the page has beyond the post: every setting, what was void or failed and why, and what was asked for."""
    lost, keys = _not_ok(trials), ("name", "started_at", "finished_at", "seed", "code_version", "schema")
    facts = {key: str(run.get(key, "–")) for key in keys}
    facts["finished_at"] = str(run.get("finished_at") or "not finished: the run was cut short, or is still going on")
    lines = _Grid(list(lost.columns), lost.astype(str).to_numpy().tolist(), is_text=True)
    return [
        _Section("Every setting", grids=[_settings(stats.summary(trials))]),
        _Section("The link itself (iperf3)", grids=[_settings(stats.ceilings(trials))]),
        _Section("Void and failed trials", "" if len(lost) else "None.", grids=[lines] if len(lost) else []),
        _hosts(run),
        _Section("The run", grids=[_Grid(["", ""], list(facts.items()), is_text=True)]),
    ]


def _hosts(run: dict[str, Any]) -> _Section:
    hosts = run.get("hosts", {})
    names = dict.fromkeys(name for facts in hosts.values() for name in facts)
    rows = [[name, *(str(facts.get(name, "–")) for facts in hosts.values())] for name in names]
    return _Section("The hosts", grids=[_Grid(["", *hosts], rows, is_text=True)])


def _not_ok(trials: pd.DataFrame) -> pd.DataFrame:
    return trials.loc[trials["status"] != "ok", ["trial_id", "case_id", "block", "status", "reason"]]


def _fastest(trials: pd.DataFrame) -> str:
    """One sentence a direction: the setting with the highest median."""
    said = []
    for way, rows in stats.summary(trials).dropna(subset="median_MB_per_s").groupby("direction", sort=False):
        best = rows.nlargest(1, "median_MB_per_s").to_dict("records")[0]
        speed, share, n = _speed_cells(best)
        what = f"{best['protocol'].upper()} {best['tool']} at {_setting(best)}"
        said.append(f"Fastest {way}: {what}, median {speed} MB/s, {share} of the ceiling, n = {n}. ")
    return "".join(said)


def _comparison(trials: pd.DataFrame) -> _Grid:
    """Protocols and tools side by side, under each combination of settings: like is compared with like."""
    table = stats.summary(trials)
    headings = [heading for way in figures.WAYS for heading in (f"{way} MB/s", "ceiling", "n")]
    rows = []
    for _, same in table.groupby(["mtu", "tcp_space", "store"], sort=False):
        # a line for each level: a terminal of 80 columns has no room for all in one
        levels = _setting(same.to_dict("records")[0]).split(", ")
        rows += [*([level, *[""] * len(headings)] for level in levels), *_by_direction(same, _speed_cells)]
    return _Grid(
        ["", *headings],
        rows,
        "Medians of n good trials each, and their share of the ceiling." if rows else "No transfer was tried.",
    )


def _effects(trials: pd.DataFrame) -> _Grid:
    headings = [heading for way in figures.WAYS for heading in (f"{way} %", "95 % interval", "pairs")]
    rows = []
    for (factor, baseline, level), effects in stats.all_effects(trials).groupby(
        ["factor", "baseline", "level"], sort=False
    ):
        change = stats.change_label(str(factor), baseline, level)
        rows += [[f"{change}:", *[""] * len(headings)], *_by_direction(effects, _effect_cells)]
    at = "Change of throughput in percent, median over pairs of trials of the same block."
    return _Grid(["", *headings], rows, at)


def _by_direction(frame: pd.DataFrame, cells: Callable[[Any], list[str]]) -> list[list[str]]:
    """One row a protocol and tool: their names, then the cells of write and those of read."""
    lines: dict[str, dict[str, list[str]]] = {}
    for record in frame.to_dict("records"):
        lines.setdefault(f"{record['protocol'].upper()} {record['tool']}", {})[record["direction"]] = cells(record)
    blank = ["–"] * max((len(found) for ways in lines.values() for found in ways.values()), default=0)
    return [[name, *(cell for way in figures.WAYS for cell in ways.get(way, blank))] for name, ways in lines.items()]


def _settings(table: pd.DataFrame) -> _Grid:
    """A grid of :func:`lab.stats.summary` or :func:`lab.stats.ceilings`."""
    levels = list(table.columns[: table.columns.get_loc("n")])
    headings = [{"mtu": "MTU", "tcp_space": "TCP buffer"}.get(name, name) for name in levels]
    rows = []
    for row in table.to_dict("records"):
        named = [stats.size_label(row[name]) if name == "tcp_space" else str(row[name]) for name in levels]
        spread = [_span(row[f"{low}_MB_per_s"], row[f"{high}_MB_per_s"], ".1f") for low, high in SPREADS]
        rows.append([*named, *_speed_cells(row), *spread])
    return _Grid([*headings, "MB/s", "ceiling", "n", "min … max", "95 % interval"], rows)


def _setting(row: Any) -> str:
    where = "" if row["store"] == "ram" else f", {row['store']}"
    return f"MTU {row['mtu']}, TCP {stats.size_label(row['tcp_space'])}{where}"


def _speed_cells(row: Any) -> list[str]:
    tried = row["n"] + row["n_void"] + row["n_failed"]
    return [
        _number(row["median_MB_per_s"], ".1f"),
        _number(100 * row.get("share_of_ceiling", np.nan), ".0f", " %"),
        str(tried) if row["n"] == tried else f"{row['n']} of {tried}",
    ]


def _effect_cells(row: Any) -> list[str]:
    interval = _span(row["low_pct"], row["high_pct"], "+.1f")
    return [_number(row["median_change_pct"], "+.1f"), interval, str(row["n_pairs"])]


def _number(value: float, style: str, unit: str = "") -> str:
    return "–" if np.isnan(value) else f"{value:{style}}{unit}"


def _span(low: float, high: float, style: str) -> str:
    return "–" if np.isnan(low) else f"{low:{style}} … {high:{style}}"


def _rich(grid: _Grid, provenance: Sequence[str]) -> Table:
    below = Text(printable("\n".join(filter(None, provenance))))
    table = Table(title=Text(grid.caption), caption=below, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for number, heading in enumerate(grid.headings):
        # a number cut short would be another number; names may wrap, but not word by word
        kind = {"justify": "right", "no_wrap": True} if number else {"min_width": 11}
        table.add_column(Text(heading), **kind)
    for row in grid.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _markdown(title: str, run: dict[str, Any], trials: pd.DataFrame, sections: Iterable[_Section]) -> str:
    parts = [f"# {_md(title)}", *(_md(line) for line in stats.provenance(trials) if line)]
    if run.get("instance") is not None:
        parts.append(f"**{LOCAL_LAB}**")
    for section in sections:
        parts += [f"## {section.title}", section.text]
        parts += [f"![{section.title}](figures/{section.figure}.png)"] if section.figure else []
        for grid in section.grids:
            rows = [grid.headings, ["---", *["---:"] * (len(grid.headings) - 1)], *grid.rows]
            parts.append("\n".join("| " + " | ".join(map(_md, row)) + " |" for row in rows))
            parts.append(grid.caption)
    return "\n\n".join(filter(None, parts)) + "\n"


def _md(text: str) -> str:
    """Text that Markdown shows as it is: on one line, and neither markup nor HTML."""
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", html.escape(printable(" ".join(text.split())), quote=False))


def _html(
    title: str, run: dict[str, Any], trials: pd.DataFrame, sections: Iterable[_Section], drawings: dict[str, bytes]
) -> str:
    name = _shown(title)
    parts = [f"<h1>{name}</h1>"]
    parts += [f'<p class="where">{_shown(line)}</p>' for line in stats.provenance(trials) if line]
    if run.get("instance") is not None:
        parts.append(f"<p><strong>{LOCAL_LAB}</strong></p>")
    for section in sections:
        parts.append(f"<h2>{section.title}</h2><p>{_shown(section.text)}</p>")
        if section.figure:
            source = base64.b64encode(drawings[section.figure]).decode()
            parts.append(f'<img alt="{section.title}" src="data:image/svg+xml;base64,{source}">')
        parts += map(_html_table, section.grids)
    parts.append(f"<h2>The sweep</h2><pre>{_shown(run.get('sweep_text', ''))}</pre>")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style></head>\n<body>'
        + "\n".join(parts)
        + "</body></html>\n"
    )


def _html_table(grid: _Grid) -> str:
    head = "".join(f"<th>{_shown(heading)}</th>" for heading in grid.headings)
    body = "".join("<tr>" + "".join(f"<td>{_shown(cell)}</td>" for cell in row) + "</tr>\n" for row in grid.rows)
    kind = ' class="text"' if grid.is_text else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table><p>{_shown(grid.caption)}</p>"


def _shown(text: str) -> str:
    """Text that a browser shows as it is: no markup, and nothing that turns the direction of what follows."""
    return html.escape(printable(text))
