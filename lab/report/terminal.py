"""A run in the terminal: its tables, each by a name, and all of it as JSON values.

Nothing here draws: matplotlib takes longer to load than a table takes to make.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

import pandas as pd
from rich.console import RenderableType
from rich.text import Text

from lab import stats
from lab.base.untrusted import one_line
from lab.report import bottlenecks, evidence, own_numbers, tables
from lab.report.analysis import Analysis, Computed, Run, analyse
from lab.report.answer import answer
from lab.report.prose import about_hosts, drift_sentence, not_measured
from lab.report.render import records, rich_table
from lab.report.several_clients import clients, clients_table
from lab.report.store import store_table
from lab.report.tables import TextTable
from lab.report.waterfall import waterfall_table
from lab.results import run_folder
from lab.results.run_folder import RunFolder

OF_MANY: dict[str, Callable[[Computed], TextTable | None]] = {
    "speeds": lambda run: tables.comparison(run.summary),
    "files": lambda run: tables.files(run.file_rates) if len(run.file_rates) else None,
    "clients": lambda run: clients_table(run.some),
    "requests": lambda run: own_numbers.requests_table(run.some),
    "frames": lambda run: own_numbers.frames_table(run.some),
    "capacity": lambda run: own_numbers.capacity_table(run.some),
    "effects": lambda run: tables.effects(run.effects),
    "interactions": lambda run: tables.interactions(run.interactions) if len(run.interactions) else None,
    "shares": lambda run: tables.shares(run.shares) if len(run.shares.table) else None,
    "settings": lambda run: tables.settings(run.summary),
    "ceilings": lambda run: tables.settings(run.ceilings),
    "store": lambda run: store_table(run.store_numbers),
    "store-effects": lambda run: tables.effects(run.store_effects) if len(run.store_effects) else None,
    "waterfall": lambda run: waterfall_table(run.waterfall),
}  # by the name that `lab show --table` takes: those that many runs have at once, too
TABLES: dict[str, Callable[[Analysis], TextTable | None]] = {
    **OF_MANY,
    "limits": lambda run: bottlenecks.limits_table(run.verdicts),
    "counted": lambda run: evidence.proof(run.some),
    "remarks": lambda run: evidence.remarks(run.some),
    "lost": lambda run: tables.lost(run.trials.frame),
}
FULL = (
    "speeds", "files", "clients", "requests", "frames", "capacity", "effects", "interactions", "shares", "limits",
)  # fmt: skip  # the others repeat them trial by trial


def terminal_tables(run: Run, names: Sequence[str] = FULL) -> list[RenderableType]:
    """The named tables for the terminal, those that have anything.

    All of them stand between what has to be known of the hosts and a sentence on drift.
    """
    run = analyse(run)
    where = stats.provenance(run.trials)
    shown: list[RenderableType] = [
        rich_table(table, where)
        for name in names
        if (table := TABLES[name](run)) is not None and (table.rows or names == FULL)
    ]
    if names != FULL:
        return shown
    about = run.trials.frame.attrs.get("run", {})
    head = filter(None, [about_hosts(about), *not_measured(about)])
    return [*(Text(one_line(line)) for line in head), *shown, Text(drift_sentence(run.drift))]


def show_json(folder: RunFolder) -> dict[str, object]:
    """A run as JSON values: run.json, counts, and the tables as lists of records; null where there is no number."""
    run = Analysis(run_folder.load(folder.path))
    trials = run.trials
    status = stats.transfers(trials)["status"]
    return {
        "path": folder.label, "run": folder.run, "answer": answer(run, folder.label),
        "counts": {name: int((status == name).sum()) for name in ("ok", "void", "failed")},
        "summary": records(run.summary), "files": records(run.file_rates), "effects": records(run.effects),
        "interactions": records(run.interactions), "shares": shares_json(run),
        "verdicts": records(run.verdicts), "drift": records(pd.DataFrame([asdict(run.drift)]))[0],
        "ceilings": records(run.ceilings), "not_ok": records(tables.not_ok(trials.frame)), **own_numbers_json(run),
    }  # fmt: skip


def shares_json(run: Computed) -> dict[str, object]:
    """The shares of the sum of squares, and of how many blocks they are."""
    return {"blocks_used": run.shares.used, "blocks": run.shares.blocks, "terms": records(run.shares.table)}


def own_numbers_json(run: Computed) -> dict[str, object]:
    """What tools measured of themselves and of the store by itself, and what stores have room for, where any did."""
    ways = {
        "clients": clients,
        "requests": own_numbers.requests,
        "frames": own_numbers.frames,
        "capacity": own_numbers.capacity,
    }
    measured = {name: table_of(run.some) for name, table_of in ways.items()}
    measured["store"], measured["store_effects"] = run.store_numbers, run.store_effects
    measured["waterfall"] = run.waterfall if len(run.store_numbers) else pd.DataFrame()
    return {name: records(table) for name, table in measured.items() if len(table)}
