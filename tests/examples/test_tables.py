"""What the docs read from an exported table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from lab.cli.main import main
from lab.results import examples, run_folder

MEDIANS = Path(__file__).with_name("tables") / "medians.py"


def test_the_medians_are_those_of_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "example", "example-delay", "--to", "parquet", "--output", "both.parquet"]) == 0
    printed = subprocess.run([sys.executable, MEDIANS], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    for name in ("example", "example-delay"):
        example = examples.find(name)
        assert example is not None
        trials = run_folder.load(example.path)
        rows = trials[(trials["tool"] == "rsync") & (trials["direction"] == "read") & (trials["protocol"] == "ssh")]
        assert f"{rows['MB_per_s'].median():.4f}"[:6] in printed
    assert "Length: 28" in printed or len(printed.splitlines()) >= 28
    assert pd.read_parquet("both.parquet")["run_id"].nunique() == 2
