"""A run as files to read: report.html (one file, no network), post.md, figures, table.csv.

The same tables and texts are rendered for HTML, Markdown and the terminal (:mod:`lab.report.terminal`), so that they
cannot disagree. Whatever came from a host or a file is escaped.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd

from lab.base.durable import Folder
from lab.base.untrusted import printable
from lab.report import bottlenecks, evidence, figures, own_numbers, tables
from lab.report.analysis import Analysis
from lab.report.answer import answer_table
from lab.report.figures.files import png_of, svg_of
from lab.report.prose import TEXTS, drift_sentence, interaction_sentences
from lab.report.render import Section, markdown, page
from lab.report.store import store_table
from lab.report.tables import TextTable
from lab.report.waterfall import waterfall_table
from lab.results import run_folder
from lab.results.public import Public
from lab.results.run_folder import RunFolder
from lab.results.trial import RunJson, emulated
from lab.stats.file_rates import round_trips_per_file
from lab.stats.waterfall import fastest_cases

# What a spreadsheet may take for the beginning of a formula: of a cell, or after what ends one where cells are parted
# by semicolons, as in many countries, or by tabs. Full-width signs are taken too.
_FORMULA = r"(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])"
_FORMULA_FIRST, _FORMULA_LATER = re.compile(_FORMULA), re.compile(rf"([;\t\n]){_FORMULA}")


def write(folder: RunFolder, to: Path | None = None, shown: RunFolder | None = None) -> Path:
    """Write the report of a run into its folder, or into the folder ``to``, over an older one; report.html's path.

    ``shown`` is the run as readers see it: a copy without names unless the run itself is given.
    """
    own, folder = folder, shown or Public(folder)
    title, run = f"How fast is this share? {folder.text('name')}", Analysis(run_folder.load(folder.path))
    with _open_report(own, to) as report:
        with report.enter("figures") as place:
            drawings = _draw(run, place)
        report.replace(
            "table.csv",
            _plain(run.trials.frame).join(own_numbers.columns(run.trials.frame)).to_csv(index=False).encode(),
        )
        sections = _sections(run, folder.label)
        post = markdown(title, folder.run, run.trials, [*sections, _hosts(folder.run)])
        report.replace("post.md", post.encode())
        everything = [*sections, *_details(folder.run, run)]
        return report.replace("report.html", page(title, folder.run, run.trials, everything, drawings).encode())


def _open_report(folder: RunFolder, to: Path | None) -> Folder:
    if to is None:
        with Folder.at(folder.path) as run:
            return run.enter(folder.report_path.name)
    to.mkdir(parents=True, exist_ok=True)
    return Folder.at(to)


def _plain(trials: pd.DataFrame) -> pd.DataFrame:
    """Every trial, for a spreadsheet: JSON for what has parts, and no text that could be taken for a formula."""
    columns = {name: trials[name].map(json.dumps) for name in ("options", "effective")}
    plain = trials.assign(**columns)
    if (trials["files"] > 1).any():
        plain["round_trips_per_file"] = round_trips_per_file(trials)
    others = plain.select_dtypes(exclude=["number", "bool", "datetimetz"])
    texts = {str(name): plain[name].map(_no_formula) for name in others}
    return plain.assign(**texts).rename(columns=_no_formula)


def _no_formula(value: object) -> object:
    if not isinstance(value, str):
        return value
    later = _FORMULA_LATER.sub(r"\1'", printable(value))
    return f"'{later}" if _FORMULA_FIRST.match(later) else later


def _draw(run: Analysis, place: Folder) -> dict[str, bytes]:
    """Write every figure as SVG and PNG; the SVG of each, by name. The same run gives the same bytes."""
    drawings = {}
    for name, draw in figures.ALL.items():
        figure = draw(run)
        place.replace(f"{name}.png", png_of(figure))
        figure.set_layout_engine("none")  # all has its place by now
        drawings[name] = svg_of(figure, name)
        place.replace(f"{name}.svg", drawings[name])
    return drawings


def _sections(run: Analysis, path: str) -> list[Section]:
    together = f"{TEXTS['interactions']} {interaction_sentences(run.interactions)}"
    fastest = fastest_cases(run.waterfall)
    drifted = f"{TEXTS['timeline']} {drift_sentence(run.drift)}"
    return [
        Section("The answer", tables=[answer_table(run, path)]),
        Section("Throughput", TEXTS["throughput"], "throughput", [tables.comparison(run.summary)]),
        *_own_numbers(run),
        *_files(run),
        Section("From the disk to the tool", TEXTS["waterfall"], "waterfall", [waterfall_table(fastest)]),
        *_store(run),
        Section(
            "What limited it",
            f"{bottlenecks.count_limits(run.verdicts)} {TEXTS['limited']}",
            tables=[bottlenecks.limits_table(run.verdicts)],
        ),
        Section("What each setting changes", TEXTS["effects"], "effects", [tables.effects(run.effects)]),
        Section("Do settings act on each other?", together, "interactions", [tables.interactions(run.interactions)]),
        Section("What the variation goes with", TEXTS["shares"], "shares", [tables.shares(run.shares)]),
        Section("What it costs in CPU", TEXTS["cpu_cost"], "cpu_cost"),
        Section("Did anything drift?", drifted, "timeline"),
    ]


def _own_numbers(run: Analysis) -> list[Section]:
    """What tools measured of themselves, and what stores have room for, where there are any such."""
    measured = {
        "How long requests took": own_numbers.requests_table(run.some),
        "Which frames came late": own_numbers.frames_table(run.some),
        "What the file systems have room for": own_numbers.capacity_table(run.some),
    }
    return [Section(title, tables=[table]) for title, table in measured.items() if table]


def _files(run: Analysis) -> list[Section]:
    """What a tree comes to a file; nothing where one file was moved."""
    return [Section("A file", TEXTS["files"], tables=[tables.files(run.file_rates)])] if len(run.file_rates) else []


def _details(described: RunJson, run: Analysis) -> list[Section]:
    """What the page has beyond the post: every setting, what was void or failed and why, and what was asked for."""
    lost, keys = tables.lost(run.trials.frame), ("name", "started_at", "finished_at", "seed", "code_version", "schema")
    facts = {key: str(described.get(key, "–")) for key in keys}
    if replaced := described.get("replaced"):
        facts["replaced"] = ", ".join(f"{count} {kind}" for kind, count in replaced.items())
    facts["finished_at"] = str(
        described.get("finished_at") or "not finished: the run was cut short, or is still going on"
    )
    odd = evidence.remarks(run.some)
    return [
        Section("Every setting", tables=[tables.settings(run.summary)]),
        Section("The link itself (iperf3)", tables=[tables.settings(run.ceilings)]),
        Section("Void and failed trials", "" if lost.rows else "None.", tables=[lost] if lost.rows else []),
        Section("What both hosts counted", tables=[evidence.proof(run.some)]),
        Section("Remarks", TEXTS["remarks"] if odd else "None.", tables=[odd] if odd else []),
        _hosts(described),
        Section("The run", tables=[TextTable(["", ""], list(facts.items()), is_text=True)]),
    ]


def _store(run: Analysis) -> list[Section]:
    """The server's store by itself, where it was measured."""
    table = store_table(run.store_numbers)
    compared = [tables.effects(run.store_effects)] if len(run.store_effects) else []
    return [Section("The store by itself", TEXTS["store"], tables=[table, *compared])] if table else []


def _hosts(run: RunJson) -> Section:
    hosts = run.get("hosts", {})
    names = dict.fromkeys(name for facts in hosts.values() for name in facts)
    rows = [[name, *(str(facts.get(name, "–")) for facts in hosts.values())] for name in names]
    return Section(
        "The hosts", f"{emulated(run)}." if emulated(run) else "", tables=[TextTable(["", *hosts], rows, is_text=True)]
    )
