"""What may stand in a run folder: anything else is named with its file and line, and never becomes a number."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from support.synthetic_runs import trial, write_run
from support.trial_lines import line

from lab.base.errors import BadInput
from lab.results import run_folder
from lab.results.run_folder import Trial

NO_TIMES = ("yesterday", "now", "NaT", "", "2030-13-01T00:00:00+00:00", "2030-01-02T03:04:05+00:")


@pytest.mark.parametrize(("bad", "words"), [
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
    (line(trial_id="b", observed={"a": 1}).replace("1}", "[" * 300 + "]" * 300 + "}"), "not a trial: .*deep"),
    ("[" * 100_000, "not a trial: .*deep"),
    *((line(trial_id="b", started_at=text), "line 2: started_at") for text in NO_TIMES),
])  # fmt: skip
def test_any_other_bad_line_is_an_error_that_names_file_and_line(tmp_path: Path, bad: str, words: str) -> None:
    folder = write_run(tmp_path, [trial()])
    with folder.trials_path.open("a") as file:
        file.write(f"{bad}\n{line(trial_id='c')}\n")
    for read in (folder.trials, lambda: run_folder.load(folder.path)):
        with pytest.raises(BadInput, match=words) as caught:
            read()
        assert str(caught.value).startswith(f"{folder.trials_path}: line 2: ")


NUMBERS = [name for name, hint in Trial.__annotations__.items() if {int, float} & {hint, *get_args(hint)}]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bad", [-1, 2**63, 10**400, 1e300, float("nan"), float("inf"), -float("inf")])
def test_a_number_that_nothing_can_have_counted_is_an_error(tmp_path: Path, name: str, bad: float) -> None:
    folder = write_run(tmp_path, [trial()])
    folder.trials_path.write_text(f"{line()}\n{line(trial_id='b', **{name: bad})}\n")
    with pytest.raises(BadInput, match=f"line 2: {name} cannot be"):
        run_folder.load(folder.path)
    with pytest.raises(ValueError, match=f"{name} cannot be"):
        folder.append(trial(trial_id="b", **{name: bad}))


@pytest.mark.parametrize("wrong", [{"elapsed_s": float("nan")}, {"elapsed_s": "5"}, {"status": "good"}, {"mtu": 1.5}])
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, wrong: dict[str, Any]) -> None:
    folder = write_run(tmp_path, [trial()])
    before = folder.trials_path.read_bytes()
    with pytest.raises(ValueError, match=r"trial x|JSON"):
        folder.append(trial(trial_id="x", **wrong))
    assert folder.trials_path.read_bytes() == before
