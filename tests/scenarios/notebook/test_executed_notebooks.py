"""Executed notebooks and their pages: of the example, of other runs, and of cells that fail."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from support.notebooks import SHOWN, assert_quiet, assert_runs_on_what_comes_with_the_lab, outputs_of
from support.observed_trials import blocks, read, seen, write_measured
from support.rendered import lacking
from support.synthetic_runs import RUN, make_trials, write_run

from lab.base import shipped
from lab.base.errors import LabFailure
from lab.notebook import compared, export, open_chosen, open_two, self_check
from lab.notebook.explore import answer_of
from lab.notebook.table import Table
from lab.stats.two_runs import compare_all


def test_each_notebook_is_executed_by_a_test() -> None:
    assert sorted(SHOWN) == sorted(shipped.notebooks())


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    notebook = export.read(shipped.notebooks()[name])
    importlib.import_module("nbformat").validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert max(len(cell.source.splitlines()) for cell in code) <= 6  # logic is in lab.notebook, with tests of its own


def test_a_notebook_runs_on_what_comes_with_the_lab_and_its_page_fetches_nothing(tmp_path: Path) -> None:
    """This notebook shows most; tests/breadth/notebook has the others."""
    assert_runs_on_what_comes_with_the_lab("explore", tmp_path)


def executed(name: str, **chosen: str) -> Any:
    return export.execute(export.read(shipped.notebooks()[name]), chosen)


def test_the_page_says_the_same_as_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook is called in a folder below that of the run."""
    folder = write_run(tmp_path / "results", make_trials(2, combinations=[("afp", "cp")]))
    below = tmp_path / "notebooks"
    below.mkdir()
    monkeypatch.setenv("LAB_RUN", f"results/{folder.path.name}")
    notebook = executed("explore", LAB_FOLDER=str(below))
    assert_quiet(notebook)
    shown = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs_of(notebook))
    monkeypatch.chdir(below)
    assert not lacking(shown, folder.path.name, answer_of(open_chosen())._repr_html_(), "void")


def test_a_notebook_runs_on_a_run_that_only_the_client_saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RUN", str(write_measured(tmp_path, blocks([seen(), read()], 3)).path))
    notebook = executed("explore")
    assert_quiet(notebook)
    assert "Factor: nothing to pick from in this run" in export.page(notebook)


def test_a_page_has_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {role: facts | {"hostname": "marsgate"} for role, facts in RUN["hosts"].items()}
    trials = make_trials(2, combinations=[("afp", "cp")])
    folder = write_run(tmp_path, trials, hosts=hosts, title="marsgate to its nas", names={"host": ["marsgate"]})
    monkeypatch.setenv("LAB_RUN", str(folder.path))
    assert lacking(export.page(executed("design")), "host-1 to its nas", "marsgate") == ["marsgate"]


def test_a_cell_that_fails_is_an_error_and_leaves_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RUN", "no-such-run")
    with pytest.raises(LabFailure, match="the notebook stopped: no-such-run: not a run folder"):
        export.export(shipped.notebooks()["design"], tmp_path / "page.html", {"LAB_FOLDER": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_two_runs_are_compared_as_the_command_compares_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = open_two()
    comparison = compared.over(b, a)
    (expected,) = compare_all(a.trials, [b.trials])
    assert "B is slower: 0.57 times as fast as A" in repr(compared.show_answer(comparison))
    (axes,) = compared.draw_change(comparison).axes
    assert {"all cases", "NFS cp write", "SSH rsync read"} <= {text.get_text() for text in axes.texts}
    by_row, by_case = compared.show_change(comparison).parts
    assert isinstance(by_row, Table)
    assert isinstance(by_case, Table)
    assert (len(by_row.table.rows), len(by_case.table.rows)) == (len(expected.pooled), len(expected.cases)) == (14, 28)
    assert ["title", a.run["title"], b.run["title"]] in compared.show_differences(comparison).table.rows
    numbers = compared.cases(comparison)
    assert [*numbers.columns[:4]] == ["protocol", "tool", "direction", "tcp_space"]
    assert numbers["ratio"].to_list() == pytest.approx(expected.cases["ratio"].to_list())


def test_intervals_of_made_up_runs_hold_the_truth_as_often_as_they_say() -> None:
    same = self_check.simulate(0, runs=40)
    assert 0.9 <= same["held"].mean() <= 1
    known = self_check.injected([-30], runs=10).loc["-30 %"]
    assert float(known["found, mean"].split()[0]) == pytest.approx(-30, abs=2)
    assert known["called established"].startswith("40 of 40")
    covered = self_check.coverage([3, 10])
    assert covered.loc[["normal"]].to_numpy().min() >= 94
    assert covered.loc[["skewed (lognormal)"]].to_numpy().max() <= 94
