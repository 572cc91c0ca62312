"""What the intervals cover when a run stops at a precision: this lab's rule beside the plain one, by simulation.

Each line is a kind of noise, a rule, the least number of blocks, how many effects are looked at, and the cap on blocks.
"Widened" counts blocks that resemble the one before as fewer, as the lab does (:mod:`lab.stats.moderation`).
The columns are ratios of the noise of one block to the precision; in each stands the share of 95 % intervals that hold
the truth, and the mean number of blocks. The standard error is that of the worst column.
"""

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from lab.design import stopping
from lab.stats.moderation import LEAST_COUNT, MOST_ALIKE, NORMAL_95

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

RATIOS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)  # spread of a block's number over the precision
LEASTS = (4, 6, 8, 10, 12)
CAP = 200  # of a run that has none: nearly all have ended by then
BATCH = 2_500  # runs at a time: memory
SKEW = 0.5  # of the lognormal noise: its logarithm's standard deviation


def _lognormal(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    mean, scale = math.exp(SKEW**2 / 2), math.sqrt(math.expm1(SKEW**2) * math.exp(SKEW**2))
    return (np.exp(SKEW * chance.standard_normal(shape)) - mean) / scale


def _pair(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """What an effect of skewed times is: the difference of two, so that much of the skew is gone."""
    return (_lognormal(chance, shape) - _lognormal(chance, shape)) / math.sqrt(2)


def _alike(correlation: float) -> Draw:
    """Noise of which each block is so much like the one before: first-order autoregressive."""

    def draw(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        noise: Floats = chance.standard_normal(shape)
        for block in range(1, shape[-1]):
            noise[..., block] *= math.sqrt(1 - correlation**2)
            noise[..., block] += correlation * noise[..., block - 1]
        return noise

    return draw


ALIKE = {f"alike {correlation}": _alike(correlation) for correlation in (0.3, 0.5, 0.8)}
NOISE: dict[str, Draw] = {  # mean 0, standard deviation 1
    "normal": lambda chance, shape: chance.standard_normal(shape),
    "t5": lambda chance, shape: chance.standard_t(5, shape) / math.sqrt(5 / 3),
    "lognormal": _lognormal,
    "pair": _pair,
}
NO_SQUARES = 1e-12  # after one block there are none to divide by
EFFECTS_ALIKE = (1, 10)  # rows of one factor whose blocks are looked at together


@dataclass(frozen=True)
class Setting:
    """One line of the table."""

    noise: str
    looks: int
    least_blocks: int
    effects: int
    cap: int
    widened: bool = False  # for blocks that resemble the one before


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


def widened(noise: Floats, means: Floats, halves: Floats) -> Floats:
    """The half-widths of :func:`widths` as :mod:`lab.stats.moderation` widens them, the effects being independent
    and looked at together.
    """
    blocks = np.arange(1, noise.shape[-1] + 1)
    products = np.zeros_like(noise)
    products[..., 1:] = np.cumsum(noise[..., 1:] * noise[..., :-1], axis=-1)
    ends = 2 * blocks * means - noise[..., :1] - noise
    squares = np.cumsum(noise**2, axis=-1) - blocks * means**2
    looked_at = slice(stopping.LEAST_BLOCKS - 1, None)
    lag_one = ((products - means * ends + (blocks - 1) * means**2) / np.maximum(squares, NO_SQUARES))[..., looked_at]
    count = blocks[looked_at]
    alike = lag_one.mean(axis=1) + 1 / count
    alike = np.where(alike * np.sqrt(count * noise.shape[1]) > NORMAL_95, alike / (1 - 4 / count), 0)
    alike = np.minimum(MOST_ALIKE, alike)[:, None]
    fewer = np.maximum(LEAST_COUNT, count * (1 - alike) / (1 + alike))
    wider = halves.copy()
    wider[..., looked_at] *= stdtrit(fewer - 1, 0.975) / stdtrit(count - 1, 0.975) * np.sqrt(count / fewer)
    return wider


def covered(setting: Setting, runs: int, seed: int) -> list[tuple[float, float]]:
    """For each of RATIOS the share of intervals that hold the truth, and the mean number of blocks."""
    chance = np.random.default_rng(seed)
    hits, blocks = np.zeros(len(RATIOS)), np.zeros(len(RATIOS))
    simulated = 0
    while simulated < runs:
        batch = min(runs - simulated, max(1, BATCH // setting.effects))
        noise = (NOISE | ALIKE)[setting.noise](chance, (batch, setting.effects, setting.cap))
        means, halves = widths(noise)
        halves = widened(noise, means, halves) if setting.widened else halves
        holds = np.abs(means) <= halves
        for index, ratio in enumerate(RATIOS):
            narrow = np.all(halves * ratio <= 1, axis=1)
            stops = stop_at(narrow, setting.least_blocks, setting.looks, setting.cap)
            hits[index] += holds[np.arange(batch), :, stops - 1].mean(axis=1).sum()
            blocks[index] += stops.sum()
        simulated += batch
    return [(float(hit) / runs, float(count) / runs) for hit, count in zip(hits, blocks, strict=True)]


def settings() -> Iterator[Setting]:
    """Every line of the table: the plain rule and this lab's, for one effect and the widest of 28, with a cap too."""
    rules = [(1, least) for least in LEASTS]
    rules += [(stopping.LOOKS, least) for least in LEASTS if least >= stopping.LEAST_BLOCKS]
    for noise, (looks, least) in itertools.product(NOISE, rules):
        yield Setting(noise, looks, least, 1, CAP, widened=looks > 1)
    for noise in NOISE:
        yield Setting(noise, stopping.LOOKS, stopping.LEAST_BLOCKS, 1, 3 * stopping.LEAST_BLOCKS, widened=True)
        yield Setting(noise, stopping.LOOKS, stopping.LEAST_BLOCKS, 28, CAP, widened=True)
    for noise, effects, is_widened in itertools.product(ALIKE, EFFECTS_ALIKE, (False, True)):
        yield Setting(noise, stopping.LOOKS, stopping.LEAST_BLOCKS, effects, CAP, is_widened)


def line(setting: Setting, coverages: Sequence[tuple[float, float]], runs: int) -> str:
    """One line of the table, marked where it misses 95 % by more than 1 %."""
    worst = min(share for share, _ in coverages)
    rule = f"{setting.looks} looks" if setting.looks > 1 else "plain"
    rule += ", widened" if setting.widened else ""
    cells = "  ".join(f"{100 * share:4.1f} {count:5.1f}" for share, count in coverages)
    error = 100 * math.sqrt(worst * (1 - worst) / runs)
    row = f"{setting.noise:10}{rule:17}{setting.least_blocks:6}{setting.effects:8}{setting.cap:6}  {cells}"
    return f"{row}  {100 * worst:5.1f} ± {error:.2f}{'  misses' if worst < 0.94 else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20_000, help="of one effect; several together take a tenth")
    parser.add_argument("--noise", choices=[*NOISE, *ALIKE], nargs="+", default=[*NOISE, *ALIKE])
    arguments = parser.parse_args()
    ratios = "  ".join(f"{ratio:10.1f}" for ratio in RATIOS)
    print(f"{'noise':10}{'rule':17}{'least':>6}{'effects':>8}{'cap':>6}  {ratios}  worst, standard error")
    for setting in filter(lambda setting: setting.noise in arguments.noise, settings()):
        runs = arguments.runs if setting.effects == 1 else arguments.runs // 10
        print(line(setting, covered(setting, runs, arguments.seed), runs), flush=True)


if __name__ == "__main__":
    main()
