import dataclasses
import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.synthetic_runs import RUN, SIZE, make_trials, trial, write_run
from support.trial_lines import json_values, line

from lab.base.errors import BadInput
from lab.base.secret_texts import all_without_secrets, without_secrets
from lab.design.factors import OPTIONS
from lab.report.samples import course_of
from lab.results import run_folder
from lab.results.run_folder import RunFolder, Trial, load
from lab.results.trial import SCHEMA

TEXTS = ("name", "started_at", "hosts_file", "sweep_file", "sweep_text", "title", "instance", "code_version")


def test_trials_come_back_as_they_were_appended_however_many(tmp_path: Path) -> None:
    made = make_trials(blocks=1)
    folder = write_run(tmp_path, made)
    assert folder.trials() == RunFolder(folder.path).trials() == made
    folder = write_run(tmp_path, [])
    base = line(trial_id="ID")
    folder.trials_path.write_text("".join(base.replace("ID", f"t{number}") + "\n" for number in range(20_000)))
    assert len(run_folder.load(folder.path)) == 20_000


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observed=st.dictionaries(st.text(), json_values, max_size=3), reason=st.text())
def test_any_text_and_anything_observed_survive(tmp_path: Path, observed: dict[str, Any], reason: str) -> None:
    folder = RunFolder.create(tmp_path, "any", {})
    awkward = trial(observed=all_without_secrets(observed), reason=without_secrets(reason))
    folder.append(awkward)
    assert folder.trials() == [awkward]


SAID = "mount_smbfs: //ann:hunter2@nas/Films: No route to host"
LEAKY = trial(trial_id="b9-001", reason=SAID, observed={"remarks": [SAID]}, effective={"mount_options": f"{SAID} "})


def test_a_password_that_a_host_prints_is_in_no_file_of_a_run_and_is_not_read_from_one(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "leaky", RUN | {"title": SAID, "sweep_text": f"# {SAID}"})
    folder.append(LEAKY)
    folder.append_samples(LEAKY.trial_id, {"client": {"processes": [[0.5, {"mount -o password=hunter2": 0.1}]]}})
    folder.update(ended=SAID, left_out={"afp": SAID})
    assert [b"hunter2" in path.read_bytes() for path in folder.path.iterdir()] == [False] * 3
    folder = write_run(tmp_path, [LEAKY])
    content = {**folder.run, "ended": SAID, "hosts": {"client": {"about": {"model": SAID}}}}
    (folder.path / "run.json").write_text(json.dumps(content))
    folder.samples_path.write_text(json.dumps({"trial_id": "b9-001", "client": {"processes": [[1, {SAID: 2}]]}}) + "\n")
    folder, frame = RunFolder(folder.path), load(folder.path)
    read = [folder.run, folder.records(), frame.to_dict("list"), frame.attrs["run"], course_of(folder, "b9-001")]
    assert "hunter2" in folder.trials_path.read_text()
    assert [str(read).count(text) for text in ("hunter2", "//ann:***@nas")] == [0, 11]


def test_a_folder_is_named_by_utc_time_and_an_update_replaces_run_json_as_a_whole(tmp_path: Path) -> None:
    folders = [RunFolder.create(tmp_path, "twin", RUN) for _ in range(3)]
    assert len({folder.path for folder in folders}) == 3
    for folder in folders:
        stamp, _, name = folder.path.name.partition("-")
        assert name in ("twin", "twin-2", "twin-3")
        assert time.strptime(stamp, "%Y%m%dT%H%M%SZ")
        assert (folder.run["schema"], folder.run["name"]) == (SCHEMA, "twin")
        assert folder.report_path == folder.path / "report"
    folder = RunFolder.create(tmp_path, "run", RUN)
    folder.update(finished_at="2030-01-02T04:00:00+00:00", note="new")
    assert RunFolder(folder.path).run == folder.run == {**folder.run, "note": "new"}
    assert sorted(path.name for path in folder.path.iterdir()) == ["run.json"]


@pytest.mark.parametrize(("content", "words"), [
    (None, "not a run folder"),
    ("{", "cannot be read"),
    ("[]", "names no schema"),
    ('{"schema": "1"}', "names no schema"),
    ('{"schema": 3}', "newer"),
    ("[" * 100_000, "deep"),
    ('{"schema": 1, "a": ' + "[" * 500 + "]" * 500 + "}", "deep"),
    ('{"schema": 1, "a": NaN}', "'a' holds what cannot be written"),
    ('{"schema": 1, "hosts": {"client": {"cpu": "\\ud800"}}}', "'hosts' holds what cannot be written"),
    ('{"schema": 1, "\\ud800": 1}', "holds what cannot be written"),
    ('{"schema": 1, "left_out": {"case": 5}}', "left_out: 'case' cannot be 5"),
    ('{"schema": 1, "left_out": null}', "left_out cannot be None"),
    ('{"schema": 1, "caveats": {"zfs": []}}', r"caveats: 'zfs' cannot be \[\]"),
    ('{"schema": 1, "caveats": "zfs"}', "caveats cannot be 'zfs'"),
    ('{"schema": 1, "hosts": {"client": null}}', "hosts: 'client' cannot be None"),
    ('{"schema": 1, "load": [3]}', "load is no list"),
    ('{"schema": 1, "load": [{"block": 1, "client": null}]}', "load is no list"),
    ('{"schema": 1, "seed": true}', "seed cannot be True"),
    *[(json.dumps({"schema": 1, key: 5}), f"{key} cannot be 5") for key in TEXTS],
    *[(json.dumps({"schema": 1, key: "a\0b"}), f"{key} holds a NUL") for key in TEXTS],
    *[(f'{{"schema": 1, "hosts": {hosts}}}', "hosts cannot be") for hosts in ("null", "[]", '"x"', "5")],
])  # fmt: skip
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


NO_FILES = [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("x"), lambda path: path.symlink_to(path)]


@pytest.mark.parametrize("name", ["run.json", "trials.jsonl"])
@pytest.mark.parametrize("make", NO_FILES)
def test_what_is_no_file_is_not_taken_for_an_empty_run(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    path = write_run(tmp_path, [trial()]).path
    (path / name).unlink()
    make(path / name)
    with pytest.raises(BadInput, match=r"(trials\.jsonl|run\.json): cannot be read"):
        run_folder.load(path)


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_run(tmp_path, [trial()])
    monkeypatch.setattr(os, "open", Mock(side_effect=PermissionError(errno.EACCES, "Permission denied", "a file")))
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: Permission denied"):
            read()
    with pytest.raises(BadInput, match=r"run\.json: cannot be read: .*Permission denied"):
        RunFolder(folder.path)


def test_every_append_is_synced_and_reads_nothing_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder.create(tmp_path, "run", RUN)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
    folder.append(trial(trial_id="a"))
    assert folder.trials_path.stat().st_size in synced
    folder.append(trial(trial_id="b"))
    assert synced[-1] == folder.trials_path.stat().st_size
    folder = write_run(tmp_path, [trial()])
    os.truncate(folder.trials_path, 2**40)  # a hole: larger than any memory, and on no disk
    with folder.trials_path.open("r+b") as file:
        file.seek(2**40 - 1)
        file.write(b"\n")
    folder.append(trial(trial_id="b"))
    with folder.trials_path.open("rb") as file:
        file.seek(2**40)
        assert json.loads(file.read())["trial_id"] == "b"


def test_a_line_torn_anywhere_loses_no_earlier_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    folder = write_run(tmp_path, [trial()])
    with folder.trials_path.open("ab") as file:
        file.write(b"\0\xff\0")
    assert folder.trials() == [trial()]
    folder.append(trial(trial_id="next"))
    assert (len(folder.trials()), (folder.path / "trials.torn").read_bytes()) == (2, b"\0\xff\0\n")


def test_load_gives_one_tidy_row_a_trial(tmp_path: Path) -> None:
    lacking = dict.fromkeys(("elapsed_s", "ceiling_bytes_per_s", "server_cpu_s", "retransmits"))
    trials = [
        trial(elapsed_s=4, wire_tx_bytes=2**60 + 1),
        trial(trial_id="b", status="failed", **lacking),
        trial(trial_id="c", elapsed_s=0.0, tcp_space=65536, size_bytes=0, status="failed", verified=False),
    ]
    folder = write_run(tmp_path, trials)
    frame = run_folder.load(folder.path)
    fields = [field.name for field in dataclasses.fields(Trial)]
    assert list(frame.columns[: len(fields)]) == fields
    rates = ["bytes_per_s", "MB_per_s", "share_of_ceiling"]
    assert list(frame.loc[0, rates]) == [SIZE / 4, SIZE / 4e6, SIZE / 4 / 118e6]
    assert frame.loc[0, "client_cpu_s_per_GB"] == pytest.approx(1e9 / SIZE)
    assert frame.loc[0, "wire_tx_bytes"] == 2**60 + 1  # exact: never by way of a float
    assert frame.loc[1:, [*rates, "server_cpu_s_per_GB"]].isna().all(axis=None)
    assert frame["tcp_space"].tolist() == ["default", "default", 65536]
    assert frame.loc[0, "effective"] == {"client_mtu": "1500", "mount": "gvfs"}
    assert frame.attrs["run"] == folder.run


@pytest.mark.parametrize("has_file", [True, False])
def test_an_empty_run_has_the_same_columns_and_types(tmp_path: Path, has_file: bool) -> None:
    full, empty = write_run(tmp_path, [trial()]), write_run(tmp_path, [])
    if has_file:
        empty.trials_path.touch()
    assert empty.trials() == []
    kinds = run_folder.load(full.path).dtypes
    pd.testing.assert_series_equal(run_folder.load(empty.path).dtypes, kinds)
    assert kinds["started_at"].kind == "M"
    names = ["mtu", "wire_rx_bytes", "elapsed_s", "verified"]
    assert kinds[names].map(str).tolist() == ["int64", "Int64", "float64", "bool"]


def test_options_are_columns_also_of_a_run_of_the_first_schema(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial()])
    line = json.loads(folder.trials_path.read_text())
    del line["anchor"], line["observed"]
    folder.trials_path.write_text(json.dumps(line) + "\n")
    folder.update(schema=1)
    assert RunFolder(folder.path).trials() == [trial()]
    assert load(folder.path)[list(OPTIONS)].to_dict("records") == [OPTIONS]
    folder = write_run(tmp_path, [trial(options={"server_sync": "async"})])
    assert load(folder.path)[list(OPTIONS)].to_dict("records") == [OPTIONS | {"server_sync": "async"}]
