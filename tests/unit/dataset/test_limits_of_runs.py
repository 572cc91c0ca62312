"""What limited cases over the runs of a dataset, by files that are written here as adding a run writes them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.datasets import parquet_files

from lab.base.errors import BadInput
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.frames import count_limits
from lab.dataset.pooled import Pooled
from lab.dataset.register import Levels
from lab.dataset.tables import limits_table, write
from lab.report.bottlenecks import limits_over_runs

pytest.importorskip("duckdb")
CASES: dict[int, Levels] = {7: {"protocol": "smb", "mtu": 9000}, 3: {"protocol": "afp", "mtu": 1500}}


def written(folder: Path, *runs: tuple[tuple[int, str, str, float], ...]) -> list[Path]:
    """The file of each run: of each case its number, limit, grade and headroom; the evidence is the run's number."""
    paths = []
    for number, found in enumerate(runs):
        cases, limits, grades, headrooms = zip(*found, strict=True)
        judged = pd.DataFrame({"limited_by": limits, "grade": grades, "headroom": headrooms})
        table = limits_table(
            judged.assign(evidence=f"of run {number}", n=3), np.array(cases, np.int32), 3 * number, {"run_id": number}
        )
        paths.append(folder / f"{number}.parquet")
        with paths[-1].open("wb") as file:
            assert write(table, file) > 0
    return paths


def test_each_limit_of_a_case_is_counted_over_runs_and_the_newest_run_gives_the_evidence(
    engine: Engine, tmp_path: Path
) -> None:
    runs = (
        ((3, "link", "certain", 0.1), (7, "unclear", "unclear", np.nan)),
        ((3, "TCP buffer", "certain", 0.6), (7, "unclear", "unclear", np.nan)),
        ((3, "link", "probable", 0.3), (7, "disk", "probable", 0.2)),
    )
    limits = count_limits(engine, written(tmp_path, *runs), CASES)
    assert limits.fillna(-1).to_numpy().tolist() == [
        ["smb", 9000, "unclear", 2, 0, -1, "of run 1"],
        ["smb", 9000, "disk", 1, 0, 0.2, "of run 2"],
        ["afp", 1500, "link", 2, 1, 0.2, "of run 2"],
        ["afp", 1500, "TCP buffer", 1, 1, 0.6, "of run 1"],
    ]


def test_of_no_run_there_is_no_limit_and_a_case_that_no_trial_has_is_refused(engine: Engine, tmp_path: Path) -> None:
    assert count_limits(engine, [], CASES).empty
    with pytest.raises(BadInput, match="limits of case 8, of which no run has a trial"):
        count_limits(engine, written(tmp_path, ((8, "link", "certain", 0.1),)), CASES)


def test_runs_of_a_lab_that_kept_no_limits_are_told_of(engine: Engine, dataset: Dataset) -> None:
    register = dataset.path / "register.jsonl"
    first, *others = (json.loads(line) for line in register.read_text().splitlines())
    del first["run"]["is_judged"]
    first["files"] = [file for file in first["files"] if file["table"] != "limits"]
    register.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *others)))
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    assert (len(sweep.runs), sweep.unjudged) == (2, 1)
    assert set(sweep.limits["runs"]) == {1}
    table = limits_over_runs(sweep)
    assert "1 of 2 runs were added by an older lab, which kept no limits." in table.caption


def test_a_file_of_limits_that_is_cut_short_is_named(engine: Engine, dataset: Dataset) -> None:
    (path, *_) = (path for path in parquet_files(dataset) if "limits" in path.parts)
    path.write_bytes(path.read_bytes()[:-9])
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    assert len(sweep.summary) > 0
    with pytest.raises(BadInput, match=r"limits.*bytes, and had"):
        _ = sweep.limits
