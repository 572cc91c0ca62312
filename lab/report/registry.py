"""The tables of a run, each by the name that `lab show --table` takes: one entry here is all that a new table needs.

The modules of the tables are imported when a table is made: pandas takes longer to load than help takes to print.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from lab.report import bottlenecks, own_numbers, tables
    from lab.report.analysis import Analysis
    from lab.report.tables import TextTable
    from lab.stats.statistics import PooledStatistics, Statistics
else:
    import importlib

    class _Later:
        def __init__(self, module: str):
            self._module = f"lab.report.{module}"

        def __getattr__(self, name: str) -> object:
            return getattr(importlib.import_module(self._module), name)

    bottlenecks, own_numbers, tables = map(_Later, ["bottlenecks", "own_numbers", "tables"])

S = TypeVar("S", contravariant=True)  # what a table is computed of


@dataclass(frozen=True)
class Table(Generic[S]):
    """One table: its heading, its words (None if there is nothing to say), and what `--json` has of it under ``key``.

    A table without rows is left out, unless ``is_shown_empty`` (of what is printed) or ``is_kept_empty`` (of JSON).
    """

    name: str
    title: str
    words: Callable[[S], TextTable | None]
    key: str = ""
    values: Callable[[S], object] | None = None
    is_shown_empty: bool = False
    is_kept_empty: bool = False


_CASES: tuple[Table[Statistics], ...] = (
    Table("speeds", "Throughput", lambda run: tables.comparison(run.summary),
          "summary", lambda run: tables.records(run.summary), is_shown_empty=True, is_kept_empty=True),
    Table("files", "A file", lambda run: tables.files(run.file_rates) if len(run.file_rates) else None,
          "files", lambda run: tables.records(run.file_rates), is_kept_empty=True),
    Table("clients", "What several clients get", lambda run: own_numbers.clients_table(run.some),
          "clients", lambda run: tables.records(own_numbers.clients(run.some))),
    Table("requests", "How long requests took", lambda run: own_numbers.requests_table(run.some),
          "requests", lambda run: tables.records(own_numbers.requests(run.some))),
    Table("frames", "Which frames came late", lambda run: own_numbers.frames_table(run.some),
          "frames", lambda run: tables.records(own_numbers.frames(run.some))),
    Table("capacity", "What the file systems have room for", lambda run: own_numbers.capacity_table(run.some),
          "capacity", lambda run: tables.records(own_numbers.capacity(run.some))),
    Table("effects", "What each setting changes", lambda run: tables.effects(run.effects),
          "effects", lambda run: tables.records(run.effects), is_shown_empty=True, is_kept_empty=True),
    Table("interactions", "Do settings act on each other?", lambda run: tables.interactions(run.interactions),
          "interactions", lambda run: tables.records(run.interactions), is_kept_empty=True),
    Table("shares", "What the variation goes with", lambda run: tables.shares(run.shares),
          "shares", lambda run: tables.shares_json(run.shares), is_kept_empty=True),
)  # fmt: skip
_LIMITS: Table[Analysis] = Table(
    "limits", "What limited it", lambda run: bottlenecks.limits_table(run.verdicts),
    "verdicts", lambda run: tables.records(run.verdicts), is_shown_empty=True, is_kept_empty=True,
)  # fmt: skip
_CEILINGS: tuple[Table[Statistics], ...] = (
    Table("settings", "Every setting", lambda run: tables.settings(run.summary), is_shown_empty=True),
    Table("ceilings", "The link itself (iperf3)", lambda run: tables.settings(run.ceilings),
          "ceilings", lambda run: tables.records(run.ceilings), is_shown_empty=True, is_kept_empty=True),
    Table("store", "The store by itself", lambda run: bottlenecks.store_table(run.store_numbers),
          "store", lambda run: tables.records(run.store_numbers)),
    Table("store-effects", "What the store by itself changes",
          lambda run: tables.effects(run.store_effects) if len(run.store_effects) else None,
          "store_effects", lambda run: tables.records(run.store_effects)),
    Table("waterfall", "From the disk to the tool", lambda run: bottlenecks.stages_table(run.waterfall), "waterfall",
          lambda run: tables.records(run.waterfall) if len(run.store_numbers) else [], is_shown_empty=True),
)  # fmt: skip
_RUN: tuple[Table[Analysis], ...] = (
    *_CASES, _LIMITS, *_CEILINGS,
    Table("counted", "What both hosts counted", lambda run: own_numbers.counted_table(run.some)),
    Table("remarks", "Remarks", lambda run: own_numbers.remarks(run.some)),
    Table("lost", "Void and failed trials", lambda run: tables.lost(run.trials.frame),
          "not_ok", lambda run: tables.records(tables.not_ok(run.trials.frame)), is_kept_empty=True),
)  # fmt: skip
_DATASET: tuple[Table[PooledStatistics], ...] = (
    *_CASES,
    Table("limits", _LIMITS.title, lambda runs: bottlenecks.limits_over_runs(runs), is_shown_empty=True),
    *_CEILINGS,
)
OF_RUN = {table.name: table for table in _RUN}
OF_DATASET = {table.name: table for table in _DATASET}
FULL = [*(table.name for table in _CASES), _LIMITS.name]  # the others repeat these trial by trial
