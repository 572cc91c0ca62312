"""A comparison as JSON values; null where there is no number."""

from __future__ import annotations

from typing import Any

from lab.report.compared.answer import answer
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.confounding import confounding
from lab.report.prose import CONFOUNDED
from lab.report.render import records
from lab.results.trial import emulated
from lab.stats import differing_facts
from lab.stats.several_runs import Versus


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """All of it. Two runs have the tables of B over A, and what differs, at the top, too."""
    whole: dict[str, Any] = {"warning": CONFOUNDED}
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


def _run(run: ComparedRun) -> dict[str, Any]:
    return {
        "letter": run.letter, "run": run.folder.label, "started_at": run.run.get("started_at"),
        "finished_at": run.run.get("finished_at"), "code_version": run.run.get("code_version"),
        "emulated": emulated(run.run) or None,
    }  # fmt: skip


def _versus(comparison: Comparison, other: ComparedRun, versus: Versus) -> dict[str, Any]:
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
