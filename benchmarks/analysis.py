"""Seconds that each part of the analysis takes, for a run of N invented trials: python benchmarks/analysis.py 1000000.

The run has 56 cases, or about as many as a second argument says. The numbers are invented: nothing here is a
measurement.
"""

import io
import itertools
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab import stats
from lab.design.factors import OPTIONS
from lab.report import figures
from lab.report.analysis import Analysis

Result = TypeVar("Result")
COMBINATIONS = [(name, tool) for name in ("afp", "nfs", "smb", "ssh") for tool in ("cp", "rsync")]
MORE = {
    "store": ["ram", "disk"], "server_sync": ["default", "always"], "server_cache": ["warm", "cold"],
    "placebo": ["none", "a", "b"],
}  # fmt: skip


def invented(count: int, wanted_cases: int) -> pd.DataFrame:
    """A frame as ``lab.results.run_folder.load`` makes it, with repeated words as categories."""
    varied: dict[str, list[Any]] = {
        "direction": ["write", "read"],
        "mtu": [1500, 9000],
        "tcp_space": ["default", 65536],
    }
    for name, levels in MORE.items():
        if 7 * np.prod([len(some) for some in varied.values()]) < wanted_cases:
            varied[name] = levels
    kept = [combination for combination in COMBINATIONS if combination != ("ssh", "cp")]
    cases = pd.DataFrame(
        [(*what, *levels) for what, *levels in itertools.product(kept, *varied.values())],
        columns=["protocol", "tool", *varied],
    )
    fixed = {"store": "ram", "workload": "file", **OPTIONS}
    cases = cases.assign(**{name: level for name, level in fixed.items() if name not in varied})
    cases["case_id"] = cases.astype(str).agg("-".join, axis=1)
    return _with_speeds(cases, count)


def _with_speeds(cases: pd.DataFrame, count: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    blocks = max(2, count // len(cases))
    order = np.argsort(rng.random((blocks, len(cases))), axis=1).ravel()
    frame = cases.iloc[order].reset_index(drop=True)
    for name in frame.columns.drop("mtu"):
        frame[name] = frame[name].astype("category")
    speed = 100 * np.exp(rng.normal(0, 0.02, len(frame)) + 0.03 * (frame["mtu"] == 9000))
    begun = pd.Timestamp("2030-01-02", tz="UTC").as_unit("us")
    seconds = pd.to_timedelta(np.arange(len(frame)) * 3.0, unit="s").as_unit("us")
    return frame.assign(
        block=np.repeat(np.arange(1, blocks + 1), len(cases)), position=np.tile(np.arange(1, len(cases) + 1), blocks),
        started_at=begun + seconds, anchor=False, size_bytes=2**29,
        status=pd.Categorical(np.where(rng.random(len(frame)) < 1e-4, "void", "ok")),
        MB_per_s=speed, share_of_ceiling=speed / 118, client_cpu_s_per_GB=rng.lognormal(0, 0.1, len(frame)),
        server_cpu_s_per_GB=rng.lognormal(0, 0.1, len(frame)),
    )  # fmt: skip


def timed(what: str, function: Callable[[], Result]) -> Result:
    """Run a function, print the seconds that it took, by the clock and of CPU, and return what it returned."""
    begun, cpu = time.perf_counter(), time.process_time()
    result = function()
    print(f"{time.perf_counter() - begun:7.3f} s {time.process_time() - cpu:7.3f} s CPU  {what}")
    return result


def main() -> None:
    """Time every part, once, on one frame."""
    count, cases = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 56
    trials = invented(count, cases)
    print(f"{len(trials)} invented trials: {trials['case_id'].nunique()} cases, {trials['block'].nunique()} blocks")
    drawn = timed("all of these", lambda: analyse(Analysis(trials)))
    speeds = stats.grid(trials)
    timed("wide_effects of all effects", lambda: stats.wide_effects(trials, stats.compared_factors(speeds), 0.01))
    for name, figure in drawn.items():
        timed(f"{name}.png", partial(figure.savefig, io.BytesIO()))


def analyse(run: Analysis) -> dict[str, Figure]:
    """Every part of the analysis, once, as a report has it; the figures."""
    for part in ("speeds", "summary", "ceilings", "effects", "interactions", "shares", "drift"):
        timed(part, partial(getattr, run, part))
    return {name: timed(f"figure {name}", partial(draw, run)) for name, draw in figures.ALL.items()}


if __name__ == "__main__":
    main()
