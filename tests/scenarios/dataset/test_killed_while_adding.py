"""Killed at any point, `add` leaves a dataset as it was, or with all of a run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.datasets import Shape, count_rows, write_runs
from support.paths import ROOT

from lab.dataset.add import add
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from lab.dataset.add import add
from lab.dataset.folder import Dataset
from lab.results.run_folder import RunFolder
import pyarrow.parquet
dataset, run, copies = map(Path, sys.argv[1:])
real = os.fsync
for allowed in range(40):
    shutil.copytree(dataset, copies / f"{allowed:02}")
    if not (child := os.fork()):
        calls = 0
        def fsync(descriptor):
            global calls
            calls += 1
            if calls > allowed:
                os.kill(os.getpid(), signal.SIGKILL)
            real(descriptor)
        os.fsync = fsync
        copy = Dataset(copies / f"{allowed:02}")
        with copy.claimed():
            add(copy, RunFolder(run))
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def test_killed_at_any_fsync_the_dataset_is_as_it_was_or_has_all(
    engine: Engine, dataset: Dataset, tmp_path: Path
) -> None:
    [more] = write_runs(tmp_path / "more", [Shape(seed=3, blocks=1, tools=("rsync",))])
    (more.path / "run.json").write_text(json.dumps({**more.run, "id": "run-2"}))
    before, every = count_rows(engine, dataset), ["run-0", "run-1", "run-2"]
    (tmp_path / "copies").mkdir()
    words = [sys.executable, "-c", KILLED, *map(str, (dataset.path, more.path, tmp_path / "copies"))]
    subprocess.run(words, cwd=ROOT, check=True)
    copies = sorted((tmp_path / "copies").iterdir())
    assert len(copies) > 6
    assert list(Dataset(copies[-1]).register.runs) == every
    whole = count_rows(engine, Dataset(copies[-1]))
    assert whole > before
    for copy in copies[:-1]:
        again = Dataset(copy)
        is_there = list(again.register.runs) == every
        assert count_rows(engine, again) == (whole if is_there else before)
        with again.claimed():
            assert add(again, RunFolder(more.path)) != is_there
        assert list(Dataset(copy).register.runs) == every
        assert count_rows(engine, again) == whole
