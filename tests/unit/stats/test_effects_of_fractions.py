"""Effects and interactions of a fraction of a grid, which a model within each block gives."""

import itertools

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.weightstats import DescrStatsW
from support.synthetic_frames import GRID, SEEDS, cases, noise, one, pct, run

from lab import stats


def half_fraction() -> pd.DataFrame:
    """Half of 2^5, defined by the product of all five: no two cases differ in one factor only."""
    signs = np.array(list(itertools.product([0, 1], repeat=5)))
    kept: pd.DataFrame = GRID.loc[signs.sum(axis=1) % 2 == 0].reset_index(drop=True)
    return kept


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fraction_is_fitted_within_each_block(seed: int) -> None:
    of = half_fraction()
    logs = noise(np.random.default_rng(seed), of, 4)
    trials = run(of, logs)
    table = stats.effects(stats.grid(trials))
    assert set(table["method"]) == {"model"}
    formula = "log ~ (C(protocol, Sum) + C(tool, Sum) + C(direction, Sum) + C(mtu, Sum) + C(space, Sum)) ** 2"
    data = trials.assign(log=np.log(trials["MB_per_s"]), space=trials["tcp_space"].astype(str))
    by_block = [-2 * ols(formula, of).fit().params["C(mtu, Sum)[S.1500]"] for _, of in data.groupby("block")]
    everywhere = one(table, factor="mtu", protocol="all")
    assert everywhere["n_blocks"] == 4
    assert everywhere["change_pct"] == pytest.approx(pct(np.mean(by_block)))
    assert everywhere["low_pct"] == pytest.approx(pct(DescrStatsW(by_block).tconfint_mean()[0]))


def test_a_fraction_knows_what_a_full_grid_would_without_higher_interactions() -> None:
    """Main effects and two-way interactions without noise: both methods find them, at each protocol too."""
    mtu, smb = (GRID["mtu"] == 9000).to_numpy(), (GRID["protocol"] == "smb").to_numpy()
    truth = 4.6 + 0.03 * mtu + 0.02 * (mtu & smb) - 0.2 * (GRID["tool"] == "rsync").to_numpy()
    kept = GRID.index.isin(pd.merge(GRID.reset_index(), half_fraction())["index"])
    table = stats.effects(stats.grid(run(half_fraction(), np.tile(truth[kept, None], 2))), ["mtu"])
    found = dict(zip(table["protocol"], table["change_pct"], strict=True))
    assert found == pytest.approx({"all": pct(0.04), "afp": pct(0.03), "smb": pct(0.05)})


def test_what_a_fraction_cannot_tell_has_no_number() -> None:
    of = cases(mtu=[1500, 9000], tcp_space=["default", 65536]).iloc[[0, 3]].reset_index(drop=True)
    table = stats.effects(stats.grid(run(of, noise(np.random.default_rng(7), of, 3))))
    assert table["n_blocks"].tolist() == [0, 0]
    assert table["change_pct"].isna().all()


def test_interactions_of_a_fraction_are_those_of_its_model_which_has_none_of_three_factors() -> None:
    of = half_fraction()
    mtu, large = (of["mtu"] == 9000).to_numpy(), (of["tcp_space"] == 65536).to_numpy()
    truth = 4.6 + 0.03 * mtu + 0.1 * large + 0.02 * (mtu & large)
    row = stats.interactions(stats.grid(run(of, np.tile(truth[:, None], 2)))).iloc[0]
    assert row[["method", "protocol"]].tolist() == ["model", "all"]
    parts = row[["alone_pct", "on_top_pct", "both_pct", "interaction_pct"]].tolist()
    assert parts == pytest.approx([pct(0.03), pct(0.05), pct(0.15), pct(0.02)])
    table = stats.interactions(stats.grid(run(of, noise(np.random.default_rng(12), of, 4))))
    assert table[["protocol", "tool", "direction"]].to_numpy().tolist() == [["all", "all", "all"]]
