"""The axis of ratios: a logarithmic one, twice and half being equally far; its ticks in percent or as factors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

LEAST_REACH = np.log(1.1)  # of the axis on either side
LARGE_RATIO = np.log(20)  # from which on a change is told as a factor, and no longer in percent
PERCENTS = (-95, -90, -80, -70, -60, -50, -40, -30, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200,
            300, 500, 900, 1900)  # fmt: skip  # that an axis may have as ticks
TIMES = (
    0.5,
    2,
    0.25,
    4,
    0.1,
    10,
    1.5,
    0.7,
    0.8,
    1.2,
    0.9,
    1.1,
    3,
    0.3,
    0.6,
    0.4,
    5,
    0.2,
    1.3,
    0.95,
    1.05,
    0.05,
    20,
    0.98,
    1.02,
)
CLOSEST_TICKS = 0.075  # share of the axis between two of them


def percent_ticks(low: float, high: float) -> dict[float, str]:
    """Where an axis of log ratios has ticks, and what they say: percent, or factors where these are large."""
    if max(-low, high) > LARGE_RATIO:
        return _powers(low, high, "0")
    candidates = sorted(PERCENTS, key=_roundness)
    return _spread(low, high, "0", ((float(np.log1p(percent / 100)), f"{percent:+d}") for percent in candidates))


def times_ticks(low: float, high: float) -> dict[float, str]:
    """The same, each tick saying how many times as much it is."""
    if max(-low, high) > LARGE_RATIO:
        return _powers(low, high, "×1")
    return _spread(low, high, "×1", ((float(np.log(times)), f"×{times:g}") for times in TIMES))


def _spread(low: float, high: float, middle: str, candidates: Iterable[tuple[float, str]]) -> dict[float, str]:
    """Of the candidates, the roundest first, those that lie on the axis with room between them."""
    ticks = {0.0: middle}
    for place, text in candidates:
        if low <= place <= high and all(abs(place - other) > CLOSEST_TICKS * (high - low) for other in ticks):
            ticks[place] = text
    return ticks


def _powers(low: float, high: float, middle: str) -> dict[float, str]:
    step = max(1, round(max(-low, high) / np.log(10) / 3))
    powers = [power for power in range(-3 * step, 3 * step + 1, step) if low <= power * np.log(10) <= high]
    return {power * np.log(10): f"×1e{power}" if power else middle for power in powers}


def _roundness(percent: int) -> tuple[bool, bool, int]:
    """Which ticks an axis has first: those that people think in."""
    return percent not in (-50, 100, 10, -10, 50, 20, -20, 300, -75), percent % 10 != 0, abs(percent)
