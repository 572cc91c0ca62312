from support.synthetic_runs import RUN, make_trials

from lab import stats
from lab.results import dataframe


def test_rows_are_those_that_pandas_makes() -> None:
    trials = dataframe.frame(make_trials(1), RUN).drop(columns="observed")
    mine, its = stats.rows_of(trials), trials.to_dict("records")
    assert repr(mine) == repr(its)
    assert stats.rows_of(trials[:0]) == []
