"""What the functions of notebooks show of the runs that come with the lab, and of many that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cell_output import Shown

from lab import stats
from lab.notebook import compared, explore, open_two, self_check
from lab.notebook.table import Table


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_run_a_factor_a_case_and_a_trial_follow_each_other(shown: Shown) -> None:
    picked = explore.pick_run()
    factor, case = explore.pick_factor(picked), explore.pick_case(picked)
    explore.pick_trial(picked, case)
    assert list(picked.widget.options) == ["example", "example-delay"]
    assert list(factor.widget.options) == ["protocol", "tool", "TCP buffer"]
    case.widget.value = "smb-cp-read-ram-mtu1500-tcp524288"
    picked.widget.value = "example-delay"
    run, of_factor, of_case, of_trial = (output[-1] for output in shown.outputs)
    assert "1 ms of delay each way" in run
    assert "[13 rows x 10 columns]" in of_factor
    assert "TCP 512 KiB" in of_case
    assert "smb-cp-read-ram-mtu1500-tcp524288" in of_trial.replace("\\", "")
    assert case.value == "smb-cp-read-ram-mtu1500-tcp524288"


def test_two_runs_are_compared_as_the_command_compares_them() -> None:
    a, b = open_two()
    comparison = compared.over(b, a)
    table, pooled = stats.compare(a.trials, b.trials)
    assert "B is slower: 0.51 times as fast as A" in repr(compared.show_answer(comparison))
    (axes,) = compared.draw_change(comparison).axes
    assert {"all cases", "NFS cp write", "SSH rsync read"} <= {text.get_text() for text in axes.texts}
    by_row, by_case = compared.show_change(comparison).parts
    assert isinstance(by_row, Table)
    assert isinstance(by_case, Table)
    assert (len(by_row.table.rows), len(by_case.table.rows)) == (len(pooled), len(table)) == (14, 28)
    assert ["title", a.run["title"], b.run["title"]] in compared.show_differences(comparison).table.rows
    numbers = compared.cases(comparison)
    assert [*numbers.columns[:4]] == ["protocol", "tool", "direction", "tcp_space"]
    assert numbers["ratio"].to_list() == pytest.approx(table["ratio"].to_list())


def test_intervals_of_made_up_runs_hold_the_truth_as_often_as_they_say() -> None:
    same = self_check.simulate(0, runs=40)
    assert 0.9 <= same["held"].mean() <= 1
    known = self_check.injected([-30], runs=10).loc["-30 %"]
    assert float(known["found, mean"].split()[0]) == pytest.approx(-30, abs=2)
    assert known["called established"].startswith("40 of 40")
    covered = self_check.coverage([3, 10])
    assert covered.loc[["normal"]].to_numpy().min() >= 94
    assert covered.loc[["skewed (lognormal)"]].to_numpy().max() <= 94
