"""Several pairs of hosts as JSON values; null where there is no number."""

from __future__ import annotations

from typing import Any

import pandas as pd

from lab.report.compared.pairs_answer import answer, confounded
from lab.report.compared.pairs_of_hosts import PairsOfHosts
from lab.report.render import records
from lab.results.trial import emulated
from lab.stats.random_effects import LEAST_PAIRS


def pairs_json(pairs: PairsOfHosts) -> dict[str, Any]:
    """All of it: each effect and each speed with ``of_pairs``, the numbers of each pair."""
    table = pairs.table
    return {
        "answer": answer(pairs), "confounding": confounded(pairs), "has_intervals": len(pairs.pairs) >= LEAST_PAIRS,
        "pairs": [
            {"pair": pair.name, "runs": [run.folder.label for run in pair.runs],
             "emulated": next(filter(None, (emulated(run.run) for run in pair.runs)), None)}
            for pair in pairs.pairs
        ],
        "facts": [
            {"what": fact.name, "values": dict(zip((pair.name for pair in pairs.pairs), fact.values, strict=True)),
             "pairs_a_value": fact.pairs}
            for fact in pairs.facts
        ],
        "effects": _with_pairs(pairs, table.effects, table.effects_of_pairs),
        "speeds": _with_pairs(pairs, table.speeds, table.speeds_of_pairs),
    }  # fmt: skip


def _with_pairs(pairs: PairsOfHosts, table: pd.DataFrame, of_pairs: pd.DataFrame) -> list[dict[str, object]]:
    by_row: dict[object, list[dict[str, object]]] = {}
    for one in records(of_pairs):
        row, place = one.pop("row"), one.pop("pair")
        by_row.setdefault(row, []).append({"pair": pairs.pairs[int(str(place))].name, **one})
    return [row | {"of_pairs": by_row.get(place, [])} for place, row in enumerate(records(table))]
