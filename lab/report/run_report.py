"""A run as something to show: report.html (one file, no network), post.md, figures, table.csv, terminal tables.

The same tables and texts are rendered for HTML, Markdown and the terminal, so that they cannot disagree. Whatever came
from a host or a file is escaped.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

import matplotlib
import pandas as pd
from rich.console import RenderableType
from rich.text import Text

from lab import stats
from lab.report import bottlenecks, evidence, figures, tables
from lab.report.prose import TEXTS, drift_sentence, interaction_sentences
from lab.report.render import Section, markdown, page, records, rich_table
from lab.report.tables import TextTable
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import RunJson, emulated
from lab.stats import bottleneck


def write(folder: RunFolder) -> Path:
    """Write the report of a run into its folder, over an older one; the path of report.html."""
    title, trials = f"How fast is this share? {folder.text('name')}", stats.encode(run_folder.load(folder.path))
    drawings = _draw(trials, folder.report_path / "figures")
    _plain(trials.frame).to_csv(folder.report_path / "table.csv", index=False)
    sections = _sections(trials)
    post = markdown(title, folder.run, trials, [*sections, _hosts(folder.run)])
    (folder.report_path / "post.md").write_text(post, encoding="utf-8")
    file = folder.report_path / "report.html"
    everything = [*sections, *_details(folder.run, trials)]
    file.write_text(page(title, folder.run, trials, everything, drawings), encoding="utf-8")
    return file


def _plain(trials: pd.DataFrame) -> pd.DataFrame:
    """Every trial, for a spreadsheet: JSON for what has parts, and no text that could be taken for a formula."""
    columns = {name: trials[name].map(json.dumps) for name in ("options", "effective")}
    columns |= {str(name): trials[name].map(_no_formula) for name in trials.select_dtypes(["str", "category"])}
    return trials.assign(**columns)


def _no_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def terminal_tables(trials: stats.Trials) -> list[RenderableType]:
    """For the terminal: medians, effects, interactions and shares of variation as far as there are any, and drift."""
    trials = stats.encode(trials)
    speeds = stats.grid(trials)
    effects, interactions, shares = stats.effects(speeds), stats.interactions(speeds), stats.shares(speeds)
    shown = [tables.comparison(stats.summary(trials)), tables.effects(effects)]
    shown += [tables.interactions(interactions)] if len(interactions) else []
    shown += [tables.shares(shares)] if len(shares.table) else []
    shown.append(bottlenecks.limits_table(bottleneck.verdicts(evidence.some_of_each_case(trials))))
    where = stats.provenance(trials)
    return [*(rich_table(table, where) for table in shown), Text(drift_sentence(stats.drift(trials)))]


def show_json(folder: RunFolder) -> dict[str, object]:
    """A run as JSON values: run.json, counts, and the tables as lists of records; null where there is no number."""
    trials = stats.encode(run_folder.load(folder.path))
    speeds = stats.grid(trials)
    shares, drift = stats.shares(speeds), stats.drift(trials)
    status = stats.transfers(trials)["status"]
    return {
        "path": str(folder.path), "run": folder.run,
        "counts": {name: int((status == name).sum()) for name in ("ok", "void", "failed")},
        "summary": records(stats.summary(trials)), "effects": records(stats.effects(speeds)),
        "interactions": records(stats.interactions(speeds)),
        "shares": {"blocks_used": shares.used, "blocks": shares.blocks, "terms": records(shares.table)},
        "verdicts": records(bottleneck.verdicts(evidence.some_of_each_case(trials))),
        "drift": records(pd.DataFrame([asdict(drift)]))[0],
        "ceilings": records(stats.ceilings(trials)), "not_ok": records(_not_ok(trials.frame)),
    }  # fmt: skip


def _draw(trials: stats.Encoded, directory: Path) -> dict[str, bytes]:
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


def _sections(trials: stats.Encoded) -> list[Section]:
    speeds, summary = stats.grid(trials), stats.summary(trials)
    effects, interactions, shares = stats.effects(speeds), stats.interactions(speeds), stats.shares(speeds)
    together = f"{TEXTS['interactions']} {interaction_sentences(interactions)}"
    drifted = f"{TEXTS['timeline']} {drift_sentence(stats.drift(trials))}"
    limits = bottleneck.verdicts(evidence.some_of_each_case(trials))
    return [
        Section("Throughput", _fastest(summary) + TEXTS["throughput"], "throughput", [tables.comparison(summary)]),
        Section(
            "What limited it",
            f"{bottlenecks.count_limits(limits)} {TEXTS['limited']}",
            tables=[bottlenecks.limits_table(limits)],
        ),
        Section("What each setting changes", TEXTS["effects"], "effects", [tables.effects(effects)]),
        Section("Do settings act on each other?", together, "interactions", [tables.interactions(interactions)]),
        Section("What the variation goes with", TEXTS["shares"], "shares", [tables.shares(shares)]),
        Section("What it costs in CPU", TEXTS["cpu_cost"], "cpu_cost"),
        Section("Did anything drift?", drifted, "timeline"),
    ]


def _details(run: RunJson, trials: stats.Encoded) -> list[Section]:
    """What the page has beyond the post: every setting, what was void or failed and why, and what was asked for."""
    lost, keys = _not_ok(trials.frame), ("name", "started_at", "finished_at", "seed", "code_version", "schema")
    facts = {key: str(run.get(key, "–")) for key in keys}
    facts["finished_at"] = str(run.get("finished_at") or "not finished: the run was cut short, or is still going on")
    some = evidence.some_of_each_case(trials)
    odd = evidence.remarks(some)
    lines = TextTable(list(lost.columns), lost.astype(str).to_numpy().tolist(), is_text=True)
    return [
        Section("Every setting", tables=[tables.settings(stats.summary(trials))]),
        Section("The link itself (iperf3)", tables=[tables.settings(stats.ceilings(trials))]),
        Section("Void and failed trials", "" if len(lost) else "None.", tables=[lines] if len(lost) else []),
        Section("What both hosts counted", tables=[evidence.proof(some)]),
        Section("Remarks", TEXTS["remarks"] if odd else "None.", tables=[odd] if odd else []),
        _hosts(run),
        Section("The run", tables=[TextTable(["", ""], list(facts.items()), is_text=True)]),
    ]


def _hosts(run: RunJson) -> Section:
    hosts = run.get("hosts", {})
    names = dict.fromkeys(name for facts in hosts.values() for name in facts)
    rows = [[name, *(str(facts.get(name, "–")) for facts in hosts.values())] for name in names]
    return Section(
        "The hosts", f"{emulated(run)}." if emulated(run) else "", tables=[TextTable(["", *hosts], rows, is_text=True)]
    )


def _not_ok(trials: pd.DataFrame) -> pd.DataFrame:
    return trials.loc[trials["status"] != "ok", ["trial_id", "case_id", "block", "status", "reason"]]


def _fastest(summary: pd.DataFrame) -> str:
    """One sentence a direction: the setting with the highest median."""
    sentences = []
    for way, rows in summary.dropna(subset="median_MB_per_s").groupby("direction", sort=False, observed=True):
        best = rows.nlargest(1, "median_MB_per_s").to_dict("records")[0]
        speed, share, n = tables.speed_cells(best)
        what = f"{best['protocol'].upper()} {best['tool']} at {tables.setting(best)}"
        sentences.append(f"Fastest {way}: {what}, median {speed} MB/s, {share} of the ceiling, n = {n}. ")
    return "".join(sentences)
