from __future__ import annotations

import dataclasses
import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic import RUN, SIZE, make_trials, trial, write_run

from lab import results
from lab.errors import BadInput
from lab.records import SCHEMA
from lab.results import RunFolder, Trial

TEXTS = ("name", "started_at", "hosts_file", "sweep_text", "title", "instance", "code_version")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def test_trials_come_back_as_they_were_appended(tmp_path: Path) -> None:
    made = make_trials(blocks=1)
    folder = write_run(tmp_path, made)
    assert folder.trials() == made
    assert RunFolder(folder.path).trials() == made


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options=st.dictionaries(st.text(), json_values, max_size=3), reason=st.text())
def test_any_text_and_any_options_survive(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    folder = RunFolder.create(tmp_path, "any", {})
    awkward = trial(options=options, reason=reason)
    folder.append(awkward)
    assert folder.trials() == [awkward]


def test_the_folder_is_named_by_utc_time_and_a_taken_name_gets_a_suffix(tmp_path: Path) -> None:
    folders = [RunFolder.create(tmp_path, "twin", RUN) for _ in range(3)]
    assert len({folder.path for folder in folders}) == 3
    for folder in folders:
        stamp, _, name = folder.path.name.partition("-")
        assert name in ("twin", "twin-2", "twin-3")
        assert time.strptime(stamp, "%Y%m%dT%H%M%SZ")
        assert folder.run["schema"] == SCHEMA
        assert folder.run["name"] == "twin"
        assert folder.report_path == folder.path / "report"


def test_update_replaces_run_json_as_a_whole(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "run", RUN)
    folder.update(finished_at="2030-01-02T04:00:00+00:00", note="new")
    assert RunFolder(folder.path).run == folder.run == {**folder.run, "note": "new"}
    assert sorted(path.name for path in folder.path.iterdir()) == ["run.json"]


def test_newest_is_the_last_by_name_among_run_folders(tmp_path: Path) -> None:
    for name in ("20300101T000000Z-a", "20300103T000000Z-no-run-json", "20300102T000000Z-b"):
        (tmp_path / name).mkdir()
        if "no-run" not in name:
            (tmp_path / name / "run.json").write_text('{"schema": 1}')
    assert results.newest(tmp_path).path.name == "20300102T000000Z-b"


@pytest.mark.parametrize("missing", ["", "not/there"])
def test_newest_of_nothing_is_bad_input(tmp_path: Path, missing: str) -> None:
    with pytest.raises(BadInput, match="holds no run"):
        results.newest(tmp_path / missing)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "not a run folder"),
        ("{", "cannot be read"),
        ("[]", "names no schema"),
        ('{"schema": "1"}', "names no schema"),
        ('{"schema": 2}', "newer"),
        ("[" * 100_000, "deep"),
        ('{"schema": 1, "a": ' + "[" * 500 + "]" * 500 + "}", "deep"),
        ('{"schema": 1, "a": NaN}', "'a' holds what cannot be written"),
        ('{"schema": 1, "hosts": {"client": {"cpu": "\\ud800"}}}', "'hosts' holds what cannot be written"),
        ('{"schema": 1, "\\ud800": 1}', "holds what cannot be written"),
        ('{"schema": 1, "hosts": {"client": null}}', "hosts: 'client' cannot be None"),
        ('{"schema": 1, "seed": true}', "seed cannot be True"),
        *[(json.dumps({"schema": 1, key: 5}), f"{key} cannot be 5") for key in TEXTS],
        *[(json.dumps({"schema": 1, key: "a\0b"}), f"{key} holds a NUL") for key in TEXTS],
        *[(f'{{"schema": 1, "hosts": {hosts}}}', "hosts cannot be") for hosts in ("null", "[]", '"x"', "5")],
    ],
)
def test_what_is_no_run_folder_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(BadInput, match=words) as caught:
        RunFolder(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_text_that_is_needed_and_missing_is_named(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "run", {"hosts_file": "hosts.ini", "title": None})
    assert folder.text("hosts_file") == "hosts.ini"
    for key in ("sweep_text", "title"):
        with pytest.raises(BadInput, match=f"run.json: {key}: missing"):
            folder.text(key)


@pytest.mark.parametrize("name", ["run.json", "trials.jsonl"])
@pytest.mark.parametrize(
    "make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("x"), lambda path: path.symlink_to(path)]
)
def test_what_is_no_file_is_neither_read_nor_taken_for_an_empty_run(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    path = write_run(tmp_path, [trial()]).path
    (path / name).unlink()
    make(path / name)
    with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read|not a run folder"):
        results.load(path)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_run(tmp_path, [trial()]).path

    def refuse(self: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    folder = RunFolder(path)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: Permission denied"):
        folder.trials()
    with pytest.raises(BadInput, match=r"run\.json: cannot be read: .*Permission denied"):
        RunFolder(path)


def test_every_append_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder.create(tmp_path, "run", RUN)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    folder.append(trial(trial_id="a"))
    assert folder.trials_path.stat().st_size in synced
    folder.append(trial(trial_id="b"))
    assert synced[-1] == folder.trials_path.stat().st_size


def test_a_line_torn_at_any_byte_loses_no_earlier_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # a thousand real ones would take long
    earlier, last, after = (trial(trial_id=name, reason="é → ok") for name in "abc")
    folder = write_run(tmp_path, [earlier, last])
    content = folder.trials_path.read_bytes()
    start = content.index(b"\n") + 1
    for end in range(start, len(content)):
        folder.trials_path.write_bytes(content[:end])
        kept = [earlier, last] if end == len(content) - 1 else [earlier]  # lacking its line end only, it is whole
        assert folder.trials() == kept
        torn = folder.path / "trials.torn"
        torn.unlink(missing_ok=True)
        RunFolder(folder.path).append(after)
        assert folder.trials() == [*kept, after]
        aside = torn.read_bytes() if torn.exists() else b""
        assert aside == (content[start:end] + b"\n" if len(kept) == 1 and end > start else b"")


def test_a_torn_line_of_no_text_at_all_is_put_aside_too(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial()])
    with folder.trials_path.open("ab") as file:
        file.write(b"\0\xff\0")
    assert folder.trials() == [trial()]
    folder.append(trial(trial_id="next"))
    assert len(folder.trials()) == 2
    assert (folder.path / "trials.torn").read_bytes() == b"\0\xff\0\n"


def line(**changes: Any) -> str:
    return json.dumps(dataclasses.asdict(trial()) | changes)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{torn", "not a trial"),
        ("", "not a trial"),
        ("17", "not a trial"),
        (line(trial_id="b", surprise=1), "surprise"),
        (json.dumps({"trial_id": "b"}), "unknown or missing.*case_id"),
        (line(), "trial_id b1-001 stands in line 1"),
        (line(trial_id="b", block="1"), "block cannot be '1'"),
        (line(trial_id="b", verified=1), "verified cannot be 1"),
        (line(trial_id="b", files=True), "files cannot be True"),
        (line(trial_id="b", mtu=None), "mtu cannot be None"),
        (line(trial_id="b", status="fine"), "status cannot be 'fine'"),
        (line(trial_id="b", direction="up"), "direction cannot be 'up'"),
        (line(trial_id="b", tcp_space="512 KiB"), "tcp_space cannot be '512 KiB'"),
        (line(trial_id="b", options=[]), r"options cannot be \[\]"),
        (line(trial_id="\ud800"), "trial_id cannot be"),
        (line(trial_id="b", reason="half a \ud800 character"), "reason cannot be"),
        (line(trial_id="b", elapsed_s=0), "elapsed_s cannot be 0 where status is ok"),
        (line(trial_id="b", elapsed_s=None), "elapsed_s cannot be None where status is ok"),
        (line(trial_id="b", elapsed_s=1e-320), "elapsed_s cannot be 1e-320"),
        (line(trial_id="b", options={"a": 1}).replace("1}", "[" * 300 + "]" * 300 + "}"), "not a trial: .*deep"),
        ("[" * 100_000, "not a trial: .*deep"),
    ],
)
def test_any_other_bad_line_is_an_error_that_names_file_and_line(tmp_path: Path, bad: str, words: str) -> None:
    folder = write_run(tmp_path, [trial()])
    with folder.trials_path.open("a") as file:
        file.write(f"{bad}\n{line(trial_id='c')}\n")
    for read in (folder.trials, lambda: results.load(folder.path)):
        with pytest.raises(BadInput, match=words) as caught:
            read()
        assert str(caught.value).startswith(f"{folder.trials_path}: line 2: ")


NUMBERS = [name for name, hint in Trial.__annotations__.items() if "int" in hint or "float" in hint]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bad", [-1, 2**63, 10**400, 1e300, float("nan"), float("inf"), -float("inf")])
def test_a_number_that_nothing_can_have_counted_is_an_error(tmp_path: Path, name: str, bad: float) -> None:
    folder = write_run(tmp_path, [trial()])
    folder.trials_path.write_text(f"{line()}\n{line(trial_id='b', **{name: bad})}\n")
    with pytest.raises(BadInput, match=f"line 2: {name} cannot be"):
        results.load(folder.path)
    with pytest.raises(ValueError, match=f"{name} cannot be"):
        folder.append(trial(trial_id="b", **{name: bad}))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_a_field_is_loaded_whole_or_is_bad_input(tmp_path: Path, data: st.DataObject) -> None:
    folder = RunFolder.create(tmp_path, "any", {})
    odd = st.sampled_from([2**63 - 1, 1e-9, 0, -0.0, 5e-324, 1e308, 10**400, float("nan"), "\ud800", "\0", None])
    changes = data.draw(st.dictionaries(st.sampled_from([*Trial.__annotations__]), odd | json_values, max_size=3))
    folder.trials_path.write_text(f"{line(**changes)}\n")
    try:
        frame = results.load(folder.path)
    except BadInput:
        return
    assert len(frame) == len(folder.trials()) == 1
    assert not frame.select_dtypes("number").isin([float("inf"), -float("inf")]).any(axis=None)
    assert (frame["MB_per_s"].ge(0) | frame["status"].ne("ok")).all()


def test_a_time_that_is_none_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial(), trial(trial_id="b", started_at="yesterday")])
    with pytest.raises(BadInput, match="line 2: started_at"):
        results.load(folder.path)


@pytest.mark.parametrize("wrong", [{"elapsed_s": float("nan")}, {"elapsed_s": "5"}, {"status": "good"}, {"mtu": 1.5}])
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, wrong: dict[str, Any]) -> None:
    folder = write_run(tmp_path, [trial()])
    before = folder.trials_path.read_bytes()
    with pytest.raises(ValueError, match=r"trial x|JSON"):
        folder.append(trial(trial_id="x", **wrong))
    assert folder.trials_path.read_bytes() == before


def test_load_gives_one_tidy_row_a_trial(tmp_path: Path) -> None:
    folder = write_run(
        tmp_path,
        [
            trial(elapsed_s=4, wire_tx_bytes=2**60 + 1),
            trial(
                trial_id="b",
                elapsed_s=None,
                ceiling_bytes_per_s=None,
                server_cpu_s=None,
                retransmits=None,
                status="failed",
            ),
            trial(trial_id="c", elapsed_s=0.0, tcp_space=65536, size_bytes=0, status="failed", verified=False),
        ],
    )
    frame = results.load(folder.path)
    fields = [field.name for field in dataclasses.fields(Trial)]
    assert list(frame.columns[: len(fields)]) == fields
    assert frame.loc[0, "bytes_per_s"] == SIZE / 4
    assert frame.loc[0, "MB_per_s"] == SIZE / 4e6
    assert frame.loc[0, "share_of_ceiling"] == SIZE / 4 / 118e6
    assert frame.loc[0, "client_cpu_s_per_GB"] == pytest.approx(1e9 / SIZE)
    assert frame.loc[0, "wire_tx_bytes"] == 2**60 + 1  # exact: never by way of a float
    unmeasurable = frame.loc[1:, ["bytes_per_s", "MB_per_s", "share_of_ceiling", "server_cpu_s_per_GB"]]
    assert unmeasurable.isna().all(axis=None)
    assert frame["tcp_space"].tolist() == ["default", "default", 65536]
    assert frame.loc[0, "effective"] == {"client_mtu": 1500, "mount": "gvfs"}
    assert frame.attrs["run"] == folder.run


@pytest.mark.parametrize("has_file", [True, False])
def test_an_empty_run_has_the_same_columns_and_types(tmp_path: Path, has_file: bool) -> None:
    full, empty = write_run(tmp_path, [trial()]), write_run(tmp_path, [])
    if has_file:
        empty.trials_path.touch()
    assert empty.trials() == []
    kinds = results.load(full.path).dtypes
    pd.testing.assert_series_equal(results.load(empty.path).dtypes, kinds)
    assert kinds["started_at"].kind == "M"
    assert kinds[["mtu", "wire_rx_bytes", "elapsed_s", "verified"]].map(str).tolist() == [
        "int64", "Int64", "float64", "bool"
    ]  # fmt: skip


def test_many_trials_load(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [])
    base = line(trial_id="ID")
    folder.trials_path.write_text("".join(base.replace("ID", f"t{number}") + "\n" for number in range(20_000)))
    assert len(results.load(folder.path)) == 20_000
