"""What the docs read from an exported table."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.results import examples, run_folder

MEDIANS = Path(__file__).with_name("tables") / "medians.py"


def test_the_medians_are_those_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "example", "--to", "parquet", "--output", "both.parquet"]) == 0
    printed = subprocess.run([sys.executable, MEDIANS], capture_output=True, text=True, check=True).stdout
    told = [float(number) for number in re.findall(r"[0-9]+\.[0-9]+$", printed, re.MULTILINE)]
    example = examples.find("example")
    assert example is not None
    trials = run_folder.load(example.path).query("status == 'ok' and protocol not in ('link', 'store')")
    medians = trials.groupby(["protocol", "tool", "direction"])["MB_per_s"].median()
    assert told == pytest.approx(medians.tolist(), abs=1e-5)
