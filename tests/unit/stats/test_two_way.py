import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from lab.stats.two_way import column_means, two_way


@pytest.mark.parametrize("shape", [(12, 4), (4, 12), (1, 3), (3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_with_holes_it_is_the_least_squares_fit_of_statsmodels(seed: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, shape)
    if min(shape) > 1:
        values[rng.random(shape) < 0.25] = np.nan
        values[0], values[:, 0] = rng.normal(0, 1, shape[1]), rng.normal(0, 1, shape[0])  # all hangs together
    row, column = np.nonzero(np.isfinite(values))
    frame = pd.DataFrame({"y": values[row, column], "row": row, "column": column})
    expected = ols("y ~ C(row) + C(column)", frame).fit().fittedvalues.to_numpy()
    rows, columns = two_way(values)
    np.testing.assert_allclose(rows[row] + columns[column], expected, atol=1e-9)
    assert columns.mean() == pytest.approx(0, abs=1e-12)


def test_without_holes_the_columns_have_their_means() -> None:
    values = np.random.default_rng(4).normal(0, 1, (5, 7))
    np.testing.assert_allclose(column_means(values), values.mean(axis=0))


def test_a_hole_does_not_move_its_column_by_what_its_row_differs() -> None:
    values = np.array([[10.0, 10.1, 10.2], [0.0, 0.1, np.nan], [5.0, np.nan, 5.2]])
    np.testing.assert_allclose(column_means(values), np.array([5.0, 5.1, 5.2]))


def test_what_nothing_joins_to_the_rest_has_no_place() -> None:
    values = np.full((5, 5), np.nan)
    values[:3, :3], values[3, 4] = 1.0, 7.0
    rows, columns = two_way(values)
    assert rows[:3] == pytest.approx([1, 1, 1])
    assert columns[:3] == pytest.approx([0, 0, 0])
    assert np.isnan(rows[3:]).all()
    assert np.isnan(columns[3:]).all()
    assert np.isnan(column_means(np.full((2, 3), np.nan))).all()
    assert np.isnan(column_means(np.empty((0, 3)))).all()
