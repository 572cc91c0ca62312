"""Effects of a tool's own options: within the tool, over all protocols, and tools compared over all that they have."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.synthetic_frames import cases, run
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.design.factors import ABSENT
from lab.results.run_folder import load

PUT = {"tool": {"dd": 0.3}, "dd.bs": {"1 MiB": 0.2}, "smb.signing": {"true": -0.1}, "protocol": {"smb": 0.05}}


def swept() -> pd.DataFrame:
    """cp and dd with two block sizes, over NFS, and over SMB with and without signing, without noise."""
    grid = cases(
        protocol=["nfs", "smb"], tool=["cp", "dd"], **{"dd.bs": ["4 KiB", "1 MiB"], "smb.signing": ["false", "true"]}
    )
    grid.loc[grid["tool"] != "dd", "dd.bs"] = ABSENT
    grid.loc[grid["protocol"] != "smb", "smb.signing"] = ABSENT
    grid = grid.drop_duplicates(ignore_index=True)
    logs = sum(grid[name].map(effects).fillna(0.0).to_numpy() for name, effects in PUT.items())
    return run(grid, np.tile(4.0 + np.asarray(logs, float)[:, None], (1, 4)))


def test_a_level_is_there_only_with_its_tool(tmp_path: Path) -> None:
    options = {"dd.bs": "4 KiB", "placebo": "none"}
    trials = [
        trial(trial_id="1", tool="dd", options=options), trial(trial_id="2", tool="dd", options={}),
        trial(trial_id="3", tool="cp", options=options),
    ]  # fmt: skip
    assert load(write_run(tmp_path, trials).path)["dd.bs"].tolist() == ["4 KiB", "default", ABSENT]


def test_effects_are_those_put_in() -> None:
    table = stats.effects(stats.grid(swept()), by=())
    found = {(row["factor"], row["level"]): np.log(row["ratio"]) for row in stats.rows_of(table)}
    assert found["dd.bs", "1 MiB"] == pytest.approx(0.2)
    assert found["smb.signing", "true"] == pytest.approx(-0.1)
    assert found["tool", "dd"] == pytest.approx(0.3 + 0.2 / 2)  # over all that dd has
    assert found["protocol", "smb"] == pytest.approx(0.05 - 0.1 / 2)
    assert set(table["method"]) == {"pairs"}


def test_it_interacts_with_protocols_and_their_options_but_not_with_tools() -> None:
    table = stats.interactions(stats.grid(swept()), by=())
    pairs = {frozenset((row["factor"], row["with_factor"])) for row in stats.rows_of(table)}
    assert frozenset(("dd.bs", "smb.signing")) in pairs
    assert frozenset(("dd.bs", "tool")) not in pairs
    assert table["interaction_pct"].to_numpy() == pytest.approx(0, abs=1e-9)
