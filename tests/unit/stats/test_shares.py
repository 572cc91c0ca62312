import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from support.synthetic_frames import cases, noise, run

from lab import stats


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_shares_are_the_type_two_anova(seed: int, holes: bool) -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 4000, 9000], tcp_space=["default", 65536])
    of = of.drop(index=[1, 8]).reset_index(drop=True) if holes else of
    trials = run(of, noise(np.random.default_rng(seed), of, 5))
    found = stats.shares(stats.grid(trials))
    data = trials.assign(log=np.log(trials["MB_per_s"]), space=trials["tcp_space"].astype(str))
    anova = anova_lm(ols("log ~ (C(direction) + C(mtu) + C(space)) ** 2 + C(block)", data).fit(), typ=2)
    terms = [term.replace("tcp_space", "space").split(":") for term in found.table["term"]]
    names = [":".join(f"C({name})" for name in term) for term in terms]
    expected = [anova.loc["Residual" if name == "C(rest)" else name] for name in names]
    np.testing.assert_allclose(found.table["sum_of_squares"], [row["sum_sq"] for row in expected], rtol=1e-6)
    assert found.table["df"].tolist() == [row["df"] for row in expected]
    total = ((data["log"] - data["log"].mean()) ** 2).sum()
    np.testing.assert_allclose(found.table["share"] * total, found.table["sum_of_squares"])
    assert (found.used, found.blocks) == (5, 5)
    if not holes:
        assert found.table["share"].sum() == pytest.approx(1)


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

    tool = unexplained("protocol * C(mtu)") - unexplained("protocol * C(mtu) + tool")
    both = unexplained("(protocol + tool) * C(mtu)") - unexplained("(protocol + tool + C(mtu)) ** 2")
    assert table["tool"] == pytest.approx(tool)
    assert table["protocol:tool"] == pytest.approx(both)
    assert table["rest"] == pytest.approx(unexplained("(protocol + tool + C(mtu)) ** 2"))


def test_shares_leave_out_blocks_that_lack_a_case() -> None:
    of = cases(mtu=[1500, 9000])
    logs = noise(np.random.default_rng(10), of, 5)
    whole = stats.shares(stats.grid(run(of, logs[:, 1:])))
    logs[0, 0] = np.nan
    found = stats.shares(stats.grid(run(of, logs)))
    assert (found.used, found.blocks) == (4, 5)
    pd.testing.assert_frame_equal(found.table, whole.table)
