"""What the docs compute of exported tables with other programs: the medians of the lab, and quartiles that agree."""

import os
import runpy
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.paths import unpack_run

from lab import stats
from lab.cli.main import main
from lab.results import open_run, run_folder

RECIPES = Path(__file__).with_name("tables")
QUARTILES = {"q25": 0.25, "q75": 0.75}
SPEEDS = ["q25", "median", "q75"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's example and older runs, one of the first schema and one with anchors: their columns differ."""
    folder = tmp_path_factory.mktemp("tables") / "results"
    folder.mkdir()
    example = open_run("example")  # its folder goes with this object
    shutil.copytree(example.path, folder / "example")
    for name in ("old-schema", "faulty", "demo"):
        unpack_run(name, folder / name)
    return folder


@pytest.fixture(scope="module")
def expected(results: Path) -> pd.DataFrame:
    """``lab.stats.summary`` of each run, by run and case, with quartiles by numpy."""
    parts = []
    for path in sorted(results.iterdir()):
        trials = run_folder.load(path)
        cells = stats.summary(trials).rename(columns={"median_MB_per_s": "median"})
        factors = [str(name) for name in cells][: list(cells).index("n")]
        cells[factors] = cells[factors].astype(str)
        speeds = stats.transfers(trials).query("status == 'ok'").groupby("case_id")["MB_per_s"]
        cases = trials.drop_duplicates("case_id")[["case_id", *factors]].astype(str).merge(cells, on=factors)
        cases = cases[cases["n"] > 0].set_index("case_id")[["n", "median"]]
        quartiles = {name: speeds.agg(partial(np.quantile, q=share)) for name, share in QUARTILES.items()}
        parts.append(cases.assign(run_id=trials.attrs["run"].get("id", path.name), **quartiles).reset_index())
    return pd.concat(parts).set_index(["run_id", "case_id"])[["n", *SPEEDS]].sort_index()


def assert_same(folder: Path, expected: pd.DataFrame) -> None:
    made = pd.read_csv(folder / "medians.csv").set_index(["run_id", "case_id"]).sort_index()
    assert len(made) > 40
    pd.testing.assert_series_equal(made["n"], expected["n"])
    assert made[SPEEDS].to_numpy() == pytest.approx(expected[SPEEDS].to_numpy(dtype=float), rel=1e-9)


@pytest.fixture(scope="module")
def exported(results: Path) -> Path:
    pytest.importorskip("pyarrow")
    folder = results.with_name("exports")
    folder.mkdir()
    for run in results.iterdir():
        assert main(["export", str(run), "--to", "parquet", "--output", str(folder / f"{run.name}.parquet")]) == 0
    return folder


@pytest.fixture
def exports(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a recipe runs, with the exports in it."""
    monkeypatch.chdir(tmp_path)
    Path("exports").symlink_to(exported)
    return tmp_path


@pytest.mark.parametrize("program", ["pandas", "polars", "duckdb"])
def test_a_recipe(exports: Path, expected: pd.DataFrame, program: str) -> None:
    module = pytest.importorskip(program)
    if program == "duckdb":
        module.sql((RECIPES / "medians.sql").read_text())
    else:
        runpy.run_path(str(RECIPES / f"{program}_medians.py"))
    assert_same(exports, expected)


def test_duckdb_on_a_dataset(
    results: Path, expected: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    assert main(["dataset", "add", "--unfinished", *map(str, sorted(results.iterdir()))]) == 0
    duckdb.sql((RECIPES / "dataset_medians.sql").read_text())
    assert_same(tmp_path, expected)


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_r(results: Path, expected: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", *map(str, sorted(results.iterdir())), "--to", "csv", "--output", "runs.csv"]) == 0
    subprocess.run(["Rscript", "--vanilla", RECIPES / "medians.R"], check=True, env=os.environ | {"LC_ALL": "C"})
    assert_same(tmp_path, expected)
