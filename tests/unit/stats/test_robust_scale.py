import numpy as np
import pytest
from statsmodels.robust.scale import qn_scale

from lab.stats.change_points import scatter


@pytest.mark.parametrize("n", [10, 11, 40, 41])
def test_it_is_qn_with_the_correction_for_few_numbers(n: int) -> None:
    values = np.random.default_rng(n).normal(0, 1, n)
    correction = n / (n + 1.4) if n % 2 else n / (n + 3.8)
    assert scatter(values) == pytest.approx(qn_scale(values) * correction, rel=2e-3)  # it rounds the constant less


@pytest.mark.parametrize("n", [2, 3, 5, 6, 9, 10, 25])
def test_it_is_the_standard_deviation_of_normal_numbers(n: int) -> None:
    chance = np.random.default_rng(1)
    assert np.mean([scatter(chance.normal(0, 2, n)) for _ in range(2000)]) == pytest.approx(2, rel=0.05)


def test_four_of_ten_odd_numbers_do_not_decide_it() -> None:
    values = np.random.default_rng(1).normal(0, 1, 50)
    odd = np.where(np.arange(50) % 10 < 4, 1000.0, 0.0)
    assert scatter(values + odd) < 4 * scatter(values)


def test_one_number_does_not_scatter() -> None:
    assert np.isnan(scatter(np.ones(1)))
    assert scatter(np.ones(4)) == 0
