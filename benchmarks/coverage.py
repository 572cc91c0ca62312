"""What the intervals cover when a run stops at a precision: this lab's rule beside the plain one, by simulation.

Each line is a kind of noise, a rule, the least number of blocks, how many effects are looked at, and the cap on blocks.
The columns are ratios of the noise of one block to the precision; in each stands the share of 95 % intervals that hold
the truth, and the mean number of blocks. The standard error is that of the worst column.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lab.design import stopping

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

RATIOS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)  # spread of a block's number over the precision
LEAST = (4, 6, 8, 10, 12)
CAP = 200  # of a run that has none: nearly all have ended by then
BATCH = 2_500  # runs at a time: memory
SKEW = 0.5  # of the lognormal noise: its logarithm's standard deviation


def _lognormal(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    mean, scale = math.exp(SKEW**2 / 2), math.sqrt(math.expm1(SKEW**2) * math.exp(SKEW**2))
    return (np.exp(SKEW * chance.standard_normal(shape)) - mean) / scale


def _pair(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """What an effect of skewed times is: the difference of two, so that much of the skew is gone."""
    return (_lognormal(chance, shape) - _lognormal(chance, shape)) / math.sqrt(2)


NOISE: dict[str, Draw] = {  # mean 0, standard deviation 1
    "normal": lambda chance, shape: chance.standard_normal(shape),
    "t5": lambda chance, shape: chance.standard_t(5, shape) / math.sqrt(5 / 3),
    "lognormal": _lognormal,
    "pair": _pair,
}


@dataclass(frozen=True)
class Setting:
    """One line of the table."""

    noise: str
    looks: int
    least_blocks: int
    effects: int
    cap: int


def stop_at(narrow: npt.NDArray[np.bool_], least_blocks: int, looks: int, cap: int) -> npt.NDArray[np.int64]:
    """After how many blocks each run stops; ``narrow`` has a row a run and a column a look."""
    run_length = np.zeros(len(narrow), dtype=np.int64)
    stops = np.full(len(narrow), cap)
    for blocks in range(1, cap):
        run_length = (run_length + 1) * narrow[:, blocks - 1]
        if blocks >= least_blocks:
            stops[(run_length >= looks) & (stops == cap)] = blocks
    return stops


def widths(noise: Floats) -> tuple[Floats, Floats]:
    """The mean and the half-width of the interval after each number of blocks, the last axis; infinite after one."""
    blocks = np.arange(1, noise.shape[-1] + 1)
    means = np.cumsum(noise, axis=-1) / blocks
    squares = np.cumsum(noise**2, axis=-1) - blocks * means**2
    factors = np.array([stopping.half_width_factor(int(count)) for count in blocks[1:]])
    halves = np.full_like(means, np.inf)
    halves[..., 1:] = factors * np.sqrt(np.maximum(squares[..., 1:], 0) / (blocks[1:] - 1))
    return means, halves


def covered(setting: Setting, runs: int, seed: int) -> list[tuple[float, float]]:
    """For each of RATIOS the share of intervals that hold the truth, and the mean number of blocks."""
    chance = np.random.default_rng(seed)
    hits, blocks = np.zeros(len(RATIOS)), np.zeros(len(RATIOS))
    done = 0
    while done < runs:
        batch = min(runs - done, max(1, BATCH // setting.effects))
        means, halves = widths(NOISE[setting.noise](chance, (batch, setting.effects, setting.cap)))
        holds = np.abs(means) <= halves
        for index, ratio in enumerate(RATIOS):
            narrow = np.all(halves * ratio <= 1, axis=1)
            stops = stop_at(narrow, setting.least_blocks, setting.looks, setting.cap)
            hits[index] += holds[np.arange(batch), :, stops - 1].mean(axis=1).sum()
            blocks[index] += stops.sum()
        done += batch
    return [(float(hit) / runs, float(count) / runs) for hit, count in zip(hits, blocks, strict=True)]


def settings() -> Iterator[Setting]:
    """Every line of the table: the plain rule and this lab's, for one effect and the widest of 28, with a cap too."""
    rules = [(1, least) for least in LEAST]
    rules += [(stopping.LOOKS, least) for least in LEAST if least >= stopping.LEAST_BLOCKS]
    for noise, (looks, least) in itertools.product(NOISE, rules):
        yield Setting(noise, looks, least, 1, CAP)
    for noise in NOISE:
        yield Setting(noise, stopping.LOOKS, stopping.LEAST_BLOCKS, 1, 3 * stopping.LEAST_BLOCKS)
        yield Setting(noise, stopping.LOOKS, stopping.LEAST_BLOCKS, 28, CAP)


def line(setting: Setting, found: Sequence[tuple[float, float]], runs: int) -> str:
    """One line of the table, marked where it misses 95 % by more than 1 %."""
    worst = min(share for share, _ in found)
    rule = f"{setting.looks} looks" if setting.looks > 1 else "plain"
    cells = "  ".join(f"{100 * share:4.1f} {count:5.1f}" for share, count in found)
    error = 100 * math.sqrt(worst * (1 - worst) / runs)
    said = f"{setting.noise:10}{rule:8}{setting.least_blocks:6}{setting.effects:8}{setting.cap:6}  {cells}"
    return f"{said}  {100 * worst:5.1f} ± {error:.2f}{'  misses' if worst < 0.94 else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=100_000, help="of one effect; 28 together take a tenth")
    arguments = parser.parse_args()
    ratios = "  ".join(f"{ratio:10.1f}" for ratio in RATIOS)
    print(f"{'noise':10}{'rule':8}{'least':>6}{'effects':>8}{'cap':>6}  {ratios}  worst, standard error")
    for setting in settings():
        runs = arguments.runs if setting.effects == 1 else arguments.runs // 10
        print(line(setting, covered(setting, runs, arguments.seed), runs), flush=True)


if __name__ == "__main__":
    main()
