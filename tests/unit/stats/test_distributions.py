"""Student's distribution and the gamma function's derivatives are those of SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import binom

from lab.stats.distributions import digamma, student_t, tetragamma, trigamma, two_sided_p
from lab.stats.intervals import interval_rank

FREEDOM = np.array([1, 1.5, 2, 2.7, 3, 4, 5, 8.25, 17, 30.5, 100, 999, 9999])


@pytest.mark.parametrize("t", [0.0, 1e-6, 0.01, 0.5, 1.0, 1.96, 3.0, 12.7, 1e3, 1e9])
def test_the_probability_outside(t: float) -> None:
    for sign in (1, -1):
        p = two_sided_p(FREEDOM, np.full_like(FREEDOM, sign * t))
        assert p == pytest.approx(2 * special.stdtr(FREEDOM, -t), rel=1e-9)


@given(st.floats(1, 1e4), st.floats(0, 1e6))
def test_the_probability_outside_of_anything(freedom: float, t: float) -> None:
    p = two_sided_p(np.array([freedom]), np.array([t]))[0]
    assert p == pytest.approx(2 * special.stdtr(freedom, -t), rel=1e-9, abs=1e-9)
    assert 0 <= p <= 1


def test_the_half_width_in_errors_and_what_is_not_known_stays_so() -> None:
    assert student_t(FREEDOM) == pytest.approx(special.stdtrit(FREEDOM, 0.975), rel=1e-10)
    assert student_t(np.tile(FREEDOM, (2, 1))) == pytest.approx(special.stdtrit(np.tile(FREEDOM, (2, 1)), 0.975))
    assert student_t(np.array([])).shape == (0,)
    nan = np.nan
    assert np.isnan(student_t(np.array([nan, 3.0]))).tolist() == [True, False]
    p = two_sided_p(np.array([nan, 3.0, 3.0]), np.array([1.0, nan, 1.0]))
    assert np.isnan(p).tolist() == [True, True, False]


@given(st.floats(0.4, 1e5))
def test_the_derivatives_of_the_logarithm_of_gamma(x: float) -> None:
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)
    assert tetragamma(x) == pytest.approx(special.polygamma(2, x), rel=1e-12)


@pytest.mark.parametrize("count", [*range(200), *range(211, 3000, 149), 999, 1000, 12_345])
def test_the_rank_of_an_interval_of_the_median(count: int) -> None:
    rank = interval_rank(count)
    assert rank == 0 or 2 * binom.cdf(rank - 1, count, 0.5) <= 0.05
    assert 2 * binom.cdf(rank, count, 0.5) > 0.05
