"""A dataset of any runs gives the tables that the frame of all these runs gives."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.datasets import Shape, dataset_of, tool_trials
from support.examples import at_most
from support.paths import unpack_run
from support.pooled_tables import assert_same, assert_same_own_numbers, frame_of, pooled_of, tool_runs, without_own
from support.synthetic_runs import write_run

from lab.dataset import frames, sweep_trials
from lab.dataset.compact import compact
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.results.run_folder import RunFolder
from lab.stats import encoding

pytest.importorskip("duckdb")
CHOICES: dict[str, list[object]] = {
    "protocols": [("afp", "smb"), ("smb",), ("afp", "nfs", "smb")], "tools": [("cp",), ("cp", "rsync")],
    "mtus": [(1500, 9000), (1500,)], "spaces": [("default",), ("default", 65536, 4194304)],
    "option": ["", "smb.signing"], "lost": [0.0, 0.1, 0.9], "missing": [0.0, 0.2], "again": [0.0, 0.2],
}  # fmt: skip
DRAWN: dict[str, Any] = {name: st.sampled_from(values) for name, values in CHOICES.items()}
SHAPES = st.builds(Shape, seed=st.integers(0, 10**6), blocks=st.integers(1, 12), half=st.booleans(), **DRAWN)


@given(st.lists(SHAPES, min_size=1, max_size=3))
@at_most(10)
@example([Shape(seed=1, blocks=1)])
@example([Shape(seed=2, lost=0.2), Shape(seed=3, option="smb.signing", lost=0.2), Shape(seed=4, blocks=9)])
@example([Shape(seed=5, blocks=8, tools=("cp", "rsync"), spaces=("default", 65536), half=True)])
@example([Shape(seed=7, blocks=7, shots=2), Shape(seed=8, blocks=3, shots=2, lost=0.3, mtus=(1500,))])
@example([Shape(seed=9, blocks=7, shots=1, lost=0.2), Shape(seed=10, blocks=2)])
@example([Shape(seed=6, blocks=12, again=0.5, missing=0.3, protocols=("afp", "nfs", "smb"))])
def test_every_table_equals_that_of_the_frame(engine: Engine, shapes: list[Shape]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_same(*pooled_of(engine, Path(folder), shapes))


PLACES = {"PART_ROWS": sweep_trials, "MOST_TRIALS": encoding, "MOST_FILES": frames}
SMALL, LARGE = {"PART_ROWS": 1, "MOST_TRIALS": 4}, {"PART_ROWS": 1 << 20, "MOST_TRIALS": 30}


@pytest.mark.parametrize("limits", [SMALL, LARGE, {"MOST_FILES": 2}])
def test_every_tool_says_the_same(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Mapping[str, int]
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(PLACES[name], name, limit)
    runs = tool_runs(tmp_path / "results")
    dataset, whole = dataset_of(tmp_path / "dataset", runs), frame_of(*runs)
    sweep = Pooled(engine, dataset, "synthetic")
    assert_same_own_numbers(sweep, whole)
    assert without_own(sweep) == set()
    assert sweep.waterfall.notna().any().all()
    assert min(len(sweep.store_effects), sweep.shares.used) > 0
    assert len(sweep.some) < len(whole.trials.frame)
    with dataset.claimed():
        compact(engine, dataset)
    assert_same_own_numbers(Pooled(engine, Dataset(dataset.path), "synthetic"), whole)


def test_runs_without_counts_have_no_tables_of_them(engine: Engine, tmp_path: Path) -> None:
    run = write_run(tmp_path / "results", tool_trials(5, 3, counted=False))
    sweep = Pooled(engine, dataset_of(tmp_path / "dataset", [run]), "synthetic")
    assert_same_own_numbers(sweep, frame_of(run))
    assert without_own(sweep) == {"clients", "requests", "frames", "capacity"}
    none = write_run(tmp_path / "lost", tool_trials(6, 2, lost=1.0))
    assert_same_own_numbers(Pooled(engine, dataset_of(tmp_path / "none", [none]), "synthetic"), frame_of(none))


@pytest.mark.parametrize("names", [("demo", "demo-again", "old-schema"), ("faulty",), ("guests",), ("macs",)])
def test_kept_runs_say_the_same(engine: Engine, tmp_path: Path, names: Sequence[str]) -> None:
    runs = []
    for name in names:
        folder = unpack_run(name, tmp_path / name)
        about = folder / "run.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "name": "kept", "id": name}))
        runs.append(RunFolder(folder))
    sweep = Pooled(engine, dataset_of(tmp_path / "dataset", runs), "kept")
    assert_same_own_numbers(sweep, frame_of(*runs))
