"""A comparison as JSON values; null where there is no number."""

import pandas as pd

from lab.report.compared.answer import answer
from lab.report.compared.comparison import ComparedRun, Comparison, PairsOfHosts
from lab.report.compared.confounding import confounding
from lab.report.compared.pairs_answer import answer as pairs_answer
from lab.report.compared.pairs_answer import confounded
from lab.report.prose import CONFOUNDED
from lab.report.tables import records
from lab.results.trial import emulated
from lab.stats.over_pairs import LEAST_PAIRS
from lab.stats.two_runs import Versus, differing_facts


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """All of it. Two runs have the tables of B over A, and what differs, at the top, too."""
    whole: dict[str, object] = {"warning": CONFOUNDED}
    if len(comparison.others) == 1:
        (other,), (versus,) = comparison.others, comparison.versus
        whole = {
            "a": comparison.base.folder.label, "b": other.folder.label, "warning": CONFOUNDED,
            "emulated": {run.letter.lower(): emulated(run.run) or None for run in comparison.runs},
            "differences": _differences(comparison, other),
            "pooled": records(versus.pooled), "cases": records(versus.cases),
        }  # fmt: skip
    return whole | {
        "answer": answer(comparison), "confounding": confounding(comparison),
        "runs": [_run(run) for run in comparison.runs],
        "facts": [
            {"what": fact.name, **dict(zip((run.letter for run in comparison.runs), fact.values, strict=True))}
            for fact in comparison.facts
        ],
        "comparisons": [
            _versus(comparison, other, versus)
            for other, versus in zip(comparison.others, comparison.versus, strict=True)
        ],
    }  # fmt: skip


def _run(run: ComparedRun) -> dict[str, object]:
    return {
        "letter": run.letter, "run": run.folder.label, "started_at": run.run.get("started_at"),
        "finished_at": run.run.get("finished_at"), "code_version": run.run.get("code_version"),
        "emulated": emulated(run.run) or None,
    }  # fmt: skip


def _versus(comparison: Comparison, other: ComparedRun, versus: Versus) -> dict[str, object]:
    overall = records(versus.overall.drop(columns="cases"))
    return {
        "base": comparison.base.letter, "run": other.letter, "n_cases": versus.n_cases,
        "cases_alone": dict(zip(("A", other.letter), versus.alone, strict=True)),
        "differences": _differences(comparison, other), "overall": overall[0] if overall else None,
        "link": records(versus.link), "pooled": records(versus.pooled), "cases": records(versus.cases),
    }  # fmt: skip


def _differences(comparison: Comparison, other: ComparedRun) -> list[dict[str, str]]:
    """What two run.json say differently, and the factors with other levels: what it is, in A, and in the other."""
    differing = [*differing_facts(comparison.base.run, other.run), *comparison.levels(other)]
    return [dict(zip(("what", "a", "b"), difference, strict=True)) for difference in differing]


def pairs_json(pairs: PairsOfHosts) -> dict[str, object]:
    """All of it: each effect and each speed with ``of_pairs``, the numbers of each pair."""
    table = pairs.table
    return {
        "answer": pairs_answer(pairs), "confounding": confounded(pairs),
        "has_intervals": len(pairs.pairs) >= LEAST_PAIRS,
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
