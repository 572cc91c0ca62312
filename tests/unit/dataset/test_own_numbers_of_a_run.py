"""What tools measured by themselves says of a dataset what it says of a run, and files of it that were forged."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.commands import lab
from support.datasets import dataset_of, note_size, parquet_files, rewrite
from support.pooled_tables import assert_same_own_numbers, frame_of, without_own
from support.synthetic_runs import write_run
from support.tool_trials import tool_trials

from lab.base.errors import BadInput
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def of_tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Dataset]:
    """A run of every tool, and the dataset of it."""
    folder = tmp_path_factory.mktemp("of_tools")
    run = write_run(folder / "results", tool_trials(8, 2))
    return run, dataset_of(folder / "dataset", [run])


@pytest.fixture
def dataset(of_tools: tuple[RunFolder, Dataset], tmp_path: Path) -> Dataset:
    """A copy of it."""
    return Dataset(shutil.copytree(of_tools[1].path, tmp_path / "dataset"))


def test_every_tool_of_a_run_says_the_same(engine: Engine, of_tools: tuple[RunFolder, Dataset]) -> None:
    run, dataset = of_tools
    sweep = Pooled(engine, dataset, "synthetic")
    assert_same_own_numbers(sweep, frame_of(run))
    assert without_own(sweep) == set()


@pytest.mark.parametrize(
    ("table", "column", "values", "said"),
    [
        ("observed", "observed.requests.read.iops", pa.array(["x"]), "is string: should be double"),
        ("observed", "observed.frames.late", pa.array([[1]]), "is of a type that the lab does not write"),
        ("observed", "trial_id", pa.array([7]), "is int64: should be string"),
        ("observed", "run_id", None, "column run_id is missing"),
        ("trials", "files", None, "column files is missing: should be int64"),
        ("trials", "position", pa.array([0.5]), "is double: should be int64"),
    ],
)
def test_a_forged_column_is_named(
    dataset: Dataset, capsys: pytest.CaptureFixture[str], table: str, column: str, values: pa.Array | None, said: str
) -> None:
    (path,) = (path for path in parquet_files(dataset) if table in path.parts)
    written = parquet.read_table(path)
    place = written.column_names.index(column)
    forged = written.remove_column(place)
    if values is not None:
        forged = written.set_column(place, column, values.take(pa.array([0] * len(written))))
    rewrite(path, forged)
    note_size(dataset, path)
    code, out, err = lab(capsys, "dataset", "show", "--dataset", str(dataset.path), "--table", "requests")
    assert (code, out) == (2, "")
    assert said in err
    assert column in err
    assert path.name in err


def test_rows_of_what_was_counted_that_no_trial_has_change_nothing(engine: Engine, dataset: Dataset) -> None:
    (path,) = (path for path in parquet_files(dataset) if "observed" in path.parts)
    written = parquet.read_table(path)
    foreign = written.set_column(0, "run_id", pa.array(["another"] * len(written)))
    rewrite(path, foreign)
    note_size(dataset, path)
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    assert all(not observed for observed in sweep.some["observed"])
    path.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        _ = Pooled(engine, Dataset(dataset.path), "synthetic").some
