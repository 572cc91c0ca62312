"""Single runs of a dataset, each of which fits into memory: as frames, over one another, and as histories."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
import pandas as pd

from lab.base.errors import BadInput
from lab.base.untrusted import listing
from lab.dataset.engine import BYTES_PER_S, Engine, escape_paths, texts
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.dataset.register import AGAIN, StoredRun
from lab.dataset.sweep_trials import levels_of
from lab.results.trial import read_time
from lab.stats.factors import POOLED
from lab.stats.intervals import Floats, sort_by_group
from lab.stats.speed_histories import Key, Point, SpeedHistory, point_of, speed_histories_of
from lab.stats.two_runs import Versus, compare_all


def find(dataset: Dataset, name: str) -> StoredRun:
    """The run with this id, or whose id begins so. Raises BadInput if there is none, or several."""
    runs = dataset.register.runs
    if name in runs:
        return runs[name]
    matches = [run_id for run_id in runs if run_id.startswith(name)]
    if len(matches) == 1:
        return runs[matches[0]]
    problem = f"several runs begin so: {listing(matches)}" if matches else f"no run of {dataset.path} begins so"
    raise BadInput(f"{name}: {problem}", f"the ids of all runs are in {dataset.path / 'register.jsonl'}")


def run_frame(engine: Engine, dataset: Dataset, run: StoredRun) -> pd.DataFrame:
    """The trials of a run, with the columns of :func:`lab.results.run_folder.load` that comparisons read."""
    of_sweep = [other for other in dataset.register.runs.values() if other.sweep == run.sweep]
    first = sum(earlier.blocks for earlier in of_sweep[: of_sweep.index(run)])
    end = first + run.blocks
    files = dataset.register.of_sweep(run.sweep)
    holding = [file for file in files if file.first_block < end and first < file.first_block + file.blocks]
    columns = engine.numbers(
        f"SELECT case_number, block_number - ? + 1 AS block, {texts('status')}, anchor, size_bytes, elapsed_s, "
        f"{BYTES_PER_S} AS rate FROM read_parquet(?) "
        "WHERE block_number >= ? AND block_number < ? ORDER BY block_number, case_number",
        [first, escape_paths([dataset.check(file) for file in holding]), first, end],
    )
    case = np.ma.filled(columns.pop("case_number"), -1)
    if len(case) != run.trials or not (case.min() >= 0 and case.max() < len(dataset.register.cases)):
        raise BadInput(f"{dataset.path}: run {run.run_id} has other trials than when it was added", AGAIN)
    rate = np.ma.filled(columns.pop("rate").astype(float), np.nan)
    of_run, place = np.unique(case, return_inverse=True)
    levels = pd.DataFrame([levels_of(dataset, number, run.options) for number in of_run])
    frame = levels.iloc[place].reset_index(drop=True)
    elapsed_s = np.ma.filled(columns.pop("elapsed_s").astype(float), np.nan)
    plain = {name: np.ma.getdata(column) for name, column in columns.items()}
    return frame.assign(**plain, elapsed_s=elapsed_s, bytes_per_s=rate, MB_per_s=rate / 1e6)


def compare_runs(engine: Engine, dataset: Dataset, named: Sequence[str]) -> tuple[list[StoredRun], list[Versus]]:
    """The runs, and every other run over the first, as in `lab compare`. Raises BadInput."""
    runs = [find(dataset, name) for name in named]
    if len({run.run_id for run in runs}) < len(runs):
        raise BadInput("a run is named twice", "name different runs")
    base, *others = (run_frame(engine, dataset, run) for run in runs)
    return runs, compare_all(base, others)


def speed_histories_of_runs(
    engine: Engine, dataset: Dataset, name: str
) -> tuple[list[tuple[StoredRun, datetime]], list[SpeedHistory]]:
    """The runs saved as ``name`` with start times, the oldest first, and their histories. Raises BadInput if none."""
    stored = dataset.register.runs.values()
    chosen = [(run, _begun(dataset, run)) for run in stored if run.saved_as == name]
    if not chosen:
        names = listing(sorted({run.saved_as for run in stored if run.saved_as})) or "none"
        message = f"{dataset.path}: holds no run that was saved as {name}; the names there are {names}"
        raise BadInput(message, f"`lab measure TARGET --save {name}` makes one, and `lab dataset add` adds it")
    chosen.sort(key=lambda run: (run[1], run[0].run_id))
    place = {run.run_id: number for number, (run, _) in enumerate(chosen)}
    rows: dict[Key, list[Point]] = {}
    for sweep in dict.fromkeys(run.sweep for run, _ in chosen):
        for run_id, key, speeds in _speeds(Pooled(engine, dataset, sweep)):
            if run_id in place:
                rows.setdefault(key, []).append(point_of(place[run_id], speeds))
    in_order = {key: sorted(points, key=lambda point: point.run) for key, points in rows.items()}
    return chosen, speed_histories_of(in_order, [begun for _, begun in chosen])


def _begun(dataset: Dataset, run: StoredRun) -> datetime:
    try:
        return read_time(run.started_at)
    except ValueError as error:
        raise BadInput(f"{dataset.path}: run {run.run_id}: started_at: {error}", AGAIN) from error


def _speeds(sweep: Pooled) -> Iterator[tuple[str, Key, Floats]]:
    """The speeds of the good trials of each run, by protocol, tool and direction."""
    ends = np.cumsum([run.blocks for run in sweep.runs])
    cells = sweep.encoded.cases
    columns = [[str(cells.levels[name][code]) for code in cells.code(name)] for name in POOLED]
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
