"""What to do after a run: one step that would tell most, with a command that can be copied."""

import re
import shlex
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import listing
from lab.design.stopping import half_width_factor
from lab.report.findings import Point, half_width
from lab.results.set_aside import ASIDE
from lab.results.trial import RunJson

ENDED = "complete"  # what run.json says of a run that did all that its sweep asks for
MANY_LOST = 0.1  # of the trials: with more, what went wrong is the first thing to look at
WORTH_PERCENT = 10  # of a TCP buffer: with less, the limit is elsewhere by now
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]{1,100}")
MORE_BLOCKS = 2  # times as many: the interval of a mean becomes narrower by the root of it, and by the smaller t


def next_step(trials: stats.Encoded, speeds: stats.Grid, effects: pd.DataFrame, path: str) -> Point:
    """The step: go on, look at what was lost or left out, measure more, or read the rest."""
    run, command = trials.frame.attrs.get("run", {}), shlex.quote(path)
    lost = share_lost(trials)
    if not run.get("finished_at") or run.get("ended", ENDED) != ENDED:
        steps = [f"the run is not complete; `lab run --resume {command}` goes on with it"]
    elif lost > MANY_LOST:
        why = "no trial counts" if lost == 1 else "trials do not count"
        steps = [f"see why {why}: `lab show {command} --table lost`"]
    elif closed := run.get("closed"):
        what = f"{listing(closed, 3)} was left out: `lab show {command} --full` says what to do"
        steps = [f"{what}, then `lab run {_sweep(run)}`"]
    else:
        steps = [f"{step}, then `lab run {_sweep(run)}`" for step in _measure_more(speeds, effects)[:1]]
    return Point("Next", [*steps, f"the rest: `lab show {command} --full`, figures: `lab report {command}`"])


def share_lost(trials: stats.Encoded) -> float:
    """The share of transfers that do not count; a block that was set aside has been measured again, and is none."""
    transfers = stats.transfers(trials)
    transfers = transfers[~transfers["trial_id"].str.contains(ASIDE, regex=False)]
    return float((transfers["status"] != "ok").mean()) if len(transfers) else 1.0


def _sweep(run: RunJson) -> str:
    """The sweep file to run again, as far as its path is a plain one: that of a foreign run may be anything."""
    path = run.get("sweep_file", "")
    return path if PLAIN_PATH.fullmatch(path) else "SWEEP"


def _measure_more(speeds: stats.Grid, effects: pd.DataFrame) -> list[str]:
    """What to change in the sweep, what promises most first."""
    blocks = len(speeds.blocks)
    if blocks < stats.INTERVAL_BLOCKS:
        return [f"measure more: set blocks = {2 * stats.INTERVAL_BLOCKS} in the sweep"]
    rows = stats.rows_of(effects)
    return [*_larger_buffers(rows, speeds), *_more_blocks(rows, blocks)]


def _larger_buffers(effects: Sequence[stats.Row], speeds: stats.Grid) -> list[str]:
    """Where the largest TCP buffer that was tried is clearly faster, a larger one may be faster still."""
    largest = speeds.levels["tcp_space"][-1]
    for row in effects:
        is_largest = row["factor"] == "tcp_space" and row["level"] == largest
        if is_largest and row["established"] and row["change_pct"] > WORTH_PERCENT:
            return [f"add a TCP buffer above {stats.level_label('tcp_space', largest)} to the sweep (tcp_space)"]
    return []


def _more_blocks(effects: Sequence[stats.Row], blocks: int) -> list[str]:
    """More blocks, where an effect is not established: how many, and how small an effect they would show."""
    widths = [half_width(row) for row in effects if not row["established"] and row["n_blocks"] > 1]
    if not widths or not np.isfinite(max(widths)):
        return []
    more = MORE_BLOCKS * blocks
    narrower = half_width_factor(more) / half_width_factor(blocks)
    width = 100 * np.expm1(np.log1p(max(widths) / 100) * narrower)
    return [f"to see effects from some ±{width:.{0 if width >= 10 else 1}f} % on, set blocks = {more} in the sweep"]
