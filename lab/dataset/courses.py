"""The course of a share's speed over the runs of a dataset: one number a run, as :mod:`lab.stats.history` takes it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from lab.base.errors import BadInput
from lab.base.untrusted import listing
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.dataset.register import AGAIN, StoredRun
from lab.results.trial import read_time
from lab.stats.factors import POOLED
from lab.stats.history import Course, Key, Point, courses_of, point_of
from lab.stats.intervals import Floats, sort_by_group


def courses_of_runs(
    engine: Engine, dataset: Dataset, name: str
) -> tuple[list[tuple[StoredRun, datetime]], list[Course]]:
    """The runs saved as ``name`` with the time when each began, the oldest first, and the courses of their rows.

    Raises BadInput where there is none. Of the trials some files at a time are in memory.
    """
    stored = dataset.register.runs.values()
    chosen = [(run, _begun(dataset, run)) for run in stored if run.saved_as == name]
    if not chosen:
        names = listing(sorted({run.saved_as for run in stored if run.saved_as})) or "none"
        message = f"{dataset.path}: holds no run that was saved as {name}; the names there are {names}"
        raise BadInput(message, f"`lab measure TARGET --save {name}` makes one, and `lab dataset add` adds it")
    chosen.sort(key=lambda one: (one[1], one[0].run_id))
    place = {run.run_id: number for number, (run, _) in enumerate(chosen)}
    rows: dict[Key, list[Point]] = {}
    for sweep in dict.fromkeys(run.sweep for run, _ in chosen):
        for run_id, key, speeds in _speeds(Pooled(engine, dataset, sweep)):
            if run_id in place:
                rows.setdefault(key, []).append(point_of(place[run_id], speeds))
    in_order = {key: sorted(points, key=lambda point: point.run) for key, points in rows.items()}
    return chosen, courses_of(in_order, [begun for _, begun in chosen])


def _begun(dataset: Dataset, run: StoredRun) -> datetime:
    try:
        return read_time(run.started_at)
    except ValueError as error:
        raise BadInput(f"{dataset.path}: run {run.run_id}: started_at: {error}", AGAIN) from error


def _speeds(sweep: Pooled) -> Iterator[tuple[str, Key, Floats]]:
    """The speeds of the good trials of each run, by protocol, tool and direction."""
    ends = np.cumsum([run.blocks for run in sweep.runs])
    columns = [[str(sweep.cells.levels[name][code]) for code in sweep.cells.code(name)] for name in POOLED]
    of_cell = list(zip(*columns, strict=True))
    keys = list(dict.fromkeys(of_cell))
    key_of_cell = np.array([keys.index(key) for key in of_cell])
    waiting: dict[tuple[int, int], list[Floats]] = {}
    for part in sweep.parts():
        good = part.speed > 0
        run = np.searchsorted(ends, part.block[good], side="right")
        first = int(run.min(initial=len(ends)))
        group = (run - first) * len(keys) + key_of_cell[part.cell[good]]
        for number, speeds in enumerate(sort_by_group(group, part.speed[good], int(group.max(initial=-1)) + 1)):
            if len(speeds):
                more, key = divmod(number, len(keys))
                waiting.setdefault((first + more, key), []).append(speeds)
        finished = int(np.searchsorted(ends, part.first + part.blocks, side="right"))
        for place in [place for place in waiting if place[0] < finished]:
            yield sweep.runs[place[0]].run_id, keys[place[1]], np.concatenate(waiting.pop(place))
