"""How often an interval holds the truth where speed drifts inside blocks: independent orders against mirrored ones.

    python benchmarks/order.py [SWEEP]

Nothing in the simulation has an effect: log speeds are normal noise (standard deviation 5 %) and a ramp of 20 % from
the first case of each block to its last. Orders are those that the lab makes for seeds 1 to RUNS. The output has, by
factor and number of blocks, the share of runs whose 95 % interval holds 0. The interval is Student's t over one mean
difference a block. Beside it: the median half-width, and the bias, which is the root mean square of the means.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lab.design import stopping
from lab.design.blocks import Ordering, order
from lab.design.case import Case
from lab.design.plan import plan
from lab.design.sweep_file import load_sweep
from lab.run.case.catalogue import CATALOGUE

RUNS = 2000
NOISE, RAMP = 0.05, 0.2
BLOCKS = (3, 4, 6)
FACTORS = ("mtu", "tcp_space")


def block_differences(cases: Sequence[Case], seed: int, ordering: Ordering, names: Sequence[str]) -> np.ndarray:
    """The mean log ratio of the other level over that of the first case; shape (names, most of BLOCKS)."""
    chance = np.random.default_rng(seed)
    means = np.empty((len(names), max(BLOCKS)))
    for block in range(1, max(BLOCKS) + 1):
        ordered = order(cases, seed, block, ordering)
        speeds = np.linspace(0, RAMP, len(ordered)) + chance.normal(0, NOISE, len(ordered))
        for index, name in enumerate(names):
            is_first = np.array([case.level(name) == cases[0].level(name) for case in ordered])
            means[index, block - 1] = speeds[~is_first].mean() - speeds[is_first].mean()
    return means


def main() -> int:
    """Print the table."""
    sweep = load_sweep(Path(sys.argv[1] if len(sys.argv) > 1 else "sweeps/demo.toml"))
    cases = plan(sweep, CATALOGUE).cases
    print("order        factor     blocks  covered %  half-width %  bias %")
    for ordering in (Ordering.INDEPENDENT, Ordering.MIRRORED):
        runs = np.array([block_differences(cases, seed, ordering, FACTORS) for seed in range(1, RUNS + 1)])
        for index, name in enumerate(FACTORS):
            for blocks in BLOCKS:
                values = runs[:, index, :blocks]
                means = values.mean(axis=1)
                widths = stopping.half_width_factor(blocks) * values.std(axis=1, ddof=1)
                covered, bias = 100 * np.mean(np.abs(means) <= widths), 100 * np.sqrt(np.mean(means**2))
                print(
                    f"{ordering:12} {name:10} {blocks:6}  {covered:9.1f}  {100 * np.median(widths):12.1f}  {bias:6.1f}"
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
