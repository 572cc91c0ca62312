"""Effects and speeds over pairs of hosts: the first stage is that of one run, the second one is over pairs."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from support.effect_rows import one
from support.synthetic_frames import cases, noise, run

from lab import stats
from lab.stats.over_pairs import moderate_errors, over_pairs, pool

OF = cases(protocol=["afp", "smb"], direction=["write", "read"], mtu=[1500, 9000])
FIVE = np.full((1, 4), 5)  # blocks of four pairs
ALL = dict.fromkeys(stats.POOLED, stats.EVERY)


def frames(seed: int, effects: Sequence[float], of: pd.DataFrame = OF, blocks: int = 5) -> list[pd.DataFrame]:
    """A run of each pair, whose MTU of 9000 has this effect, and whose speeds are its own."""
    chance = np.random.default_rng(seed)
    jumbo = (of["mtu"] == 9000).to_numpy(float)[:, None]
    return [run(of, noise(chance, of, blocks) + chance.normal(0, 0.5) + effect * jumbo) for effect in effects]


def test_each_pair_has_the_effect_of_its_own_run() -> None:
    runs = frames(1, [0.1, 0.2, 0.3])
    made = over_pairs([[frame] for frame in runs])
    for pair, frame in enumerate(runs):
        alone = stats.effects(stats.grid(frame))
        for place, row in enumerate(stats.rows_of(made.effects)):
            expected = one(alone, **{name: row[name] for name in ("factor", "baseline", "level", *stats.POOLED)})
            own = one(made.effects_of_pairs, row=place, pair=pair)
            assert own["n_blocks"] == expected["n_blocks"] == 5
            for end in ("change_pct", "low_pct", "high_pct"):
                assert own[end] == pytest.approx(expected[end])


def test_the_second_stage_rests_on_the_pairs() -> None:
    runs = frames(2, [0.1, 0.2, 0.3, 0.4])
    made = over_pairs([[frame] for frame in runs])
    place = made.effects.index[(made.effects["factor"] == "mtu") & (made.effects["protocol"] == stats.EVERY)][0]
    of_pairs = made.effects_of_pairs[made.effects_of_pairs["row"] == place]
    errors = of_pairs["standard_error"].to_numpy()[None]
    expected = pool(np.log1p(of_pairs["change_pct"].to_numpy()[None] / 100), moderate_errors(errors, FIVE))
    row = made.effects.loc[place]
    assert row["n_pairs"] == 4
    assert np.log1p(row["change_pct"] / 100) == pytest.approx(expected.means.mean[0])
    assert np.log1p(row["high_pct"] / 100) == pytest.approx((expected.means.mean + expected.means.half)[0])
    assert row["tau_pct"] == pytest.approx(100 * np.expm1(expected.tau[0]))
    assert row["predicted_low_pct"] < row["low_pct"] < row["change_pct"] < row["high_pct"] < row["predicted_high_pct"]


def test_more_blocks_do_not_make_pairs_that_differ_certain() -> None:
    effects = [-0.3, 0.1, 0.5]
    few, many = (over_pairs([[frame] for frame in frames(3, effects, blocks=blocks)]) for blocks in (4, 60))
    widths = []
    for made in (few, many):
        row = one(made.effects, factor="mtu", **ALL)
        widths.append(row["high_pct"] - row["low_pct"])
        assert not row["established"]
        assert row["i2"] > 0.9
    assert widths[1] > 0.5 * widths[0]


def test_two_pairs_have_no_interval_over_pairs() -> None:
    made = over_pairs([[frame] for frame in frames(4, [0.3, 0.31])])
    assert made.effects["low_pct"].isna().all()
    assert not made.effects["established"].any()
    assert made.effects_of_pairs["low_pct"].notna().all()
    assert made.speeds["low_MB_per_s"].isna().all()


def test_runs_of_one_pair_are_one_pair() -> None:
    runs = frames(5, [0.1, 0.1, 0.2, 0.3])
    made = over_pairs([runs[:2], runs[2:3], runs[3:]])
    row = one(made.effects, factor="mtu", **ALL)
    assert row["n_pairs"] == 3
    place = made.effects.index[(made.effects["factor"] == "mtu") & (made.effects["protocol"] == stats.EVERY)][0]
    assert made.effects_of_pairs.set_index("row").loc[place, "n_blocks"].tolist() == [10, 5, 5]


def test_an_overall_effect_is_of_cases_that_all_pairs_have() -> None:
    """One pair has no AFP, where MTU does much: its overall row alone would be another effect."""
    runs = frames(6, [0.1, 0.1, 0.1])
    jumbo_afp = (OF["mtu"] == 9000) & (OF["protocol"] == "afp")
    for number, frame in enumerate(runs):
        faster = np.tile(jumbo_afp.to_numpy(), 5)
        frame.loc[faster, "MB_per_s"] *= 2
        runs[number] = frame
    runs[2] = runs[2][runs[2]["protocol"] != "afp"].reset_index(drop=True)
    made = over_pairs([[frame] for frame in runs])
    row = one(made.effects, factor="mtu", **ALL)
    assert row["n_pairs"] == 3
    assert row["change_pct"] == pytest.approx(10.5, abs=3)
    afp = one(made.effects, factor="mtu", protocol="afp", tool="cp", direction="write")
    assert afp["n_pairs"] == 2
    assert np.isnan(afp["p_value"])
    protocol = one(made.effects, factor="protocol", **ALL)
    assert protocol["n_pairs"] == 2  # the third has nothing to compare


def test_speeds_are_geometric_means_over_pairs() -> None:
    runs = frames(7, [0.1, 0.2, 0.3])
    made = over_pairs([[frame] for frame in runs])
    row = one(made.speeds, protocol="smb", direction="read", mtu=9000)
    logs = [
        np.log(
            frame[(frame["protocol"] == "smb") & (frame["direction"] == "read") & (frame["mtu"] == 9000)]["MB_per_s"]
        )
        for frame in runs
    ]
    errors = np.array([[each.std(ddof=1) / np.sqrt(5) for each in logs]])
    expected = pool(np.array([[each.mean() for each in logs]]), moderate_errors(errors, FIVE[:, :3]))
    assert row["MB_per_s"] == pytest.approx(np.exp(expected.means.mean[0]))
    assert row["low_MB_per_s"] == pytest.approx(np.exp((expected.means.mean - expected.means.half)[0]))
    assert len(made.speeds) == len(OF)


def test_a_payload_of_another_size_is_the_same_case() -> None:
    runs = frames(8, [0.1, 0.2, 0.3])
    made = over_pairs([[frame.assign(size_bytes=2 ** (20 + pair))] for pair, frame in enumerate(runs)])
    assert (made.speeds["n_pairs"] == 3).all()


def test_p_values_are_adjusted_overall_rows_first() -> None:
    made = over_pairs([[frame] for frame in frames(9, [0.2, 0.22, 0.21, 0.2, 0.19])])
    table = made.effects
    comparison, is_overall = stats.comparisons(table)
    assert (np.diff(comparison) >= 0).all()
    assert is_overall.sum() == 2  # protocol and MTU
    assert (table["p_adjusted"] >= table["p_value"] - 1e-12).all()
    assert one(table, factor="mtu", **ALL)["established"]
    assert not one(table, factor="protocol", **ALL)["established"]


def test_the_same_pairs_in_another_order_say_the_same() -> None:
    runs = frames(10, [0.1, 0.2, 0.4, 0.3])
    one_way, other = (over_pairs([[frame] for frame in some]) for some in (runs, runs[::-1]))
    keys = ["factor", "level", *stats.POOLED]
    pd.testing.assert_frame_equal(
        one_way.effects.sort_values(keys).reset_index(drop=True), other.effects.sort_values(keys).reset_index(drop=True)
    )
