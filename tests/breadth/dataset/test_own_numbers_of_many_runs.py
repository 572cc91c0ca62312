"""What tools measured by themselves says of a dataset what it says of the frame of all its runs."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from support.datasets import dataset_of
from support.paths import RUN_CAPTURES
from support.pooled_tables import assert_same_own_numbers, frame_of, tool_runs, without_own
from support.synthetic_runs import write_run
from support.tool_trials import tool_trials

from lab.base import shipped
from lab.dataset import frames, sweep_trials
from lab.dataset.compact import compact
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.results import open_run
from lab.results.run_folder import RunFolder
from lab.stats import encoding

pytest.importorskip("duckdb")
PLACES = {"PART_ROWS": sweep_trials, "MOST_TRIALS": encoding, "MOST_FILES": frames}


@pytest.mark.parametrize(
    "limits", [{"PART_ROWS": 1, "MOST_TRIALS": 4}, {"PART_ROWS": 1 << 20, "MOST_TRIALS": 30}, {"MOST_FILES": 2}]
)
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
    assert len(sweep.store_effects) > 0
    assert sweep.shares.used > 0
    assert len(sweep.some) < len(whole.trials.frame)
    with dataset.claimed():
        compact(engine, dataset)
    assert_same_own_numbers(Pooled(engine, Dataset(dataset.path), "synthetic"), whole)


def test_of_runs_of_which_nothing_was_counted_there_are_no_such_tables(engine: Engine, tmp_path: Path) -> None:
    run = write_run(tmp_path / "results", tool_trials(5, 3, counted=False))
    dataset = dataset_of(tmp_path / "dataset", [run])
    sweep = Pooled(engine, dataset, "synthetic")
    assert_same_own_numbers(sweep, frame_of(run))
    assert without_own(sweep) == {"clients", "requests", "frames", "capacity"}
    none = write_run(tmp_path / "lost", tool_trials(6, 2, lost=1.0))
    assert_same_own_numbers(Pooled(engine, dataset_of(tmp_path / "none", [none]), "synthetic"), frame_of(none))


@pytest.mark.parametrize("name", sorted(shipped.examples()))
def test_the_runs_that_come_with_the_lab_say_the_same(engine: Engine, tmp_path: Path, name: str) -> None:
    folder = open_run(name)
    dataset = dataset_of(tmp_path / "dataset", [folder])
    assert_same_own_numbers(Pooled(engine, dataset, dataset.sweeps[0]), frame_of(folder))


@pytest.mark.parametrize("names", [("demo", "demo-again", "old-schema"), ("faulty",), ("guests",), ("macs",)])
def test_kept_runs_say_the_same(engine: Engine, tmp_path: Path, names: Sequence[str]) -> None:
    runs = []
    for name in names:
        (tmp_path / name).mkdir()
        for packed in (RUN_CAPTURES / name / "run").iterdir():
            (tmp_path / name / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        about = tmp_path / name / "run.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "name": "kept", "id": name}))
        runs.append(RunFolder(tmp_path / name))
    sweep = Pooled(engine, dataset_of(tmp_path / "dataset", runs), "kept")
    assert_same_own_numbers(sweep, frame_of(*runs))
