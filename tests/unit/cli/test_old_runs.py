"""Real runs of an earlier lab: what is shown, planned, compared and exported of them stays byte for byte the same.

Kept in ``tests/captures/runs``: a sweep on the local lab (``demo``, and once more), one between guests, one between
emulated Macs, one with void and failed trials, one cut short, and one of the first schema.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from support.paths import RUN_CAPTURES

from lab.cli import main as cli

RUNS = ("demo", "guests", "macs", "faulty", "interrupted", "old-schema")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kept(name: str, file: str) -> str:
    return gzip.decompress((RUN_CAPTURES / name / f"{file}.gz").read_bytes()).decode()


def unpack(name: str) -> None:
    """The run folder ``name``, and beside it its sweep and its hosts file, in the working folder."""
    folder = Path(name)
    folder.mkdir()
    for packed in (RUN_CAPTURES / name / "run").iterdir():
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    shutil.copy(RUN_CAPTURES / name / "sweep.toml", f"{name}.toml")
    shutil.copy(RUN_CAPTURES / name / "hosts.ini", f"{name}.ini")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", RUNS)
def test_an_old_run_shows_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(name)
    assert printed(capsys, "show", name, "--json") == kept(name, "show.json")


@pytest.mark.parametrize("name", RUNS)
def test_its_sweep_makes_the_same_plan(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(name)
    assert printed(capsys, "plan", f"{name}.toml", "--hosts", f"{name}.ini", "--json") == kept(name, "plan.json")


@pytest.mark.parametrize("name", ["demo", "faulty"])
def test_its_table_is_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(name)
    printed(capsys, "report", name)
    assert (Path(name) / "report" / "table.csv").read_text() == kept(name, "table.csv")


def test_two_old_runs_compare_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    unpack("demo")
    unpack("demo-again")
    assert printed(capsys, "compare", "demo", "demo-again", "--json") == kept("demo-again", "compare.json")
