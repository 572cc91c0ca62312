"""`lab measure --fail-if`: what it prints beside the answer, and its exit code."""

import json
from pathlib import Path
from signal import SIGTERM
from unittest.mock import Mock

import pytest
from support.commands import Command, Lab
from support.runs_to_compare import write_saved_run

from lab.base.errors import Interrupted, LabFailure, RestoreError
from lab.measure import measure
from lab.run.runner import Ending


@pytest.fixture(autouse=True)
def _measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A measurement of 110 MB/s of writes and 90 of reads."""
    folder = write_saved_run(tmp_path / "results", 0)
    monkeypatch.setattr(measure, "measure", lambda *_: (folder, Ending("", 0)))


@pytest.mark.parametrize(
    ("condition", "code"),
    [("write < 100 MB/s", 0), ("write < 120 MB/s", 3), ("write < 100 MB/s or read < 100 MB/s", 3)],
)
def test_a_condition_that_holds_is_exit_3(lab: Lab, condition: str, code: int) -> None:
    exit_code, out, _ = lab("measure", "/mnt/media", "--fail-if", condition)
    assert (exit_code, out[:7]) == (code, "Fastest")
    first = condition.partition(" or ")[0]
    assert f"\n{first}: {'met' if first.endswith('120 MB/s') else 'not met'}" in out
    exit_code, out, _ = lab("measure", "/mnt/media", "--fail-if", condition, "--json")
    assert (exit_code, any(judgement["met"] for judgement in json.loads(out)["fail_if"])) == (code, code == 3)


def test_without_a_condition_there_is_none(lab: Lab) -> None:
    assert lab("measure", "/mnt/media")[0] == 0
    assert "fail_if" not in json.loads(lab("measure", "/mnt/media", "--json")[1])


def test_what_is_no_condition_is_exit_2_before_a_measurement(refused: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "measure", lambda *_: pytest.fail("measured"))
    err = refused("measure", "/mnt/media", "--fail-if", "write < 80")
    assert "right are 'write < 80 MB/s'" in " ".join(err.split())


def test_what_cannot_be_measured_is_told_as_json_too(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "measure", Mock(side_effect=LabFailure("smb://nas/media: it stalls", "try again")))
    assert lab("measure", "smb://nas/media") == (1, "", "smb://nas/media: it stalls\ntry again\n")
    code, out, _ = lab("measure", "smb://nas/media", "--json")
    assert (code, json.loads(out)) == (1, {"error": "smb://nas/media: it stalls", "details": ["try again"]})
    unrestored = RestoreError(["client: it stays"])
    unrestored.__context__ = Interrupted("stopped by SIGTERM", SIGTERM)
    monkeypatch.setattr(measure, "measure", Mock(side_effect=unrestored))
    assert lab("measure", "smb://nas/media")[0] == 143
