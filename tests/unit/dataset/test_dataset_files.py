"""Errors for files of a dataset that are not as they were, and the names of files."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.datasets import Shape, count_rows, dataset_of, note_size, rewrite, write_runs

from lab.base.errors import BadInput, LabError
from lab.dataset.add import add
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.dataset.register import name_of
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")


Spoil = Callable[[Path], object]


def replaced(column: str, value: object, kind: pa.DataType) -> Spoil:
    """Give all rows another value in a column."""

    def spoil(path: Path) -> None:
        table = parquet.read_table(path)
        values = pa.array([value] * len(table), kind)
        rewrite(path, table.set_column(table.column_names.index(column), column, values))

    return spoil


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def link(path: Path) -> None:
    path.symlink_to(path.rename(path.with_name("elsewhere")))


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "not a whole file of Parquet"),
        (zero, "not a whole file of Parquet"),
        (
            lambda path: rewrite(path, parquet.read_table(path), dataset_schema="7"),
            "is of schema 7 of a dataset, not of 1",
        ),
        (lambda path: rewrite(path, parquet.read_table(path).slice(1)), "rows, and had"),
        (
            lambda path: rewrite(path, parquet.read_table(path).drop_columns(["elapsed_s"])),
            "column elapsed_s is missing: should be double",
        ),
        (replaced("elapsed_s", "1", pa.string()), "column elapsed_s is string: should be double"),
        (replaced("case_number", 10**6, pa.int32()), "case_number 1000000: no run that was added has it"),
        (replaced("block_number", -5, pa.int32()), "block_number -5: no run that was added has it"),
        (link, "is a link"),
        (Path.unlink, "No such file"),
    ],
)
def test_a_changed_file_is_named(engine: Engine, dataset: Dataset, spoil: Spoil, said: str, noted: bool) -> None:
    path = dataset.path / "trials" / "sweep=synthetic" / "run=run-1.parquet"
    spoil(path)
    if noted and path.exists():
        note_size(dataset, path)
    elif spoil not in (zero, link, Path.unlink):
        said = "bytes, and had"
    with pytest.raises(LabError) as caught:
        count_rows(engine, dataset)
    assert said in str(caught.value)
    assert "run=run-1.parquet" in str(caught.value)
    assert "lab dataset add" in caught.value.remedy


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"run":{"run_id":1}}', "not of a dataset"),
        ('{"files":[{"table":"trials","sweep":"synthetic","path":"../../etc/passwd","rows":1,"size_bytes":1,'
         '"first_block":0,"blocks":1}]}', "no name that the lab gives to a file"),
        ("[" * 100_000, "not of a dataset"),
    ],
)  # fmt: skip
def test_a_register_that_no_lab_wrote_is_refused(engine: Engine, dataset: Dataset, line: str, said: str) -> None:
    with (dataset.path / "register.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadInput, match=said):
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
    assert "/" not in name_of(name)
    assert len(name_of(name)) < 200
    [run] = write_runs(tmp_path / "results", [Shape(seed=1, blocks=1)])
    (run.path / "run.json").write_text(json.dumps({**run.run, "id": name[:400], "name": name[:1000]}))
    dataset = dataset_of(tmp_path / "data[set]*", [RunFolder(run.path)])
    assert len(Pooled(engine, dataset, name[:1000]).effects)
