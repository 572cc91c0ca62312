"""The files of a dataset: a run is added as a whole or not at all, and files that are not as they were are errors."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO
from unittest.mock import Mock

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.datasets import Shape, content_of, count_rows, dataset_of, note_size, parquet_files, rewrite, write_runs
from support.synthetic_runs import trial, write_run

from lab.base.errors import BadInput, LabError
from lab.dataset import tables
from lab.dataset.add import add
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.dataset.register import name_of
from lab.results import export_table
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")
FULL = 28, "No space left on device"
MISSING = "column elapsed_s is missing: should be double"
Spoil = Callable[[Path], object]
read = parquet.read_table


def replaced(column: str, value: object, kind: pa.DataType) -> Spoil:
    """Give all rows another value in a column."""

    def spoil(path: Path) -> None:
        table = read(path)
        values = pa.array([value] * len(table), kind)
        rewrite(path, table.set_column(table.column_names.index(column), column, values))

    return spoil


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def link(path: Path) -> None:
    path.symlink_to(path.rename(path.with_name("elsewhere")))


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "not a whole file of Parquet"),
        (zero, "not a whole file of Parquet"),
        (lambda path: rewrite(path, read(path), dataset_schema="7"), "is of schema 7 of a dataset, not of 1"),
        (lambda path: rewrite(path, read(path).slice(1)), "rows, and had"),
        (lambda path: rewrite(path, read(path).drop_columns(["elapsed_s"])), MISSING),
        (replaced("elapsed_s", "1", pa.string()), "column elapsed_s is string: should be double"),
        (replaced("case_number", 10**6, pa.int32()), "case_number 1000000: no run that was added has it"),
        (replaced("block_number", -5, pa.int32()), "block_number -5: no run that was added has it"),
        (link, "is a link"),
        (Path.unlink, "No such file"),
    ],
)
def test_a_changed_file_is_named(engine: Engine, dataset: Dataset, spoil: Spoil, message: str, noted: bool) -> None:
    path = dataset.path / "trials/sweep=synthetic/run=run-1.parquet"
    spoil(path)
    if noted and path.exists():
        note_size(dataset, path)
    elif spoil not in (zero, link, Path.unlink):
        message = "bytes, and had"
    with pytest.raises(LabError) as caught:
        count_rows(engine, dataset)
    assert message in str(caught.value)
    assert "run=run-1.parquet" in str(caught.value)
    assert "lab dataset add" in caught.value.remedy


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"run":{"run_id":1}}', "not of a dataset"),
        ('{"files":[{"table":"trials","sweep":"synthetic","path":"../../etc/passwd","rows":1,"size_bytes":1,'
         '"first_block":0,"blocks":1}]}', "no name that the lab gives to a file"),
        ("[" * 100_000, "not of a dataset"),
    ],
)  # fmt: skip
def test_a_register_that_no_lab_wrote_is_refused(engine: Engine, dataset: Dataset, line: str, message: str) -> None:
    with (dataset.path / "register.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadInput, match=message):
        count_rows(engine, dataset)


def test_half_a_line_of_the_register_is_none_and_the_next_run_is_added(dataset: Dataset, tmp_path: Path) -> None:
    register = dataset.path / "register.jsonl"
    lines = register.read_bytes().splitlines(keepends=True)
    register.write_bytes(lines[0] + lines[1][:50])
    again = Dataset(dataset.path)
    assert list(again.register.runs) == ["run-0"]
    with again.claimed():
        assert add(again, RunFolder(sorted((tmp_path / "results").iterdir())[1]))
    assert list(Dataset(dataset.path).register.runs) == ["run-0", "run-1"]


@pytest.mark.parametrize("name", ["../../x", "a/b", "Ünder the sea", "x" * 5000, "..", "*", "a[1]"])
def test_any_name_of_a_sweep_and_a_run_is_a_name_of_a_file(engine: Engine, tmp_path: Path, name: str) -> None:
    assert ("/" in name_of(name), len(name_of(name)) < 200) == (False, True)
    [run] = write_runs(tmp_path / "results", [Shape(seed=1, blocks=1)])
    (run.path / "run.json").write_text(json.dumps({**run.run, "id": name[:400], "name": name[:1000]}))
    dataset = dataset_of(tmp_path / "data[set]*", [RunFolder(run.path)])
    assert len(Pooled(engine, dataset, name[:1000]).effects)


def test_a_file_has_the_columns_and_values_of_an_exported_table(dataset: Dataset, runs: list[RunFolder]) -> None:
    exported = export_table.table([runs[1]]).set_index("trial_id")
    trials, observed = (
        read(dataset.path / table / "sweep=synthetic/run=run-1.parquet").to_pandas() for table in ("trials", "observed")
    )
    numbers = set(tables.OWN)
    assert numbers < set(trials)
    assert (set(trials) - numbers) | set(observed) == set(exported) | {"trial_id"}
    in_order = trials[["case_number", "block_number", "position"]].to_numpy().tolist()
    assert in_order == sorted(in_order)
    for name in ("elapsed_s", "mtu_bytes", "option.smb.signing", "effective.mount", "client_cpu", "case_id"):
        ours, theirs = trials.set_index("trial_id")[name].sort_index(), exported[name].sort_index()
        assert ours.isna().tolist() == theirs.isna().tolist(), name
        assert ours.dropna().tolist() == theirs.dropna().tolist(), name
    watched = observed.set_index("trial_id")["observed.client.cpu_cores"].sort_index()
    assert watched.tolist() == exported["observed.client.cpu_cores"].dropna().sort_index().tolist()
    metadata = parquet.read_schema(parquet_files(dataset)[0]).metadata
    assert (metadata[b"dataset_schema"], metadata[b"schema"]) == (b"1", b"2")


def test_blocks_of_a_sweep_are_numbered_over_its_runs_and_cases_over_the_dataset(dataset: Dataset) -> None:
    files = sorted((dataset.path / "trials").rglob("*.parquet"))
    numbers = [read(file)["block_number"].unique().to_pylist() for file in files]
    assert [sorted(of_file) for of_file in numbers] == [[0, 1, 2], [3, 4, 5]]
    cases = dataset.register.cases
    assert len({json.dumps(levels, sort_keys=True) for levels in cases}) == len(cases)
    assert sum("smb.signing" in levels for levels in cases) == 4  # at its default it is the case of the run without it


def test_adding_twice_is_once_and_other_trials_are_refused(dataset: Dataset, runs: list[RunFolder]) -> None:
    before = content_of(dataset.path)
    with dataset.claimed():
        assert not add(dataset, runs[0])
        lines = runs[0].trials_path.read_bytes().splitlines(keepends=True)
        runs[0].trials_path.write_bytes(b"".join(lines[:-1]))
        with pytest.raises(BadInput, match=r"run run-0 is in .* already, with other trials"):
            add(dataset, runs[0])
    assert content_of(dataset.path) == before
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
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", Mock(side_effect=OSError(*FULL)))
        with dataset.claimed(), pytest.raises(OSError, match=r"No space left on device: .*(cases|run=run-2)"):
            add(dataset, another)
    assert content_of(dataset.path) == before


def test_files_before_a_full_disk_go(dataset: Dataset, another: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before, write = parquet_files(dataset), tables.write

    def full(table: pa.Table, file: IO[bytes]) -> int:
        if "observed.client.cores" in table.column_names:
            raise OSError(*FULL)
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
    dataset.register.replace_files([dataset.register.files[0]] * 5000)
    lines = (dataset.path / "register.jsonl").read_bytes().splitlines()
    assert (len(lines), max(map(len, lines)) < 1000) == (5002, True)
