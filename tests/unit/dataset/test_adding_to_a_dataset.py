"""What adding a run writes, and that it comes whole or not at all: twice, or with a full disk."""

import json
import os
from pathlib import Path
from typing import IO

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.datasets import Shape, content_of, parquet_files, write_runs
from support.synthetic_runs import trial, write_run

from lab.base.errors import BadInput
from lab.dataset import tables
from lab.dataset.add import add
from lab.dataset.folder import Dataset
from lab.results import export_table
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")


def test_a_file_has_the_columns_and_values_of_an_exported_table(dataset: Dataset, runs: list[RunFolder]) -> None:
    exported = export_table.table([runs[1]]).set_index("trial_id")
    trials = parquet.read_table(dataset.path / "trials" / "sweep=synthetic" / "run=run-1.parquet").to_pandas()
    observed = parquet.read_table(dataset.path / "observed" / "sweep=synthetic" / "run=run-1.parquet").to_pandas()
    own = set(tables.OWN)
    assert own < set(trials)
    assert (set(trials) - own) | set(observed) == set(exported) | {"trial_id"}
    in_order = [tuple(row) for row in trials[["case_number", "block_number", "position"]].to_numpy().tolist()]
    assert in_order == sorted(in_order)
    for name in ("elapsed_s", "mtu_bytes", "option.smb.signing", "effective.mount", "client_cpu", "case_id"):
        ours = trials.set_index("trial_id")[name].sort_index()
        theirs = exported[name].sort_index()
        assert ours.isna().tolist() == theirs.isna().tolist(), name
        assert ours.dropna().tolist() == theirs.dropna().tolist(), name
    watched = observed.set_index("trial_id")["observed.client.cpu_cores"].sort_index()
    assert watched.tolist() == exported["observed.client.cpu_cores"].dropna().sort_index().tolist()
    metadata = parquet.read_schema(parquet_files(dataset)[0]).metadata
    assert (metadata[b"dataset_schema"], metadata[b"schema"]) == (b"1", b"2")


def test_blocks_of_a_sweep_are_numbered_over_its_runs_and_cases_over_the_dataset(dataset: Dataset) -> None:
    files = sorted((dataset.path / "trials").rglob("*.parquet"))
    numbers = [parquet.read_table(file)["block_number"].unique().to_pylist() for file in files]
    assert [sorted(some) for some in numbers] == [[0, 1, 2], [3, 4, 5]]
    levels = dataset.register.cases
    assert len({json.dumps(one, sort_keys=True) for one in levels}) == len(levels)
    assert sum("smb.signing" in one for one in levels) == 4  # at its default it is the case of the run without it


def test_adding_twice_is_once_and_other_trials_are_refused(dataset: Dataset, runs: list[RunFolder]) -> None:
    before = {path: path.read_bytes() for path in parquet_files(dataset)}
    with dataset.claimed():
        assert not add(dataset, runs[0])
        lines = runs[0].trials_path.read_bytes().splitlines(keepends=True)
        runs[0].trials_path.write_bytes(b"".join(lines[:-1]))
        with pytest.raises(BadInput, match=r"run run-0 is in .* already, with other trials"):
            add(dataset, runs[0])
    assert {path: path.read_bytes() for path in parquet_files(dataset)} == before
    assert list(Dataset(dataset.path).register.runs) == ["run-0", "run-1"]


def test_a_run_that_goes_on_is_added_only_where_that_is_asked_for(tmp_path: Path) -> None:
    [run] = write_runs(tmp_path / "results", [Shape(seed=1)], finished_at=None)
    dataset = Dataset.at(tmp_path / "dataset")
    with dataset.claimed():
        with pytest.raises(BadInput, match="not finished"):
            add(dataset, run)
        assert add(dataset, run, with_unfinished=True)


def test_a_full_disk_changes_nothing(dataset: Dataset, another: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content_of(dataset.path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with dataset.claimed(), pytest.raises(OSError, match=r"No space left on device: .*(cases|run=run-2)"):
            add(dataset, another)
    assert content_of(dataset.path) == before


def test_files_before_a_full_disk_go(dataset: Dataset, another: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before, write = parquet_files(dataset), tables.write

    def full(table: pa.Table, file: IO[bytes]) -> int:
        if "observed.client.cores" in table.column_names:
            raise OSError(28, "No space left on device")
        return write(table, file)

    monkeypatch.setattr("lab.dataset.add.write", full)
    with dataset.claimed(), pytest.raises(OSError, match=r"No space left.*observed/.*run=run-2"):
        add(dataset, another)
    assert parquet_files(dataset) == before


@pytest.mark.parametrize(
    ("run", "trial_id", "refusal"),
    [
        ({"id": "i" * 401}, "", "length <= 400"),
        ({"saved_as": "s" * 2001}, "", "length <= 2000"),
        ({}, "t" * 401, "a trial_id of more than 400 characters"),
    ],
)
def test_what_could_not_be_read_again_is_not_added(
    dataset: Dataset, tmp_path: Path, run: dict[str, str], trial_id: str, refusal: str
) -> None:
    folder = write_run(tmp_path / "more", [trial(trial_id=trial_id or "one")], **{"id": "run-2", **run})
    before = content_of(dataset.path)
    with dataset.claimed(), pytest.raises(BadInput, match=refusal):
        add(dataset, folder)
    assert content_of(dataset.path) == before
    assert list(Dataset(dataset.path).register.runs) == ["run-0", "run-1"]


def test_the_register_of_many_files_has_no_long_line(dataset: Dataset) -> None:
    """After files were joined, too: a line of more than a megabyte is none."""
    files = [dataset.register.files[0]] * 5000
    dataset.register.replace_files(files)
    lines = (dataset.path / "register.jsonl").read_bytes().splitlines()
    assert len(lines) == 5002
    assert max(map(len, lines)) < 1000
