from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import RUN, make_trials, write_run

from lab import stats
from lab.cli import main as cli
from lab.results.run_folder import Trial

OF = cases(protocol=["afp", "smb"], mtu=[1500, 9000])
SMALL = make_trials(4, combinations=[("afp", "cp"), ("ssh", "rsync")])


@pytest.mark.parametrize("seed", range(5))
def test_cases_are_compared_by_welch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = noise(rng, OF, 5), noise(rng, OF, 8) + rng.normal(0, 0.2, 8)
    table, pooled = stats.compare(run(OF, a), run(OF, b))
    assert len(table) == 4
    for number, row in enumerate(table.to_dict("records")):
        expected = ttest_ind(b[number], a[number], equal_var=False)
        ends = 100 * np.expm1(expected.confidence_interval(0.95))
        assert (row["n_a"], row["n_b"]) == (5, 8)
        assert (row["low_pct"], row["high_pct"]) == pytest.approx(tuple(ends))
        assert row["p_value"] == pytest.approx(expected.pvalue)
        assert row["ratio"] == pytest.approx(np.exp(b[number].mean() - a[number].mean()))
    together = ttest_ind(b[2:].mean(axis=0), a[2:].mean(axis=0), equal_var=False)
    assert pooled["protocol"].tolist() == ["afp", "smb"]
    assert pooled["p_value"].iloc[1] == pytest.approx(together.pvalue)


def test_only_common_cases_are_compared_and_pooled_in_blocks_that_have_them_all() -> None:
    rng = np.random.default_rng(1)
    more = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 4000, 9000])
    a, b = noise(rng, OF, 4), noise(rng, more, 3)
    a[0, 0] = np.nan
    table, pooled = stats.compare(run(OF, a), run(more, b))
    assert table[["protocol", "mtu", "n_a"]].to_numpy().tolist() == [
        ["afp", 1500, 3], ["afp", 9000, 4], ["smb", 1500, 4], ["smb", 9000, 4],
    ]  # fmt: skip
    assert pooled["n_a"].tolist() == [3, 4]
    assert pooled["n_b"].tolist() == [3, 3]


def test_another_size_is_another_case() -> None:
    logs = noise(np.random.default_rng(2), OF, 2)
    table, pooled = stats.compare(run(OF, logs), run(OF, logs, size_bytes=1000))
    assert table.empty
    assert pooled.empty


def test_one_block_has_a_ratio_and_no_interval() -> None:
    logs = noise(np.random.default_rng(3), OF, 3)
    table, _ = stats.compare(run(OF, logs[:, :1]), run(OF, logs))
    assert np.isfinite(table["change_pct"]).all()
    assert table[["low_pct", "p_value"]].isna().all(axis=None)
    assert not table["established"].any()


def two_runs(directory: Path, faster: float, **changes: Any) -> tuple[str, str]:
    hosts = {side: facts | {"kernel": "9.9-new"} for side, facts in RUN["hosts"].items()}
    quick = [replace(trial, elapsed_s=trial.elapsed_s and trial.elapsed_s / faster, **changes) for trial in SMALL]
    return str(write_run(directory, SMALL).path), str(write_run(directory, quick, hosts=hosts).path)


def test_the_command_says_what_differs_and_by_how_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = two_runs(tmp_path, 1.25)
    assert cli.main(["compare", a, b]) == 0
    said = capsys.readouterr().out
    assert "differ in everything that changed meanwhile" in " ".join(said.split())
    assert "server kernel" in said
    assert "9.9-new" in said
    assert said.index("9.9-new") < said.index("AFP cp write")
    assert "+25.0" in said
    assert f"A:{a}" in "".join(said.split())  # a long path is folded, and centred


def test_the_command_has_it_all_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = two_runs(tmp_path, 1.25)
    assert cli.main(["compare", "--json", a, b]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["a"], found["b"]) == (a, b)
    assert {"what": "client kernel", "a": "0.0-synthetic", "b": "9.9-new"} in found["differences"]
    assert [row["change_pct"] for row in found["cases"]] == pytest.approx([25] * 16)
    assert len(found["pooled"]) == 4


def other_mtu(trials: list[Trial]) -> list[Trial]:
    return [replace(trial, mtu=trial.mtu + 1) for trial in trials]


@pytest.mark.parametrize("trials", [[], other_mtu(SMALL), [replace(trial, status="void") for trial in SMALL]])
def test_runs_with_nothing_in_common_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], trials: list[Trial]
) -> None:
    a, b = write_run(tmp_path, SMALL), write_run(tmp_path, trials)
    assert cli.main(["compare", str(a.path), str(b.path)]) == 2
    said = capsys.readouterr().err
    assert ("no case has a good trial in both" if trials else "holds no trial") in said
    assert ("MTU: 1500, 9000 and 1501, 9001" in said) == (len(trials) > 0 and trials[0].mtu != SMALL[0].mtu)
