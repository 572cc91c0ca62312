"""Options of mounts and tools in the statistics: compared within their protocol or tool, and found in a fraction."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.sweeps import cases_of, fraction_of_options, sweep_of_options
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.design.factors import ABSENT
from lab.design.sweep_file import Sweep
from lab.results.run_folder import load
from lab.stats.two_runs import compare_all, differing_levels


def test_a_frame_has_a_column_for_each_option_and_none_where_nobody_named_one(tmp_path: Path) -> None:
    options = {"smb.dialect": "3.0", "placebo": "none"}
    more = [trial(trial_id=name, protocol=name) for name in ("smb", "nfs")]
    trials = [trial(protocol="smb", options=options), *more]
    assert load(write_run(tmp_path / "a", trials).path)["smb.dialect"].tolist() == ["3.0", "default", ABSENT]
    assert "smb.dialect" not in load(write_run(tmp_path / "b", more).path)
    options = {"dd.bs": "4 KiB", "placebo": "none"}
    tried = [("dd", options), ("dd", {}), ("cp", options)]
    trials = [trial(trial_id=str(n), tool=tool, options=named) for n, (tool, named) in enumerate(tried)]
    assert load(write_run(tmp_path / "c", trials).path)["dd.bs"].tolist() == ["4 KiB", "default", ABSENT]


def frame_of(wanted: Sweep, logs: Any) -> Any:
    made, _ = cases_of(wanted)
    names = list(dict.fromkeys(name for case in made for name, _ in case.options if "." in name))
    of = cases(protocol=["x"] * len(made)).assign(
        protocol=[case.protocol for case in made], mtu=[case.mtu for case in made], tool=[case.tool for case in made],
        **{name: [case.option(name) for case in made] for name in names},
    )  # fmt: skip
    return run(of, logs(of))


def assert_effects(table: pd.DataFrame, expected: dict[tuple[str, object], float]) -> None:
    """Compare log ratios by factor and level."""
    ratios = {(row["factor"], row["level"]): np.log(row["ratio"]) for row in stats.rows_of(table)}
    assert {key: ratios[key] for key in expected} == pytest.approx(expected, abs=1e-9)


SMB = {"dialect": ["2.1", "3.0"], "signing": [True, False]}
WANTED = sweep_of_options(smb=SMB, nfs={"version": [3, 4.1, 4.2]}, mtu=[1500, 9000])


def test_an_option_is_compared_within_its_protocol() -> None:
    trials = frame_of(WANTED, lambda of: noise(np.random.default_rng(1), of, 4))
    table = stats.effects(stats.grid(trials))
    compared = table[["factor", "baseline", "level", "protocol", "n_pairs"]].to_numpy().tolist()
    assert compared == [
        ["protocol", "nfs", "smb", "all", 8], ["mtu", 1500, 9000, "all", 28], ["mtu", 1500, 9000, "nfs", 12],
        ["mtu", 1500, 9000, "smb", 16], ["smb.dialect", "2.1", "3.0", "all", 16],
        ["smb.signing", "false", "true", "all", 16], ["nfs.version", "3", "4.1", "all", 8],
        ["nfs.version", "3", "4.2", "all", 8],
    ]  # fmt: skip
    assert set(table["method"]) == {"pairs"}
    speed = np.log(trials["MB_per_s"]).groupby([trials["block"], trials["protocol"]]).mean().unstack()
    assert table["ratio"].iloc[0] == pytest.approx(np.exp((speed["smb"] - speed["nfs"]).mean()))


def test_the_model_of_a_whole_grid_says_what_pairs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = frame_of(WANTED, lambda of: noise(np.random.default_rng(2), of, 4))
    by_pairs = stats.effects(stats.grid(trials), by=["tool"])
    monkeypatch.setattr("lab.stats.contrasts.is_paired", lambda *_: False)
    by_model = stats.effects(stats.grid(trials), by=["tool"])
    assert set(by_model["method"]) == {"model"}
    options = by_pairs["factor"].str.contains(".", regex=False) | (by_pairs["factor"] == "protocol")
    np.testing.assert_allclose(by_model["ratio"][options], by_pairs["ratio"][options])


def test_a_fraction_finds_what_was_put_into_it() -> None:
    """Log speeds that are sums of effects: the model has to give each back, whatever cases were left out."""
    wanted, _ = fraction_of_options()
    put = {"protocol": {"smb": 0.3}, "smb.signing": {"true": -0.2}, "nfs.version": {"4.1": 0.1}, "mtu": {9000: 0.05}}

    def logs(of: Any) -> Any:
        made = sum(of[name].map(lambda level, by=by: by.get(level, 0.0)) for name, by in put.items())
        return np.tile(np.asarray(made, dtype=float)[:, None], 3)

    trials = frame_of(wanted, logs)
    table = stats.effects(stats.grid(trials))
    assert set(table["method"][table["factor"] == "protocol"]) == {"model"}
    # a protocol is over all signings and versions: what they cost is part of what a protocol is
    assert_effects(table, {
        ("smb.signing", "true"): -0.2, ("nfs.version", "4.1"): 0.1, ("smb.dialect", "3.0"): 0, ("mtu", 9000): 0.05,
        ("protocol", "smb"): 0.3 - 0.2 / 2 - 0.1 / 3,
    })  # fmt: skip
    assert table["protocol"][table["factor"] == "smb.signing"].tolist() == ["all"]


def test_shares_interactions_and_medians_know_options() -> None:
    trials = frame_of(WANTED, lambda of: noise(np.random.default_rng(3), of, 3))
    shares = stats.shares(stats.grid(trials)).table
    assert shares[["share", "df"]].sum().tolist() == pytest.approx([1, 14 * 3 - 1])
    pairs = stats.interactions(stats.grid(trials))[["factor", "with_factor"]].drop_duplicates().to_numpy().tolist()
    with_mtu = [["mtu", "smb.dialect"], ["mtu", "smb.signing"], ["mtu", "nfs.version"]]
    assert pairs == [*with_mtu, ["smb.dialect", "smb.signing"]]
    assert stats.summary(trials)["nfs.version"].value_counts().to_dict() == {ABSENT: 8, "3": 2, "4.1": 2, "4.2": 2}


def test_runs_are_compared_where_only_one_of_them_named_an_option() -> None:
    plain = frame_of(sweep_of_options(), lambda of: noise(np.random.default_rng(4), of, 3))
    asked = sweep_of_options(smb={"signing": ["default", True]})
    more = frame_of(asked, lambda of: noise(np.random.default_rng(5), of, 3))
    (versus,) = compare_all(plain, [more])
    assert versus.cases[["protocol", "smb.signing"]].to_numpy().tolist() == [["nfs", ABSENT], ["smb", "default"]]
    assert ("smb.signing", ["default"], ["default", "true"]) in differing_levels(plain, more)


PUT = {"tool": {"dd": 0.3}, "dd.bs": {"1 MiB": 0.2}, "smb.signing": {"true": -0.1}, "protocol": {"smb": 0.05}}


def swept() -> pd.DataFrame:
    """cp and dd with two block sizes, over NFS, and over SMB with and without signing, without noise."""
    options = {"dd.bs": ["4 KiB", "1 MiB"], "smb.signing": ["false", "true"]}
    grid = cases(protocol=["nfs", "smb"], tool=["cp", "dd"], **options)
    grid.loc[grid["tool"] != "dd", "dd.bs"] = ABSENT
    grid.loc[grid["protocol"] != "smb", "smb.signing"] = ABSENT
    grid = grid.drop_duplicates(ignore_index=True)
    logs = sum(grid[name].map(effects).fillna(0.0).to_numpy() for name, effects in PUT.items())
    return run(grid, np.tile(4.0 + np.asarray(logs, float)[:, None], (1, 4)))


def test_effects_of_options_of_tools_are_those_put_in_and_interact_with_protocols_but_not_with_tools() -> None:
    table = stats.effects(stats.grid(swept()), by=())
    assert_effects(table, {
        ("dd.bs", "1 MiB"): 0.2, ("smb.signing", "true"): -0.1, ("tool", "dd"): 0.3 + 0.2 / 2,  # over all that dd has
        ("protocol", "smb"): 0.05 - 0.1 / 2,
    })  # fmt: skip
    assert set(table["method"]) == {"pairs"}
    table = stats.interactions(stats.grid(swept()), by=())
    pairs = {frozenset((row["factor"], row["with_factor"])) for row in stats.rows_of(table)}
    assert frozenset(("dd.bs", "smb.signing")) in pairs
    assert frozenset(("dd.bs", "tool")) not in pairs
    assert table["interaction_pct"].to_numpy() == pytest.approx(0, abs=1e-9)
