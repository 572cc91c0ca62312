"""Series of random numbers by seed: white, resembling their neighbours, and histories of speeds."""

import numpy as np

from lab.stats.courses import Course, Point, course, p_of_change
from lab.stats.intervals import Floats

KEY = ("smb", "cp", "write")


def white(seed: int, n: int) -> Floats:
    values: Floats = np.random.default_rng(seed).normal(0, 1, n)
    return values


def resembling(seed: int, n: int, alike: float) -> Floats:
    """Each resembles the one before by so much: a first-order autoregression of variance 1."""
    values: Floats = blocks_alike(seed, 1, n, alike)[0]
    return values


def blocks_alike(seed: int, rows: int, blocks: int, alike: float) -> Floats:
    """Several rows of the same."""
    values = np.random.default_rng(seed).normal(0, 1, (rows, blocks))
    for block in range(1, blocks):
        values[:, block] = alike * values[:, block - 1] + np.sqrt(1 - alike**2) * values[:, block]
    return values


def scattered(seed: int, n: int, spread: float = 0.02) -> Floats:
    """Speeds of a steady history."""
    speeds: Floats = 100 * np.exp(np.random.default_rng(seed).normal(0, spread, n))
    return speeds


def points(speeds: Floats, n: int = 7, spread: float = 0.01) -> list[Point]:
    """A run a day of these speeds."""
    return [Point(number, n, float(speed), np.nan, np.nan, spread) for number, speed in enumerate(speeds)]


def course_of(speeds: Floats) -> Course:
    history = points(speeds)
    return course(KEY, history, np.arange(len(history), dtype=float), p_of_change(history))
