"""What the intervals of a run of few blocks cover, how wide they are, and how often a star is false, by simulation.

python benchmarks/intervals.py [--runs N] [--seed N] [--blocks N ...]. The design is that of the demo: NFS and SMB by cp
and rsync, rsync over SSH, both directions, two MTUs and two TCP buffers, 40 cases a block. The TCP buffer and the tool
have an effect, SSH is slower; MTU and NFS against SMB have none, and a star there is false. A line is a scenario of
noise: coverage and median half-width of the plain and of the moderated interval, in overall rows and in the rows below;
the share of runs with a false star, the standard error of that, and the share of true effects that have a star.
"""

import argparse
import gzip
import itertools
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.results import run_folder
from lab.stats import Grid, Level, block_effects, grid
from lab.stats.drift_slopes import theil_sen
from lab.stats.effect_ratios import SIGNIFICANCE, adjust_by_gate
from lab.stats.factors import Codes
from lab.stats.intervals import Floats, t_means
from lab.stats.moderation import moderate
from lab.stats.two_way import two_way

DEMO = Path(__file__).parents[1] / "tests" / "captures" / "runs" / "demo" / "run"
SPREAD = 0.1  # of a trial's log speed, as in the kept demo
EFFECTS = {"tcp_space": (0.0, 0.5), "tool": (0.0, -0.35), "protocol": (0.0, 0.0, -0.3)}
LEVELS: dict[str, list[Level]] = {
    "protocol": ["nfs", "smb", "ssh"], "tool": ["cp", "rsync"], "direction": ["write", "read"], "mtu": [1500, 9000],
    "tcp_space": [65536, 524288],
}  # fmt: skip
CODES = np.array(
    [code for code in itertools.product(*(range(len(levels)) for levels in LEVELS.values())) if code[:2] != (2, 0)]
)
CASES = len(CODES)
DRIFT_BLOCKS = (3, 5, 6, 10, 12)
Draw = Callable[[np.random.Generator, int], Floats]


def code(factor: str) -> npt.NDArray[np.int64]:
    """The level of every case, as a number."""
    return CODES[:, list(LEVELS).index(factor)]


def speeds(log_speed: Floats) -> Grid:
    """The grid of these log speeds (cases × blocks)."""
    blocks = np.arange(1, log_speed.shape[1] + 1)
    return Grid(tuple(LEVELS), LEVELS, CODES, blocks, log_speed, np.ones(log_speed.shape, dtype=bool))


def normal(chance: np.random.Generator, blocks: int) -> Floats:
    return chance.normal(0, SPREAD, (CASES, blocks))


def heavy(chance: np.random.Generator, blocks: int) -> Floats:
    """Student's t of 3 degrees of freedom, of the same standard deviation."""
    values: Floats = SPREAD / math.sqrt(3) * chance.standard_t(3, (CASES, blocks))
    return values


def unequal(chance: np.random.Generator, blocks: int) -> Floats:
    """Protocols of half, once and twice the noise, and reads of half that of writes."""
    scale: Floats = np.array([0.5, 1.0, 2.0])[code("protocol")] * np.array([1.0, 0.5])[code("direction")]
    return scale[:, None] * normal(chance, blocks)


def plots(chance: np.random.Generator, blocks: int, spread: float = SPREAD) -> Floats:
    """Besides, a disturbance of each MTU in a block, and of each TCP buffer in that."""
    whole, part = chance.normal(0, spread, (2, blocks)), chance.normal(0, spread / 2, (4, blocks))
    shifts: Floats = whole[code("mtu")] + part[2 * code("mtu") + code("tcp_space")]
    return shifts + normal(chance, blocks)


def plots_only(chance: np.random.Generator, blocks: int) -> Floats:
    """Next to nothing but disturbances of plots: all rows of MTU have the same error."""
    return plots(chance, blocks, 5 * SPREAD) / 5


def slow_writes(chance: np.random.Generator, blocks: int) -> Floats:
    """Three of ten writes slower by a third, as with memory that is slow to get."""
    slow = (chance.random((CASES, blocks)) < 0.3) & (code("direction") == 0)[:, None]
    values: Floats = normal(chance, blocks) / 2 - 0.4 * slow
    return values


def drift(chance: np.random.Generator, blocks: int) -> Floats:
    """20 % slower from the begin to the end of each block, in the lab's order: MTUs and TCP buffers in plots, and each
    second block as the one before it, backwards.
    """
    values, place = normal(chance, blocks) / 2, np.empty(CASES, dtype=np.intp)
    plot = 2 * code("mtu") + code("tcp_space")
    for block in range(blocks):
        if block % 2:
            place = CASES - 1 - place
        else:
            order = np.lexsort((chance.random(CASES), chance.random(4)[plot], chance.random(2)[code("mtu")]))
            place[order] = np.arange(CASES)
        values[:, block] += math.log(0.8) * place / (CASES - 1)
    return values


def alike(chance: np.random.Generator, blocks: int) -> Floats:
    """Each case's noise half alike from block to block (first-order autoregressive, ρ = 0.5)."""
    values = normal(chance, blocks)
    for block in range(1, blocks):
        values[:, block] = 0.5 * values[:, block - 1] + math.sqrt(0.75) * values[:, block]
    return values


def demo() -> Draw:
    """The kept demo's own noise: what is left of its trials less case and block, drawn anew among those of the same
    protocol and direction with either sign.
    """
    with tempfile.TemporaryDirectory() as folder:
        for packed in DEMO.iterdir():
            (Path(folder) / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        kept = grid(run_folder.load(Path(folder)))
    cases, blocks = two_way(kept.log_speed)
    left = (kept.log_speed - cases[:, None] - blocks) * math.sqrt(len(blocks) / (len(blocks) - 1))
    groups, of_kept = (2 * one("protocol") + one("direction") for one in (code, kept.code))
    pools = [left[of_kept == group].ravel() for group in range(groups.max() + 1)]

    def draw(chance: np.random.Generator, blocks: int) -> Floats:
        signs = chance.choice([-1.0, 1.0], (CASES, blocks))
        values: Floats = signs * np.array([chance.choice(pools[group], blocks) for group in groups])
        return values

    return draw


SCENARIOS: dict[str, Draw] = {
    "demo": demo(), "normal": normal, "heavy tails": heavy, "unequal": unequal, "plots": plots,
    "plots only": plots_only, "slow writes": slow_writes, "drift": drift, "blocks alike": alike,
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """The rows of :func:`lab.stats.effects` on this design, as sums over cases (rows × cases), and what they are."""

    weights: Floats
    truth: Floats
    comparison: Codes
    factor: Codes
    is_overall: npt.NDArray[np.bool_]


def table() -> Table:
    """Every row is a sum over cases: what it makes of one case that stands out is the weight of that."""
    rows = list(block_effects(speeds(np.eye(CASES))))
    names = pd.DataFrame([named for named, _ in rows])
    comparison, factor = (
        names.groupby(by, sort=False).ngroup().to_numpy().astype(np.intp) for by in (["factor", "level"], ["factor"])
    )
    weights = np.array([row.log_ratios[0] for _, row in rows])
    put = sum(np.array(shifts)[code(name)] for name, shifts in EFFECTS.items())
    is_overall = np.r_[True, np.diff(comparison) != 0]
    return Table(weights, weights @ put, comparison, np.where(is_overall, -1, factor), is_overall)


def simulate(draw: Draw, of: Table, runs: int, blocks: int, seed: int) -> Floats:
    """Simulate a scenario. Returns coverage and median half-width, plain and moderated, overall and below; the runs
    with a false star, and those with one below the overall rows; the true effects with a star, overall and below.
    """
    chance = np.random.default_rng(seed)
    held, halves = np.zeros((2, len(of.truth))), np.zeros((runs, 2, len(of.truth)))
    false_in, starred = np.zeros(2), np.zeros(len(of.truth))
    null = np.abs(of.truth) < 1e-9
    for run in range(runs):
        values = of.weights @ draw(chance, blocks) + of.truth[:, None]
        plain = t_means(values)
        moderated = moderate(values, plain, of.factor)
        for number, means in enumerate((plain, moderated)):
            held[number] += np.abs(means.mean - of.truth) <= means.half
            halves[run, number] = np.expm1(means.half)
        star = (adjust_by_gate(moderated.p, of.comparison) < SIGNIFICANCE) & (plain.p < SIGNIFICANCE)
        false_in += (star & null).any(), (star & null & ~of.is_overall).any()
        starred += star
    parts = [of.is_overall, ~of.is_overall]
    coverage = [held[number, part].mean() / runs for part in parts for number in range(2)]
    widths = [np.median(halves[:, number, part]) for part in parts for number in range(2)]
    powers = [starred[part & ~null].mean() / runs for part in parts]
    return 100 * np.array([*coverage, *widths, *false_in / runs, *powers])


def drifts(blocks: int, runs: int, seed: int) -> tuple[float, float, float]:
    """A run that gets 5 % slower from its first block to its last: what is read of it (mean, percent), its standard
    error, and the share of intervals that hold the truth (NaN below 6 blocks, which have none).

    Noise of the demo, and of 2 % of each block.
    """
    chance, times, held = np.random.default_rng(seed), np.linspace(0, 1, blocks), np.zeros(runs)
    slopes = np.zeros(runs)
    for run in range(runs):
        log_speed = SCENARIOS["demo"](chance, blocks) + chance.normal(0, 0.02, blocks) + math.log(0.95) * times
        slope, low, high = theil_sen(times, two_way(log_speed)[1])
        slopes[run], held[run] = slope, low <= math.log(0.95) <= high if math.isfinite(low) else math.nan
    return 100 * math.expm1(slopes.mean()), 100 * float(slopes.std()) / math.sqrt(runs), 100 * float(held.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2000, help="of each scenario and number of blocks")
    parser.add_argument("--blocks", type=int, nargs="+", default=[3, 5, 8])
    parser.add_argument("--scenario", choices=SCENARIOS, nargs="+", default=list(SCENARIOS))
    arguments = parser.parse_args()
    of = table()
    print(f"{arguments.runs} runs a line, seed {arguments.seed}; percent; {of.is_overall.sum()} overall rows, "
          f"{(~of.is_overall).sum()} below; standard error of 95: {100 * math.sqrt(0.05 * 0.95 / arguments.runs):.1f} "
          "at most")  # fmt: skip
    print(f"{'':22}{'coverage':^28}{'median half-width':^28}{'runs with a false star':^25}{'true stars':^12}")
    print(f"{'scenario':14}{'blocks':>8}{'overall':^14}{'below':^14}{'overall':^14}{'below':^14}{'any':>9}{'below':>14}"
          f"{'overall':>10}{'below':>7}")  # fmt: skip
    for name, blocks in itertools.product(arguments.scenario, arguments.blocks):
        figures = simulate(SCENARIOS[name], of, arguments.runs, blocks, arguments.seed)
        error = math.sqrt(figures[8] * (100 - figures[8]) / arguments.runs)
        cells = "".join(f"{value:7.1f}" for value in figures[:8])
        stars = f"{figures[8]:7.2f} ± {error:4.2f}{figures[9]:9.2f}{figures[10]:10.0f}{figures[11]:7.0f}"
        print(f"{name:14}{blocks:8}{cells}{stars}", flush=True)
    for blocks in DRIFT_BLOCKS:
        mean, error, coverage = drifts(blocks, arguments.runs, arguments.seed)
        print(f"a drift of -5 % over {blocks:2} blocks reads {mean:5.2f} ± {error:4.2f} %; coverage {coverage:4.1f}")


if __name__ == "__main__":
    main()
