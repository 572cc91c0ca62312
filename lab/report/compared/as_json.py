"""A comparison as JSON values; null where there is no number."""

import pandas as pd

from lab.base.groups import grouped
from lab.report.compared import pairs_of_hosts
from lab.report.compared.answer import answer
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.pairs_of_hosts import PairsOfHosts
from lab.report.prose import CONFOUNDED
from lab.report.tables import records
from lab.results.trial import emulated
from lab.stats.over_pairs import LEAST_PAIRS
from lab.stats.two_runs import Versus, differing_facts


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """All of it. Two runs have the tables of B over A, and what differs, at the top, too."""
    whole: dict[str, object] = {"warning": CONFOUNDED}
    versus = [_versus(comparison, *compared) for compared in zip(comparison.others, comparison.versus, strict=True)]
    if len(versus) == 1:
        whole = {
            "a": comparison.base.folder.label, "b": comparison.others[0].folder.label, "warning": CONFOUNDED,
            "emulated": {run.letter.lower(): emulated(run.run) or None for run in comparison.runs},
            **{key: versus[0][key] for key in ("differences", "pooled", "cases")},
        }  # fmt: skip
    letters = [run.letter for run in comparison.runs]
    return whole | {
        "answer": answer(comparison), "confounding": confounding(comparison),
        "runs": [
            {"letter": run.letter, "run": run.folder.label, "started_at": run.run.get("started_at"),
             "finished_at": run.run.get("finished_at"), "code_version": run.run.get("code_version"),
             "emulated": emulated(run.run) or None}
            for run in comparison.runs
        ],
        "facts": [{"what": fact.name, **dict(zip(letters, fact.values, strict=True))} for fact in comparison.facts],
        "comparisons": versus,
    }  # fmt: skip


def _versus(comparison: Comparison, other: ComparedRun, versus: Versus) -> dict[str, object]:
    overall = records(versus.overall.drop(columns="cases"))
    # what the two run.json say differently, and the factors with other levels
    differing = [*differing_facts(comparison.base.run, other.run), *comparison.levels(other)]
    return {
        "base": comparison.base.letter, "run": other.letter, "n_cases": versus.n_cases,
        "cases_alone": dict(zip(("A", other.letter), versus.alone, strict=True)),
        "differences": [{"what": name, "a": mine, "b": its} for name, mine, its in differing],
        "overall": overall[0] if overall else None,
        "link": records(versus.link), "pooled": records(versus.pooled), "cases": records(versus.cases),
    }  # fmt: skip


def pairs_json(pairs: PairsOfHosts) -> dict[str, object]:
    """All of it: each effect and each speed with ``of_pairs``, the numbers of each pair."""
    table, names = pairs.table, [pair.name for pair in pairs.pairs]
    return {
        "answer": pairs_of_hosts.answer(pairs), "confounding": pairs_of_hosts.confounded(pairs),
        "has_intervals": len(names) >= LEAST_PAIRS,
        "pairs": [
            {"pair": pair.name, "runs": [run.folder.label for run in pair.runs],
             "emulated": next(filter(None, (emulated(run.run) for run in pair.runs)), None)}
            for pair in pairs.pairs
        ],
        "facts": [
            {"what": fact.name, "values": dict(zip(names, fact.values, strict=True)), "pairs_a_value": fact.counts}
            for fact in pairs.facts
        ],
        "effects": _with_pairs(names, table.effects, table.effects_of_pairs),
        "speeds": _with_pairs(names, table.speeds, table.speeds_of_pairs),
    }  # fmt: skip


def _with_pairs(names: list[str], table: pd.DataFrame, of_pairs: pd.DataFrame) -> list[dict[str, object]]:
    named = [{**numbers, "pair": names[int(str(numbers["pair"]))]} for numbers in records(of_pairs)]
    by_row = grouped((numbers.pop("row"), numbers) for numbers in named)
    return [row | {"of_pairs": by_row.get(place, [])} for place, row in enumerate(records(table))]
