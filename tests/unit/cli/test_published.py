"""`lab published`: without a run all that was published, with one what it has of the same."""

import json
from pathlib import Path

from support.commands import Command, Lab
from support.synthetic_runs import trial, write_run


def test_without_a_run_every_table_is_printed_with_what_is_wrong(done: Command) -> None:
    printed = done("published")
    assert printed.count("WRONG") == 8
    for table in ("network-1", "kernel", "zfs-5", "bonnie++ 1.97 999M -b", "raidz3-24"):
        assert f"{table} (" in printed


def test_one_table_as_json_and_the_names_of_all(done: Command, refused: Command) -> None:
    records = json.loads(done("published", "--table", "zfs-3", "--json"))
    assert {(record["table"], record["is_wrong"]) for record in records} == {("zfs-3", False)}
    assert "own" not in records[0]
    assert "there are network-1, network-2-table-1" in refused("published", "--table", "zfs-9")


def test_a_run_stands_beside_it_and_one_with_nothing_of_it_is_code_1(lab: Lab, done: Command) -> None:
    printed = done("published", write_run(Path("afp"), [trial()]).path)
    assert ("network-2-table-1 (" in printed, "zfs-3 (" in printed) == (True, False)
    code, _, err = lab("published", write_run(Path("smb"), [trial(protocol="smb", store="disk")]).path)
    assert (code, "nothing in it is what was published" in err) == (1, True)


def test_a_run_that_comes_with_the_lab_stands_beside_it_with_the_right_change(done: Command) -> None:
    words = ("published", "example", "--table", "network-3")
    assert "-90.57, right -56.4" in done(*words)
    (record,) = [line for line in json.loads(done(*words, "--json")) if line["published_change_pct"] == -90.57]
    assert record["is_wrong"]
    assert record["own"]["change_low_pct"] < record["own"]["change_pct"] < record["own"]["change_high_pct"]
