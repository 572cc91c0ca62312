"""`lab published`: without a run all that was published, with one what it has of the same."""

import json
from pathlib import Path

import pytest
from support.commands import Command, Lab
from support.synthetic_runs import trial, write_run

pytestmark = pytest.mark.usefixtures("empty_place")


def test_without_a_run_every_table_is_printed_with_what_is_wrong(lab: Lab) -> None:
    code, printed, _ = lab("published")
    assert (code, printed.count("WRONG")) == (0, 8)
    for table in ("network-1", "kernel", "zfs-5", "bonnie++ 1.97 999M -b", "raidz3-24"):
        assert f"{table} (" in printed


def test_one_table_as_json(lab: Lab) -> None:
    code, printed, _ = lab("published", "--table", "zfs-3", "--json")
    records = json.loads(printed)
    assert (code, {record["table"] for record in records}) == (0, {"zfs-3"})
    assert "own" not in records[0]
    assert not any(record["is_wrong"] for record in records)


def test_a_table_that_nobody_published_is_named_with_those_that_are(refused: Command) -> None:
    assert "there are network-1, network-2-table-1" in refused("published", "--table", "zfs-9")


def test_a_run_stands_beside_it_and_one_with_nothing_of_it_is_code_1(lab: Lab) -> None:
    code, printed, _ = lab("published", write_run(Path("afp"), [trial()]).path)
    assert code == 0
    assert "network-2-table-1 (" in printed
    assert "zfs-3 (" not in printed
    code, _, err = lab("published", write_run(Path("smb"), [trial(protocol="smb", store="disk")]).path)
    assert code == 1
    assert "nothing in it is what was published" in err


def test_a_run_that_comes_with_the_lab_stands_beside_it_with_the_right_change(lab: Lab, done: Command) -> None:
    words = ("published", "example", "--table", "network-3")
    printed = done(*words)
    assert "-90.57, right -56.4" in printed
    code, printed, _ = lab(*words, "--json")
    (record,) = [record for record in json.loads(printed) if record["published_change_pct"] == -90.57]
    assert (code, record["is_wrong"]) == (0, True)
    assert record["own"]["change_low_pct"] < record["own"]["change_pct"] < record["own"]["change_high_pct"]
