"""Student's distribution and derivatives of log gamma; SciPy has them, but is 140 MB and slow to import."""

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Number = TypeVar("Number", float, Floats)

MOST_STEPS = 10_000  # a continued fraction needs about √freedom, Newton's method a dozen
NEGLIGIBLE = 1e-15
NORMAL_QUANTILE = 1.9599639845400545  # of 0.975; Student's is larger
SHIFT = 10  # with arguments larger by this, an asymptotic series has 15 digits
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B2, B4, … of those series


def two_sided_p(freedom: Floats, t: Floats) -> Floats:
    """The probability that Student's distribution lies farther from 0 than ``t``; NaN for NaN.

    The regularised incomplete beta function I_x(a, b) for a = freedom / 2, b = ½, x = freedom / (freedom + t²)
    (Abramowitz and Stegun 1972, 26.5.27). Its continued fraction converges quickly below (a + 1) / (a + b + 2);
    above it, I_x(a, b) = 1 − I_1−x(b, a).
    """
    freedom, t = np.broadcast_arrays(np.asarray(freedom, dtype=float), np.asarray(t, dtype=float))
    p = np.full(freedom.shape, np.nan)
    known = np.isfinite(freedom) & np.isfinite(t)
    a, square = freedom[known] / 2, t[known] ** 2
    x, rest = 2 * a / (2 * a + square), square / (2 * a + square)
    is_near = x >= (a + 1) / (a + 2.5)
    half = np.full_like(a, 0.5)
    fraction = _fraction(np.where(is_near, half, a), np.where(is_near, a, half), np.where(is_near, rest, x))
    with np.errstate(divide="ignore"):  # at t = 0: exp removes the infinite logarithm
        factor = np.exp(-a * np.log1p(square / (2 * a)) + np.log(rest) / 2 - _log_beta_of_half(a))
    p[known] = np.where(is_near, 1 - 2 * factor * fraction, factor * fraction / a)
    return p


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8), by Lentz' method, each element by itself."""
    c, d = np.ones_like(x), 1 / (1 - (a + b) * x / (a + 1))
    fraction, goes_on = d.copy(), np.ones(x.shape, dtype=bool)
    for m in range(1, MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / (1 + even * d), 1 + even / c
        factor = c * d
        d, c = 1 / (1 + odd * d), 1 + odd / c
        fraction = np.where(goes_on, fraction * factor * c * d, fraction)
        goes_on = goes_on & (np.abs(c * d - 1) > NEGLIGIBLE)
        if not goes_on.any():
            break
    return fraction


def _log_beta_of_half(a: Floats) -> Floats:
    """The logarithm of the beta function of ``a`` and ½."""
    values, at = np.unique(a, return_inverse=True)
    logs = [math.lgamma(value) + math.lgamma(0.5) - math.lgamma(value + 0.5) for value in values.tolist()]
    return np.array(logs, dtype=float)[at]


def student_t(freedom: Floats) -> Floats:
    """Student's t of a 95 % interval for each number of degrees of freedom (≥ 1); NaN for NaN."""
    values, at = np.unique(freedom, return_inverse=True)
    t = np.where(np.isfinite(values), NORMAL_QUANTILE, np.nan)
    log_scale = 0.5 * np.log(values) + _log_beta_of_half(values / 2)
    goes_on = np.isfinite(values)
    for _ in range(MOST_STEPS):  # Newton's method from below; converges because the probability outside is convex
        density = np.exp(-(values + 1) / 2 * np.log1p(t**2 / values) - log_scale)
        step = (two_sided_p(values, t) - 0.05) / (2 * density)
        t = np.where(goes_on, t + step, t)
        goes_on = goes_on & (np.abs(step) > 1e-10 * t)
        if not goes_on.any():
            break
    return t[at].reshape(np.shape(freedom))


def digamma(x: Number) -> Number:
    """The derivative of the logarithm of the gamma function, for numbers and arrays above 0 (A. and S. 6.3.5, .18)."""
    below, x = sum(1 / (x + step) for step in range(SHIFT)), x + SHIFT
    series = sum(number / (2 * k * x ** (2 * k)) for k, number in enumerate(BERNOULLI, 1))
    value: Number = np.log(x) - 1 / (2 * x) - series - below
    return value


def trigamma(x: Number) -> Number:
    """The derivative of :func:`digamma` (Abramowitz and Stegun 6.4.6 and 6.4.12)."""
    below, x = sum(1 / (x + step) ** 2 for step in range(SHIFT)), x + SHIFT
    series = sum(number / x ** (2 * k + 1) for k, number in enumerate(BERNOULLI, 1))
    return 1 / x + 1 / (2 * x**2) + series + below


def tetragamma(x: Number) -> Number:
    """The derivative of :func:`trigamma` (Abramowitz and Stegun 6.4.6 and 6.4.13)."""
    below, x = sum(2 / (x + step) ** 3 for step in range(SHIFT)), x + SHIFT
    series = sum((2 * k + 1) * number / x ** (2 * k + 2) for k, number in enumerate(BERNOULLI, 1))
    return -1 / x**2 - 1 / x**3 - series - below
