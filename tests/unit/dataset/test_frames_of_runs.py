"""Frames of a dataset: limits over its runs, numbers of tools by themselves, and forged files of both."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.commands import lab
from support.datasets import dataset_of, note_size, parquet_files, rewrite, tool_trials
from support.pooled_tables import assert_same_own_numbers, frame_of, without_own
from support.synthetic_runs import write_run

from lab.base.errors import BadInput
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.frames import count_limits
from lab.dataset.pooled import Pooled
from lab.dataset.register import Levels
from lab.dataset.tables import limits_table, write
from lab.report.bottlenecks import limits_over_runs
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")
CASES: dict[int, Levels] = {7: {"protocol": "smb", "mtu": 9000}, 3: {"protocol": "afp", "mtu": 1500}}


def written(folder: Path, *runs: tuple[tuple[int, str, str, float], ...]) -> list[Path]:
    """The file of each run: of each case its number, limit, grade and headroom; the evidence is the run's number."""
    paths = []
    for number, verdicts in enumerate(runs):
        judged = pd.DataFrame(verdicts, columns=["case", "limited_by", "grade", "headroom"])
        cases = judged.pop("case").to_numpy(np.int32)
        table = limits_table(judged.assign(evidence=f"of run {number}", n=3), cases, 3 * number, {"run_id": number})
        paths.append(folder / f"{number}.parquet")
        with paths[-1].open("wb") as file:
            assert write(table, file) > 0
    return paths


def test_each_limit_of_a_case_is_counted_over_runs(engine: Engine, tmp_path: Path) -> None:
    runs = (
        ((3, "link", "certain", 0.1), (7, "unclear", "unclear", np.nan)),
        ((3, "TCP buffer", "certain", 0.6), (7, "unclear", "unclear", np.nan)),
        ((3, "link", "probable", 0.3), (7, "disk", "probable", 0.2)),
    )
    limits = count_limits(engine, written(tmp_path, *runs), CASES)
    assert limits.fillna(-1).to_numpy().tolist() == [
        ["smb", 9000, "unclear", 2, 0, -1, "of run 1"], ["smb", 9000, "disk", 1, 0, 0.2, "of run 2"],
        ["afp", 1500, "link", 2, 1, 0.2, "of run 2"], ["afp", 1500, "TCP buffer", 1, 1, 0.6, "of run 1"],
    ]  # fmt: skip
    assert count_limits(engine, [], CASES).empty
    with pytest.raises(BadInput, match="limits of case 8, of which no run has a trial"):
        count_limits(engine, written(tmp_path, ((8, "link", "certain", 0.1),)), CASES)


def test_limits_that_an_older_lab_did_not_keep_or_that_are_cut_short(engine: Engine, dataset: Dataset) -> None:
    register = dataset.path / "register.jsonl"
    first, *others = (json.loads(line) for line in register.read_text().splitlines())
    del first["run"]["is_judged"]
    first["files"] = [file for file in first["files"] if file["table"] != "limits"]
    register.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *others)))
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    assert (len(sweep.runs), sweep.unjudged, set(sweep.limits["runs"])) == (2, 1, {1})
    assert "1 of 2 runs were added by an older lab, which kept no limits." in limits_over_runs(sweep).caption
    (path,) = (dataset.path / line["files"][-1]["path"] for line in others if line["files"][-1]["table"] == "limits")
    path.write_bytes(path.read_bytes()[:-9])
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    assert len(sweep.summary) > 0
    with pytest.raises(BadInput, match=r"limits.*bytes, and had"):
        _ = sweep.limits


@pytest.fixture(scope="module")
def of_tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, Dataset]:
    """A run of every tool, and the dataset of it."""
    folder = tmp_path_factory.mktemp("of_tools")
    run = write_run(folder / "results", tool_trials(8, 2))
    return run, dataset_of(folder / "dataset", [run])


@pytest.fixture
def tools(of_tools: tuple[RunFolder, Dataset], tmp_path: Path) -> Dataset:
    """A copy of the dataset of tools."""
    return Dataset(shutil.copytree(of_tools[1].path, tmp_path / "dataset"))


def test_every_tool_of_a_run_says_the_same(engine: Engine, of_tools: tuple[RunFolder, Dataset]) -> None:
    run, dataset = of_tools
    sweep = Pooled(engine, dataset, "synthetic")
    assert_same_own_numbers(sweep, frame_of(run))
    assert without_own(sweep) == set()


@pytest.mark.parametrize(
    ("table", "column", "values", "problem"),
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
    tools: Dataset, capsys: pytest.CaptureFixture[str], table: str, column: str, values: pa.Array | None, problem: str
) -> None:
    (path,) = (path for path in parquet_files(tools) if table in path.parts)
    written = parquet.read_table(path)
    forged = written.drop_columns([column])
    if values is not None:
        place = written.column_names.index(column)
        forged = written.set_column(place, column, values.take(pa.array([0] * len(written))))
    rewrite(path, forged)
    note_size(tools, path)
    code, out, err = lab(capsys, "dataset", "show", "--dataset", str(tools.path), "--table", "requests")
    assert (code, out) == (2, "")
    assert [words for words in (problem, column, path.name) if words not in err] == []


def test_rows_of_what_was_counted_that_no_trial_has_change_nothing(engine: Engine, tools: Dataset) -> None:
    (path,) = (path for path in parquet_files(tools) if "observed" in path.parts)
    written = parquet.read_table(path)
    rewrite(path, written.set_column(0, "run_id", pa.array(["another"] * len(written))))
    note_size(tools, path)
    sweep = Pooled(engine, Dataset(tools.path), "synthetic")
    assert all(not observed for observed in sweep.some["observed"])
    path.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        _ = Pooled(engine, Dataset(tools.path), "synthetic").some
