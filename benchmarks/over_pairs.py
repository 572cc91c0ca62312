"""What the intervals over pairs of hosts cover, how wide they are, and how often a further pair is where it says.

python benchmarks/over_pairs.py [--draws N] [--seed N]. An effect of +5 % over all pairs; a pair's own lies around it
with the standard deviation tau, normal or (heavy) Student's t of 3 degrees of freedom. Each pair has some blocks, whose
spread gives the pair's estimate and standard error; in "unequal" pairs have half, once and twice that spread in turn.
tau is in units of the standard error that a pair of the usual spread has in truth. First the percent of draws whose 95
% interval holds the effect: that of DerSimonian and Laird with the normal distribution, which is not used; that of
Hartung, Knapp, Sidik and Jonkman as published; the same as the lab has it, with moderated standard errors, and never
narrower than these give; and Student's t of the pairs' estimates, unweighted. Then the median half-widths of the last
two, in units of the standard error. Last, the share of further pairs inside the prediction interval, and how often tau
is found to be above 0.
"""

import argparse
import itertools
import math

import numpy as np

from lab.stats.distributions import NORMAL_QUANTILE
from lab.stats.intervals import Floats, t_means
from lab.stats.over_pairs import moderate_errors, pool

EFFECT = math.log(1.05)
SPREAD = 0.05  # of a block
PAIRS, BLOCKS, TAUS = (3, 5, 10), (3, 6, 12), (0.0, 1.0, 5.0)
UNEQUAL = np.array([0.5, 1.0, 2.0])


def draw(chance: np.random.Generator, draws: int, pairs: int, blocks: int, tau: float, kind: str) -> tuple[Floats, ...]:
    """Estimates and standard errors (draws × pairs), and the true effect of one further pair of each draw."""
    error = SPREAD / math.sqrt(blocks)
    size = (draws, pairs + 1)
    own = chance.standard_t(3, size) / math.sqrt(3) if kind == "heavy" else chance.normal(0, 1, size)
    truth = EFFECT + tau * error * own
    spread = SPREAD * (UNEQUAL[np.arange(pairs) % 3] if kind == "unequal" else np.ones(pairs))
    values = truth[:, :-1, None] + spread[:, None] * chance.normal(0, 1, (draws, pairs, blocks))
    means = t_means(values.reshape(-1, blocks))
    return means.mean.reshape(draws, pairs), means.error.reshape(draws, pairs), truth[:, -1]


def published(effects: Floats, errors: Floats) -> tuple[Floats, Floats, Floats]:
    """Means, and half widths by the normal distribution, and as Hartung, Knapp, Sidik and Jonkman have it."""
    pooled = pool(effects, errors)
    weights = 1 / (errors**2 + pooled.tau[:, None] ** 2)
    scatter = (weights * (effects - pooled.means.mean[:, None]) ** 2).sum(axis=1) / (effects.shape[1] - 1)
    normal = 1 / np.sqrt(weights.sum(axis=1))
    t = pooled.means.half / pooled.means.error
    return pooled.means.mean, NORMAL_QUANTILE * normal, t * normal * np.sqrt(scatter)


def line(chance: np.random.Generator, draws: int, pairs: int, blocks: int, tau: float, kind: str) -> list[float]:
    """The figures of one line, in percent and in standard errors."""
    effects, errors, further = draw(chance, draws, pairs, blocks, tau, kind)
    pooled, plain = pool(effects, moderate_errors(errors, np.full(errors.shape, blocks))), t_means(effects)
    mean, (middle, normal, hksj) = pooled.means.mean, published(effects, errors)
    halves = [(middle, normal), (middle, hksj), (mean, pooled.means.half), (plain.mean, plain.half)]
    covers = [100 * float((np.abs(middle - EFFECT) <= half).mean()) for middle, half in halves]
    widths = [float(np.median(half)) / (SPREAD / math.sqrt(blocks)) for _, half in halves[2:]]
    predicted = 100 * float((np.abs(further - mean) <= pooled.predicted).mean())
    return [*covers, *widths, predicted, 100 * float((pooled.tau > 0).mean())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=20_000, help="of each line")
    arguments = parser.parse_args()
    error = 100 * math.sqrt(0.05 * 0.95 / arguments.draws)
    print(f"{arguments.draws} draws a line, seed {arguments.seed}; standard error of 95: {error:.2f}")
    print(f"{'':32}{'covers':^32}{'half-width':^16}{'further':>9}{'tau':>7}")
    names = "".join(f"{name:>8}" for name in ("normal", "HKSJ", "lab", "plain t", "lab", "plain t"))
    print(f"{'noise':10}{'tau':>6}{'pairs':>7}{'blocks':>8} {names}{'pair':>9}{'> 0':>7}")
    chance = np.random.default_rng(arguments.seed)
    for kind, tau, pairs, blocks in itertools.product(("equal", "unequal", "heavy"), TAUS, PAIRS, BLOCKS):
        if kind == "heavy" and tau == 0:
            continue
        figures = line(chance, arguments.draws, pairs, blocks, tau, kind)
        covers, widths = ("".join(f"{value:8.{digits}f}" for value in some) for some, digits in
                          ((figures[:4], 1), (figures[4:6], 2)))  # fmt: skip
        print(f"{kind:10}{tau:6.0f}{pairs:7}{blocks:8} {covers}{widths}{figures[6]:9.1f}{figures[7]:7.0f}", flush=True)


if __name__ == "__main__":
    main()
