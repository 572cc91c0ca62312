"""How often `lab history` tells of a change that is none, and how soon of one that is, by simulation.

    python benchmarks/history.py [--histories N] [--seed N]

A history is one row of runs, whose medians scatter by 2 % (standard deviation of logarithms) from run to run; each has
7 trials that scatter by 1 %. All figures are percent of histories. First, without a change: how often one is reported,
by noise and number of runs, also if somebody looks after every run. Then, with a step before the last runs: how often
it is found, and within one run of its place; how often its interval holds the truth. Next, with a stretch in the middle
third. Next, with a drift: how often it is reported as a drift, and how often as steps. Last, the newest run: how often
its interval holds a run like the others, and how often `--fail-if 'slower-than 10%'` is met.
"""

import argparse
import math
from collections.abc import Callable, Iterable

import numpy as np

from lab.stats.effect_ratios import SIGNIFICANCE
from lab.stats.intervals import Floats
from lab.stats.speed_histories import Point, SpeedHistory, p_of_change, speed_history

SPREAD, INSIDE, TRIALS = 0.02, 0.01, 7
COUNTS = (10, 12, 20, 30, 60, 120)
KEY = ("smb", "cp", "write")
LIMIT_PERCENT = 10
Chance = np.random.Generator
Draw = Callable[[Chance, int], Floats]


def normal(chance: Chance, n: int) -> Floats:
    return chance.normal(0, SPREAD, n)


def heavy(chance: Chance, n: int) -> Floats:
    """Student's t of 3 degrees of freedom, of the same standard deviation."""
    values: Floats = SPREAD / math.sqrt(3) * chance.standard_t(3, n)
    return values


def odd_nights(chance: Chance, n: int) -> Floats:
    """One run of ten is a quarter slower: somebody else used the share."""
    values: Floats = normal(chance, n) + math.log(0.75) * (chance.random(n) < 0.1)
    return values


def noisier(chance: Chance, n: int) -> Floats:
    """Three times as much noise from the middle on."""
    values: Floats = normal(chance, n) * np.where(np.arange(n) < n // 2, 1, 3)
    return values


def alike(correlation: float) -> Draw:
    """Runs that resemble the one before (first-order autoregressive)."""

    def draw(chance: Chance, n: int) -> Floats:
        values = normal(chance, n)
        for run in range(1, n):
            values[run] = correlation * values[run - 1] + math.sqrt(1 - correlation**2) * values[run]
        return values

    return draw


NOISES: dict[str, Draw] = {
    "normal": normal, "heavy tails": heavy, "odd nights": odd_nights, "noisier later": noisier,
    "alike, ρ = 0.3": alike(0.3), "alike, ρ = 0.5": alike(0.5),
}  # fmt: skip


def points_of(logs: Floats, chance: Chance) -> list[Point]:
    """The runs of a history, with what their trials add to the noise."""
    trials = chance.normal(0, INSIDE, (len(logs), TRIALS)) + logs[:, None]
    return [
        Point(run, TRIALS, 100 * math.exp(np.median(row)), math.nan, math.nan, float(row.std(ddof=1)))
        for run, row in enumerate(trials)
    ]


def speed_history_of(logs: Floats, chance: Chance) -> SpeedHistory:
    """What is said of a history of one row, a run a day."""
    points = points_of(logs, chance)
    return speed_history(KEY, points, np.arange(len(points), dtype=float), p_of_change(points))


def is_told(one: SpeedHistory) -> bool:
    """Whether any change is told of."""
    return one.p < SIGNIFICANCE


def percent(flags: Iterable[bool]) -> float:
    """The share of those that hold; NaN of none."""
    values = list(flags)
    return 100 * sum(values) / len(values) if values else math.nan


def print_false_alarms(histories: int, seed: int) -> None:
    print(f"{'no change, but one is told':34}" + "".join(f"{n:>8}" for n in COUNTS))
    for name, draw in NOISES.items():
        shares = []
        for n in COUNTS:
            chance = np.random.default_rng(seed)
            shares.append(
                percent(p_of_change(points_of(draw(chance, n), chance)) < SIGNIFICANCE for _ in range(histories))
            )
        print(f"{name:34}" + "".join(f"{share:8.1f}" for share in shares), flush=True)


def print_looks(histories: int, seed: int) -> None:
    """A steady history that is looked at after each run: how many have ever told of a change after so many runs."""
    chance = np.random.default_rng(seed)
    first = []
    for _ in range(histories):
        points = points_of(normal(chance, max(COUNTS)), chance)
        told = (n for n in range(min(COUNTS), len(points) + 1) if p_of_change(points[:n]) < SIGNIFICANCE)
        first.append(next(told, math.inf))
    shares = "".join(f"{percent(at <= n for at in first):8.1f}" for n in COUNTS)
    print(f"{'normal, looked at after each run':34}{shares}   ({histories} histories)", flush=True)


def print_steps(histories: int, seed: int) -> None:
    print(f"\n{'a step that is there':34}" + "".join(f"{n:>24}" for n in COUNTS[1:-1]))
    print(f"{'':34}" + f"{'told  place  covers':>24}" * len(COUNTS[1:-1]))
    for size, after in ((size, after) for size in (5, 10, 20) for after in (3, 5, 10)):
        cells = []
        for n in COUNTS[1:-1]:
            if n < after + 3:
                cells.append("")
                continue
            chance = np.random.default_rng(seed)
            shift = math.log1p(-size / 100) * (np.arange(n) >= n - after)
            told = [
                one
                for one in (speed_history_of(normal(chance, n) + shift, chance) for _ in range(histories))
                if is_told(one)
            ]
            steps = [min(one.steps, key=lambda step: abs(step.at - (n - after))) for one in told if one.steps]
            near = [step for step in steps if abs(step.at - (n - after)) <= 1]
            held = percent(step.change[1] <= -size <= step.change[2] for step in near)
            cells.append(f"{100 * len(told) / histories:.0f}{100 * len(near) / max(1, len(told)):7.0f}{held:8.0f}")
        print(f"{f'{size} % slower, {after} runs ago':34}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def middle_third(n: int) -> Floats:
    places = np.arange(n)
    inside: Floats = np.where((places >= n // 3) & (places < 2 * n // 3), 1.0, 0.0)
    return inside


def line(n: int) -> Floats:
    return np.linspace(0, 1, n)


def print_stretches_and_drifts(histories: int, seed: int) -> None:
    print(f"\n{'told: as a drift / as steps':34}" + "".join(f"{n:>12}" for n in COUNTS[1:-1]))
    for size in (5, 10, 20):
        shapes = {f"{size} % slower in the middle third": middle_third, f"drift to {size} % slower": line}
        for name, shape in shapes.items():
            cells = []
            for n in COUNTS[1:-1]:
                chance = np.random.default_rng(seed)
                told = [
                    speed_history_of(normal(chance, n) + math.log1p(-size / 100) * shape(n), chance)
                    for _ in range(histories)
                ]
                drift, steps = percent(one.is_drift for one in told), percent(bool(one.steps) for one in told)
                cells.append(f"{drift:.0f} / {steps:.0f}")
            print(f"{name:34}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def print_newest(histories: int, seed: int) -> None:
    counts = (5, 6, 10, 20, 60)
    print(f"\n{'the newest run, after so many':34}" + "".join(f"{n:>8}" for n in counts))
    for name, draw in NOISES.items():
        if name != "noisier later":  # whose newest run is not like the others
            cells = []
            for n in counts:
                chance = np.random.default_rng(seed)
                ends = [speed_history_of(draw(chance, n + 1), chance).newest[1:] for _ in range(histories)]
                cells.append(percent(low <= 0 <= high for low, high in ends))
            print(f"{f'{name}: interval holds 0':34}" + "".join(f"{cell:8.1f}" for cell in cells), flush=True)
    for spread, slower in ((spread, slower) for spread in (2, 5, 10) for slower in (0, 10, 15, 20, 30)):
        cells = []
        for n in counts:
            chance = np.random.default_rng(seed)
            shift = math.log1p(-slower / 100) * (np.arange(n + 1) == n)
            met = (
                speed_history_of(normal(chance, n + 1) * spread / 2 + shift, chance).newest[2] < -LIMIT_PERCENT
                for _ in range(histories)
            )
            cells.append(percent(met))
        name = f"scatter {spread} %, {slower} % slower: met"
        print(f"{name:34}" + "".join(f"{cell:8.1f}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=1000, help="of each kind and length")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    error = 100 * math.sqrt(0.05 * 0.95 / arguments.histories)
    print(f"{arguments.histories} histories each, seed {arguments.seed}; standard error of 5: {error:.1f}")
    print_false_alarms(arguments.histories, arguments.seed)
    print_looks(max(1, arguments.histories // 10), arguments.seed)
    print_steps(arguments.histories, arguments.seed)
    print_stretches_and_drifts(arguments.histories, arguments.seed)
    print_newest(arguments.histories, arguments.seed)


if __name__ == "__main__":
    main()
