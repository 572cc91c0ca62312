"""A contribution of somebody else comes into a dataset where it adds up, and not otherwise."""

import shutil
from pathlib import Path

import pytest
from support.commands import lab
from support.contributions import change_lines, of_example

from lab.dataset.folder import Dataset

pytest.importorskip("duckdb")


def test_it_is_verified_before_it_is_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = of_example(tmp_path / "good")
    bad = Path(shutil.copytree(good, tmp_path / "bad"))
    change_lines(bad, lambda lines: lines[:-4])
    place = str(tmp_path / "dataset")
    code, _, err = lab(capsys, "dataset", "add", "--dataset", place, str(bad))
    assert code == 2
    assert "a contribution that does not add up: trials.jsonl: " in err
    assert "lab contribute --verify" in err
    assert not list(tmp_path.rglob("*.parquet"))
    assert lab(capsys, "dataset", "add", "--dataset", place, str(good))[0] == 0
    assert Dataset(Path(place)).sweeps == ["example"]
