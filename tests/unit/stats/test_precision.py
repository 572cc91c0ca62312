import numpy as np
import pytest
from support.synthetic_frames import cases, noise, run

from lab import stats

OF = cases(protocol=["afp", "smb"], direction=["write", "read"], mtu=[1500, 9000], tcp_space=["default", 65536])


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_whose_interval_is_too_wide_are_named(seed: int) -> None:
    trials = run(OF, noise(np.random.default_rng(seed), OF, 5))
    table = stats.effects(stats.grid(trials), ["mtu"])
    ends = 100 + table[["low_pct", "high_pct"]].to_numpy()
    half = 100 * (np.sqrt(ends[:, 1] / ends[:, 0]) - 1)
    precision = np.median(half) / 100 * (1 + 1e-9)  # not at the width of a row itself, where rounding decides
    rows = zip(table.to_dict("records"), half, strict=True)
    wide = [
        (f"{row['protocol'].upper()} cp {row['direction']}", width) for row, width in rows if width > 100 * precision
    ]
    expected = [f"MTU 1500 → 9000, {where}: ±{width:.1f} %" for where, width in wide]
    assert stats.wide_effects(trials, ["mtu"], precision) == expected
    assert len(expected) == 2
    assert stats.wide_effects(trials, ["mtu", "mtu:tcp_space"], 10.0) == []


def test_an_effect_without_an_interval_is_too_wide() -> None:
    logs = noise(np.random.default_rng(1), OF, 1)
    trials = run(OF, logs)
    assert stats.wide_effects(trials, ["mtu"], 0.1)[:2] == [
        f"MTU 1500 → 9000, {where}: no interval yet (blocks: 1)" for where in ("all cases", "AFP cp write")
    ]
    assert stats.wide_effects(trials, ["mtu:tcp_space"], 0.1)[0] == (
        "MTU 1500 → 9000 with TCP buffer default → 64 KiB, all cases: no interval yet (blocks: 1)"
    )
    assert len(stats.wide_effects(run(OF, logs * np.nan), ["mtu"], 0.1)) == 5
    assert stats.wide_effects(trials[:1], ["mtu"], 0.1) == ["MTU: less than two levels were tried yet"]


def test_only_widths_are_looked_at() -> None:
    """Whatever the effects are, the same noise gives the same answer."""
    logs = noise(np.random.default_rng(2), OF, 4)
    shifts = np.random.default_rng(3).normal(0, 1, (len(OF), 1))
    asked = ["protocol", "mtu", "mtu:tcp_space"]
    assert stats.wide_effects(run(OF, logs), asked, 0.02) == stats.wide_effects(run(OF, logs + shifts), asked, 0.02)
