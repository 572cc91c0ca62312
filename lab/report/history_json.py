"""A history as JSON values: runs, rows, levels, steps with what else changed, and the answer; null for no number."""

from dataclasses import asdict

import numpy as np

from lab.report.history import History, answer, judge_slower, notes
from lab.stats.courses import TREND_DAYS, Change, Course, Step


def history_json(history: History, slower_than: float | None) -> dict[str, object]:
    """The whole history; with ``slower_than`` also whether the newest run is slower by more than so many percent."""
    saved = history.saved
    whole: dict[str, object] = {
        "name": saved.name, "answer": answer(history), "notes": notes(history), "unreadable": list(saved.unreadable),
        "runs": [{"path": str(run.path), "started_at": run.begun.isoformat()} for run in saved.runs],
        "rows": [_row(history, course) for course in history.courses],
    }  # fmt: skip
    if slower_than is not None:
        is_met, sentences = judge_slower(history, slower_than)
        whole["fail_if"] = {"slower_than_pct": slower_than, "met": is_met, "why": sentences}
    return whole


def _row(history: History, course: Course) -> dict[str, object]:
    return {
        **course.at, "n_runs": len(course.points), "p_adjusted": _number(course.p), "is_drift": course.is_drift,
        "between_runs_pct": _number(course.between_pct), "within_run_pct": _number(course.within_pct),
        f"trend_in_{TREND_DAYS}_days": _change(course.trend), "trend_over_all": _change(course.over_all),
        "newest": _change(course.newest) | {"reference_runs": _names(history, course, course.reference)},
        "levels": [
            {"median_MB_per_s": course.median_of(points), "runs": _names(history, course, points)}
            for points in map(course.level, range(len(course.begins)))
        ],
        "steps": [_step(history, course, step) for step in course.steps],
        "points": [
            {"run": history.saved.runs[point.run].path.name, "n": point.n,
             **{f"{name}_MB_per_s": _number(getattr(point, name)) for name in ("median", "low", "high")}}
            for point in course.points
        ],
    }  # fmt: skip


def _step(history: History, course: Course, step: Step) -> dict[str, object]:
    before, after = _names(history, course, range(step.at - 1, step.at + 1))
    facts = [asdict(fact) for fact in history.causes(course, step)]
    return {"before": before, "after": after, **_change(step.change), "changed": facts}


def _names(history: History, course: Course, points: range) -> list[str]:
    return [run.path.name for run in history.runs(course, points)]


def _change(change: Change) -> dict[str, object]:
    return {name: _number(value) for name, value in zip(("change_pct", "low_pct", "high_pct"), change, strict=True)}


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
