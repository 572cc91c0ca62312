"""A history as JSON values: runs, rows, levels, steps with what else changed, and the answer; null for no number."""

from dataclasses import asdict

import numpy as np

from lab.report.history import History, answer, judge_slower, notes
from lab.stats.speed_histories import TREND_DAYS, Change, SpeedHistory, Step


def history_json(history: History, slower_than: float | None) -> dict[str, object]:
    """The whole history; with ``slower_than`` also whether the newest run is slower by more than so many percent."""
    saved = history.saved
    whole: dict[str, object] = {
        "name": saved.name, "answer": answer(history), "notes": notes(history), "unreadable": list(saved.unreadable),
        "runs": [{"path": str(run.path), "started_at": run.begun.isoformat()} for run in saved.runs],
        "rows": [_row(history, row) for row in history.rows],
    }  # fmt: skip
    if slower_than is not None:
        is_met, sentences = judge_slower(history, slower_than)
        whole["fail_if"] = {"slower_than_pct": slower_than, "met": is_met, "why": sentences}
    return whole


def _row(history: History, row: SpeedHistory) -> dict[str, object]:
    return {
        **row.at, "n_runs": len(row.points), "p_adjusted": _number(row.p), "is_drift": row.is_drift,
        "between_runs_pct": _number(row.between_pct), "within_run_pct": _number(row.within_pct),
        f"trend_in_{TREND_DAYS}_days": _change(row.trend), "trend_over_all": _change(row.over_all),
        "newest": _change(row.newest) | {"reference_runs": _names(history, row, row.reference)},
        "levels": [
            {"median_MB_per_s": row.median_of(points), "runs": _names(history, row, points)}
            for points in map(row.level, range(len(row.begins)))
        ],
        "steps": [_step(history, row, step) for step in row.steps],
        "points": [
            {"run": history.saved.runs[point.run].path.name, "n": point.n,
             **{f"{name}_MB_per_s": _number(getattr(point, name)) for name in ("median", "low", "high")}}
            for point in row.points
        ],
    }  # fmt: skip


def _step(history: History, row: SpeedHistory, step: Step) -> dict[str, object]:
    before, after = _names(history, row, range(step.at - 1, step.at + 1))
    facts = [asdict(fact) for fact in history.causes(row, step)]
    return {"before": before, "after": after, **_change(step.change), "changed": facts}


def _names(history: History, row: SpeedHistory, points: range) -> list[str]:
    return [run.path.name for run in history.runs(row, points)]


def _change(change: Change) -> dict[str, object]:
    return {name: _number(value) for name, value in zip(("change_pct", "low_pct", "high_pct"), change, strict=True)}


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
