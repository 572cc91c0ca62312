"""A table is entered in the registry alone: everything that shows tables has it from there."""

import json
from pathlib import Path

import pandas as pd
import pytest
from reference_pages import PAGES
from support.commands import lab
from support.datasets import dataset_of
from support.synthetic_runs import trial, write_run

from lab.report import registry
from lab.report.registry import Table
from lab.report.tables import TextTable, records
from lab.results.run_folder import RunFolder
from lab.stats.statistics import Statistics


def toy(run: Statistics) -> pd.DataFrame:
    """How many cases each protocol has."""
    return run.summary.groupby("protocol", observed=True).size().rename("cases").reset_index()


def toy_table(run: Statistics) -> TextTable:
    return TextTable(["toys", "cases"], toy(run).astype(str).to_numpy().tolist(), "A caption of toys.")


TOY: Table[Statistics] = Table("toy", "How many toys?", toy_table, "toys", lambda run: records(toy(run)))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.setitem(registry.OF_RUN, "toy", TOY)
    monkeypatch.setitem(registry.OF_DATASET, "toy", TOY)
    return write_run(tmp_path / "results", [trial()], finished_at="2030-01-02T03:04:05+00:00")


@pytest.mark.usefixtures("empty_figures")
def test_a_new_table_is_in_the_terminal_in_json_and_in_the_report(
    run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = lab(capsys, "show", str(run.path), "--table", "toy")
    assert code == 0
    assert ["afp", "1"] in [line.split() for line in out.splitlines()]
    assert "A caption of toys." in out
    assert json.loads(lab(capsys, "show", str(run.path), "--json")[1])["toys"] == [{"protocol": "afp", "cases": 1}]
    assert lab(capsys, "report", str(run.path), "--to", str(tmp_path / "report"))[0] == 0
    for name in ("report.html", "post-appendix.md"):
        text = (tmp_path / "report" / name).read_text()
        assert "How many toys?" in text
        assert "A caption of toys." in text


def test_a_dataset_has_it(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    dataset_of(tmp_path / "dataset", [run])
    words = ("dataset", "show", "--dataset", str(tmp_path / "dataset"))
    assert "A caption of toys." in lab(capsys, *words, "--table", "toy")[1]
    (sweep,) = json.loads(lab(capsys, *words, "--json")[1])
    assert sweep["toys"] == [{"protocol": "afp", "cases": 1}]


@pytest.mark.usefixtures("run")
def test_the_reference_has_it() -> None:
    assert "store-effects, waterfall, counted, remarks, lost, toy |" in "\n".join(PAGES["commands.md"]())
    assert "| `toy` | How many toys? | `toys` |" in "\n".join(PAGES["data-dictionary.md"]())
