"""Runs as a table for other programs: columns and their types, and the same values as in the run."""

import dataclasses
import gzip
import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from support.paths import RUN_CAPTURES, unpack_run
from support.synthetic_runs import RUN, trial, write_run

from lab.base.errors import BadInput
from lab.cli.main import main
from lab.results import export_table
from lab.results.observed import HostUsage
from lab.results.run_folder import RunFolder
from lab.results.trial import SCHEMA

OBSERVED = {
    "client": {"cores": 2, "cpu_cores": 1, "process": "cp", "from a later version": [1]},
    "tcp": {"rtt_ms": 0.25},
    "remarks": ["odd", "and odder"],
}
HOSTILE = '=HYPERLINK("x")'


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    trials = [
        trial(trial_id="b1-001", observed=OBSERVED, options={"placebo": "a"}, tcp_space=65536),
        trial(trial_id="b1-002", elapsed_s=None, status="failed", reason=HOSTILE, verified=False),
    ]
    return write_run(tmp_path, trials, id="r1")


def test_columns_have_the_types_and_values_of_the_run_and_nothing_stands_for_what_is_unknown(folder: RunFolder) -> None:
    frame = export_table.table([folder])
    types = {str(name): str(dtype) for name, dtype in frame.dtypes.items()}
    expected = {
        "run_id": "string", "client_cores": "Int64", "mtu_bytes": "Int64", "tcp_buffer_bytes": "Int64",
        "elapsed_s": "Float64", "size_bytes": "Int64", "verified": "boolean", "option.placebo": "string",
        "observed.client.cores": "Int64", "observed.client.cpu_cores": "Float64", "observed.tcp.rtt_ms": "Float64",
        "observed.remarks": "string", "effective.mount": "string",
    }  # fmt: skip
    assert {name: types.get(name) for name in expected} == expected
    first, second = export_table.table([folder]).to_dict("records")
    assert (first["run_id"], first["client_cpu"]) == ("r1", RUN["hosts"]["client"]["cpu"])
    assert (first["mtu_bytes"], first["tcp_buffer_bytes"], first["option.placebo"]) == (1500, 65536, "a")
    assert (first["observed.client.cpu_cores"], first["observed.tcp.rtt_ms"]) == (1.0, 0.25)
    assert json.loads(first["observed.remarks"]) == OBSERVED["remarks"]
    assert first["observed.client.from a later version"] == "[1]"
    for name in ("elapsed_s", "tcp_buffer_bytes", "observed.client.cores", "option.placebo"):
        assert pd.isna(second[name]), name
    assert "observed.server.cores" not in second


def test_every_field_of_a_host_has_a_column() -> None:
    kinds = export_table.kinds()
    for field in dataclasses.fields(HostUsage):
        assert field.name == "other" or f"observed.server.{field.name}" in kinds


def test_a_tidy_row_is_one_number_and_a_run_without_trials_has_none(folder: RunFolder, tmp_path: Path) -> None:
    frame = export_table.table([folder])
    long = export_table.tidy(frame)
    assert list(long) == ["run_id", "trial_id", "quantity", "value"]
    values = {(row.trial_id, row.quantity): row.value for row in long.itertuples()}
    assert [values.get((trial_id, "elapsed_s")) for trial_id in ("b1-001", "b1-002")] == [5.0, None]
    assert len(values) == len(long) == sum(frame[name].notna().sum() for name in set(long["quantity"]))
    empty = export_table.table([write_run(tmp_path, [])])
    assert (len(empty), list(export_table.tidy(empty))) == (0, list(long))
    assert json.loads(export_table.as_json(empty)) == {"schema": SCHEMA, "columns": {}, "rows": []}


def test_json_and_parquet_hold_the_same(folder: RunFolder, tmp_path: Path) -> None:
    frame = export_table.table([folder])
    exported = json.loads(export_table.as_json(frame))
    assert exported["columns"]["elapsed_s"] == "number"
    assert [row.get("elapsed_s", "none") for row in exported["rows"]] == [5.0, "none"]
    parquet = pytest.importorskip("pyarrow.parquet")
    export_table.write_parquet(frame, tmp_path / "x.parquet")
    assert parquet.read_schema(tmp_path / "x.parquet").metadata[b"schema"] == b"2"
    back = pd.read_parquet(tmp_path / "x.parquet")
    assert (back["elapsed_s"][0], back["observed.tcp.rtt_ms"][0]) == (5.0, 0.25)
    assert back.dtypes.map(str).to_dict() == frame.dtypes.map(str).to_dict()


def test_the_command_gives_several_runs_with_the_same_masks(
    folder: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = write_run(tmp_path, [trial(reason="synthetic-server", effective={"mount": "synthetic-client"})], id="r2")
    assert main(["export", str(folder.path), str(other.path), "--to", "csv", "--output", "t.csv"]) == 0
    out, err = capsys.readouterr()
    assert (out, "synthetic-client (host): host-1" in err) == ("t.csv\n", True)
    assert "synthetic-client" not in Path("t.csv").read_text()
    rows = pd.read_csv("t.csv")
    assert rows["run_id"].tolist() == ["r1", "r1", "r2"]
    assert (rows["effective.mount"][2], rows["reason"][1]) == ("host-1", f"'{HOSTILE}")
    assert main(["export", str(folder.path), "--to", "json", "--no-redact"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][1]["reason"] == HOSTILE


@pytest.mark.parametrize(("words", "message"), [
    (["a", "b"], "a run folder is of one run"),
    (["--no-redact"], "--no-redact: is for a table"),
    (["--tidy"], "--tidy: is for a table"),
    (["--to", "parquet"], "Parquet is no text"),
    (["--to", "csv", "--output", "."], ".: is there already"),
])  # fmt: skip
def test_what_does_not_go_together_is_said_before_anything_is_read(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", *words]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_a_remedy_is_told(folder: RunFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = export_table.table([folder])  # pandas may use pyarrow itself
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match="pyarrow, which is not installed"):
        export_table.write_parquet(table, tmp_path / "x")


def test_there_is_a_captured_run_of_every_schema_that_was_ever_written() -> None:
    runs = [json.loads(gzip.decompress(path.read_bytes())) for path in RUN_CAPTURES.glob("*/run/run.json.gz")]
    assert {run["schema"] for run in runs} == set(range(1, SCHEMA + 1))


def test_a_run_of_the_first_schema_has_no_value_for_what_it_lacked(tmp_path: Path, folder: RunFolder) -> None:
    old = RunFolder(unpack_run("old-schema", tmp_path / "20260101T000000Z-old"))
    assert (old.run["schema"], "id" in old.run) == (1, False)
    alone = export_table.table([old])
    assert not [name for name in alone if str(name).startswith("observed.")]
    frame = export_table.table([old, folder])
    of_old, new = frame[frame["run_id"] == old.path.name], frame[frame["run_id"] == "r1"]
    assert (len(of_old), len(new)) == (len(old.trials()), 2)
    assert of_old[["elapsed_s", "effective.mount"]].notna().any().all()
    assert not of_old["anchor"].any()
    assert [rows["observed.client.cores"].notna().any() for rows in (of_old, new)] == [False, True]
    assert set(export_table.tidy(frame)["run_id"]) == {old.path.name, "r1"}
