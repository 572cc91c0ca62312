"""Effects and interactions of a fraction of a grid by a model within each block, and the shares of variation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
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
    trials = run(half_fraction(), noise(np.random.default_rng(seed), half_fraction(), 4))
    table = stats.effects(stats.grid(trials))
    assert set(table["method"]) == {"model"}
    formula = "log ~ (C(protocol, Sum) + C(tool, Sum) + C(direction, Sum) + C(mtu, Sum) + C(space, Sum)) ** 2"
    data = trials.assign(log=np.log(trials["MB_per_s"]), space=trials["tcp_space"].astype(str))
    by_block = [-2 * ols(formula, of).fit().params["C(mtu, Sum)[S.1500]"] for _, of in data.groupby("block")]
    everywhere = one(table, factor="mtu", protocol="all")
    assert everywhere["n_blocks"] == 4
    expected = pct(np.array([np.mean(by_block), DescrStatsW(by_block).tconfint_mean()[0]]))
    assert everywhere[["change_pct", "low_pct"]].tolist() == pytest.approx(expected)


def test_a_fraction_knows_what_a_full_grid_would_without_higher_interactions() -> None:
    """Main effects and two-way interactions without noise: both methods find them, at each protocol too."""
    mtu, smb = (GRID["mtu"] == 9000).to_numpy(), (GRID["protocol"] == "smb").to_numpy()
    truth = 4.6 + 0.03 * mtu + 0.02 * (mtu & smb) - 0.2 * (GRID["tool"] == "rsync").to_numpy()
    kept = GRID.index.isin(pd.merge(GRID.reset_index(), half_fraction())["index"])
    table = stats.effects(stats.grid(run(half_fraction(), np.tile(truth[kept, None], 2))), ["mtu"])
    changes = dict(zip(table["protocol"], table["change_pct"], strict=True))
    assert changes == pytest.approx({"all": pct(0.04), "afp": pct(0.03), "smb": pct(0.05)})


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


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_shares_are_the_type_two_anova(seed: int, holes: bool) -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 4000, 9000], tcp_space=["default", 65536])
    of = of.drop(index=[1, 8]).reset_index(drop=True) if holes else of
    trials = run(of, noise(np.random.default_rng(seed), of, 5))
    shares = stats.shares(stats.grid(trials))
    table = shares.table
    data = trials.assign(log=np.log(trials["MB_per_s"]), space=trials["tcp_space"].astype(str))
    anova = anova_lm(ols("log ~ (C(direction) + C(mtu) + C(space)) ** 2 + C(block)", data).fit(), typ=2)
    terms = [term.replace("tcp_space", "space").split(":") for term in table["term"]]
    names = [":".join(f"C({name})" for name in term) for term in terms]
    expected = [anova.loc["Residual" if name == "C(rest)" else name] for name in names]
    np.testing.assert_allclose(table["sum_of_squares"], [row["sum_sq"] for row in expected], rtol=1e-6)
    assert table["df"].tolist() == [row["df"] for row in expected]
    total = ((data["log"] - data["log"].mean()) ** 2).sum()
    np.testing.assert_allclose(table["share"] * total, table["sum_of_squares"])
    assert (shares.used, shares.blocks) == (5, 5)
    assert holes or table["share"].sum() == pytest.approx(1)


@pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")
def test_shares_where_a_protocol_lacks_a_tool() -> None:
    """Every sum of squares is what a larger model explains more than a smaller one, whatever its columns."""
    of = cases(protocol=["afp", "smb", "ssh"], tool=["cp", "rsync"], mtu=[1500, 9000])
    of = of[(of["protocol"] != "ssh") | (of["tool"] != "cp")].reset_index(drop=True)
    trials = run(of, noise(np.random.default_rng(9), of, 4))
    table = stats.shares(stats.grid(trials)).table.set_index("term")["sum_of_squares"]
    data = trials.assign(log=np.log(trials["MB_per_s"]))

    def unexplained(formula: str) -> float:
        return float(ols(f"log ~ {formula} + C(block)", data).fit().ssr)

    rest = unexplained("(protocol + tool + C(mtu)) ** 2")
    tool = unexplained("protocol * C(mtu)") - unexplained("protocol * C(mtu) + tool")
    both = unexplained("(protocol + tool) * C(mtu)") - rest
    assert table[["tool", "protocol:tool", "rest"]].tolist() == pytest.approx([tool, both, rest])


def test_shares_leave_out_blocks_that_lack_a_case() -> None:
    of = cases(mtu=[1500, 9000])
    logs = noise(np.random.default_rng(10), of, 5)
    whole = stats.shares(stats.grid(run(of, logs[:, 1:])))
    logs[0, 0] = np.nan
    shares = stats.shares(stats.grid(run(of, logs)))
    assert (shares.used, shares.blocks) == (4, 5)
    pd.testing.assert_frame_equal(shares.table, whole.table)
