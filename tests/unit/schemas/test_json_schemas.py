"""The JSON Schemas that the lab makes: what the lab wrote is of them, and what it could not have written is not.

The courses in ``tests/captures/samples`` are real: of a local lab of Linux hosts, and of one of emulated Macs.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from support.contributions import contribute_example
from support.examples import at_most
from support.paths import CAPTURED_RUNS, TESTS, unpack_run
from support.synthetic_runs import RUN, trial
from support.trial_lines import any_trials

from lab.base import shipped
from lab.base.present import present
from lab.cli import export
from lab.cli.main import main
from lab.contribution import record
from lab.results import examples, export_table
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial
from lab.run.transfer.time_series import ABOUT_CONNECTION
from lab.schemas import columns, json_schemas

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

COURSES = sorted((TESTS / "captures" / "samples").iterdir())
RUN_JSON: dict[str, Any] = {
    "schema": 2, "load": [{"block": 1, "client": 0.25}], "target": {"protocol": "smb"}, "link": {"mtu": 1500},
    "names": {"host": ["ann"]},
}  # fmt: skip
TABLE = {"schema": 2, "columns": {"trial_id": "string"}, "rows": [{"trial_id": "b1-001", "option.smb.signing": "on"}]}


@cache
def schema(name: str) -> Draft202012Validator:
    # here, for to import it takes two seconds, and each worker imports every file of tests
    from jsonschema import Draft202012Validator, FormatChecker

    content = json.loads(json_schemas.schema_text(name))
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content, format_checker=FormatChecker(["date-time"]))


def problems(name: str, records: Iterable[Any]) -> list[str]:
    return [f"{error.json_path}: {error.message}" for record in records for error in schema(name).iter_errors(record)]


def assert_of_the_schemas(run: RunFolder) -> None:
    """Each file of the run, and some twenty rows of what is exported of it: a row takes 20 ms."""
    assert problems("run", [run.run]) == []
    trials = [each.to_json() for each in run.trials()]
    assert trials
    assert problems("trial", trials) == []
    frame = export_table.table([run])
    some = frame.iloc[:: len(frame) // 20 + 1]
    for exported in (some, export_table.tidy(some).sample(20, random_state=1)):
        content = json.loads(export_table.as_json(exported))
        assert len(content["rows"]) == len(exported)
        assert problems("table", [content]) == []


def test_there_is_one_for_each_word_that_the_command_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(export.SCHEMAS) == set(json_schemas.FILES)
    for name in export.SCHEMAS:
        assert main(["export", "--schema", name]) == 0
        assert capsys.readouterr().out == json_schemas.schema_text(name)
    assert main(["export", "example", "--schema", "run"]) == 2
    assert "--schema: is the same for all runs" in capsys.readouterr().err


def test_a_contribution_is_of_its_schema_and_a_changed_one_is_not(tmp_path: Path) -> None:
    written = json.loads((contribute_example(tmp_path / "contribution") / record.NAME).read_text(encoding="utf-8"))
    assert problems("contribution", [written]) == []
    digest = written["raw_trials_sha256"]
    changes = {"schema": 2, "raw_trials_sha256": digest[1:], "medians": [{"case_id": "a", "n": 1}], "more": 1}
    for name, value in changes.items():
        assert problems("contribution", [written | {name: value}]), name
    assert problems("contribution", [{name: value for name, value in written.items() if name != "measured_sha256"}])


@pytest.mark.parametrize("name", sorted(shipped.examples()))
def test_the_runs_that_come_with_the_lab_are_of_them(name: str) -> None:
    assert_of_the_schemas(present(examples.find(name)))


@pytest.mark.parametrize("name", CAPTURED_RUNS)
def test_old_runs_are_of_them_once_they_are_loaded(name: str, tmp_path: Path) -> None:
    assert_of_the_schemas(RunFolder(unpack_run(name, tmp_path)))


def test_a_run_of_the_first_schema_that_was_exported_is_of_them_as_its_files_are(tmp_path: Path) -> None:
    unpack_run("old-schema", tmp_path / "old")
    assert main(["export", str(tmp_path / "old"), "--output", str(tmp_path / "new")]) == 0
    assert problems("run", [json.loads((tmp_path / "new" / "run.json").read_text())]) == []
    lines = (tmp_path / "new" / "trials.jsonl").read_text().splitlines()
    assert len(lines) > 40
    assert problems("trial", map(json.loads, lines)) == []


@pytest.mark.parametrize("path", COURSES, ids=lambda path: path.stem)
def test_real_courses_are_of_theirs(path: Path) -> None:
    lines = list(map(json.loads, path.read_text().splitlines()))
    assert any(line[role]["connections"] or line[role]["processes"] for line in lines for role in ("client", "server"))
    assert problems("samples", lines) == []
    known = set(schema("samples").schema["$defs"]["Course"]["properties"])
    assert {key for line in lines for role in ("client", "server") for key in line[role]} <= known
    assert set(schema("samples").schema["$defs"]["ConnectionAtATime"]["properties"]) == set(ABOUT_CONNECTION)


@pytest.mark.parametrize("name", CAPTURED_RUNS)
def test_the_dictionary_has_every_exported_column_and_the_unit_of_every_number(name: str, tmp_path: Path) -> None:
    entries = {entry.column: entry for entry in columns.entries()}
    frame = export_table.table([RunFolder(unpack_run(name, tmp_path))])
    described = {column for column in map(str, frame) if column in entries}
    assert len(described) > 40
    rest = set(map(str, frame)) - described
    assert not [column for column in rest if not column.startswith(("option.", "effective.", "observed."))]
    numbers = set(map(str, frame.select_dtypes("number")))
    assert numbers <= described
    assert {column for column in described if entries[column].unit != "–"} == numbers


@given(any_trials())
@at_most(200)
def test_every_trial_that_the_writer_writes_is_of_its_schema(generated: Trial) -> None:
    assert problems("trial", [json.loads(json.dumps(generated.to_json(), allow_nan=False))]) == []


def changed(record: Any, path: str, value: Any) -> Any:
    """A copy with another value, at keys and indices with slashes between them; with no such key for ``...``."""
    whole = copy.deepcopy(record)
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("/"))
    inner = whole
    for part in parents:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return whole


GOOD: dict[str, Callable[[], Any]] = {
    "trial": lambda: trial(observed={"client": {}}).to_json(),
    "run": lambda: {**RUN, **RUN_JSON, "hosts": dict(present(examples.find("example")).run["hosts"])},
    "samples": lambda: json.loads(COURSES[-1].read_text().splitlines()[0]),
    "table": lambda: TABLE,
}
BAD: dict[str, list[tuple[str, Any]]] = {
    "trial": [
        ("mtu", "1500"), ("mtu", -1), ("mtu", True), ("mtu", ...), ("unheard", 1), ("direction", "up"),
        ("size_bytes", 2**63), ("elapsed_s", None), ("elapsed_s", 0), ("elapsed_s", "5"), ("tcp_space", "large"),
        ("options/smb.signing", True), ("observed/client", []), ("observed/client/cores", "2"),
        ("observed/remarks", "odd"), ("effective/rsize", "4096"), ("protocol", "p" * 501), ("case_id", "c" * 2001),
        ("verified", None), ("status", "good"), ("options", {str(number): "on" for number in range(41)}),
    ],
    "run": [
        ("schema", 3), ("schema", ...), ("title", 3), ("hosts", []), ("hosts/client/cores", "2"),
        ("load/0/client", "busy"), ("hosts/server/kernel", ...), ("target/protocol", 1), ("link/mtu", "1500"),
        ("names/host", "ann"), ("seed", 1.5),
    ],
    "samples": [
        ("trial_id", ...), ("client", []), ("client/at_s/0", None), ("client/at_s", 0.0), ("server/cpu_s", ["1"]),
        ("client/connections", [[0.1, "a b"]]), ("client/processes", [[0.1, {"cp 7": "1"}]]),
        ("client/core_busy", [1]), ("client/connections", [[0.1, "a b", {"cwnd": "10"}]]),
    ],
    "table": [
        ("schema", 1), ("columns/trial_id", "text"), ("rows/0/trial_id", ...), ("rows/0/elapsed_s", "5"), ("rows", {}),
        ("rows/0/elapsed_s", None), ("rows/0/option.smb.signing", True), ("rows/0/observed.from elsewhere", 1),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "path", "value"), [(name, *change) for name in BAD for change in BAD[name]])
def test_what_is_no_record_is_not_of_its_schema(name: str, path: str, value: Any) -> None:
    good = GOOD[name]()
    assert problems(name, [good]) == []
    assert problems(name, [changed(good, path, value)])
