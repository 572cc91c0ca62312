"""`lab published`: without a run all that was published, with one what it has of the same."""

import json
from pathlib import Path

import pytest
from support.synthetic_runs import trial, write_run

from lab.cli.main import main


def test_without_a_run_every_table_is_printed_with_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("WRONG") == 8
    for table in ("network-1", "kernel", "zfs-5", "bonnie++ 1.97 999M -b", "raidz3-24"):
        assert f"{table} (" in printed


def test_one_table_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published", "--table", "zfs-3", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {record["table"] for record in records} == {"zfs-3"}
    assert "own" not in records[0]
    assert not any(record["is_wrong"] for record in records)


def test_a_table_that_nobody_published_is_named_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published", "--table", "zfs-9"]) == 2
    assert "there are network-1, network-2-table-1" in capsys.readouterr().err


def test_a_run_stands_beside_it_and_one_with_nothing_of_it_is_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    afp = write_run(tmp_path / "afp", [trial()])
    assert main(["published", str(afp.path)]) == 0
    printed = capsys.readouterr().out
    assert "network-2-table-1 (" in printed
    assert "zfs-3 (" not in printed
    smb = write_run(tmp_path / "smb", [trial(protocol="smb", store="disk")])
    assert main(["published", str(smb.path)]) == 1
    assert "nothing in it is what was published" in capsys.readouterr().err


def test_a_run_that_comes_with_the_lab_stands_beside_it_with_the_right_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["published", "example", "--table", "network-3"]) == 0
    assert "-90.57, right -56.4" in capsys.readouterr().out
    assert main(["published", "example", "--table", "network-3", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    (record,) = [record for record in records if record["published_change_pct"] == -90.57]
    assert record["is_wrong"]
    assert record["own"]["change_low_pct"] < record["own"]["change_pct"] < record["own"]["change_high_pct"]
