from pathlib import Path

import pytest
from support.runs_to_compare import BEGUN, write_saved_run
from support.synthetic_runs import trial, write_run

from lab.base.errors import BadInput
from lab.results import saved_runs
from lab.results.saved_runs import read_saved_runs


def test_the_runs_of_a_name_come_the_oldest_first_and_no_trials_of_others_are_read(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        write_saved_run(tmp_path, number, trials=1)
    write_saved_run(tmp_path, 5, saved_as="other").trials_path.write_text("no trial\n")
    write_run(tmp_path, [trial()])
    saved = read_saved_runs(tmp_path, "nas")
    assert [run.begun.day for run in saved.runs] == [BEGUN.day + number for number in range(3)]
    assert [len(run.trials) for run in saved.runs] == [2, 2, 2]
    assert (saved.older, list(saved.unreadable)) == (0, [])


def test_a_run_that_cannot_be_read_is_told_and_no_end(tmp_path: Path) -> None:
    write_saved_run(tmp_path, 0, trials=1)
    spoiled = write_saved_run(tmp_path, 1, trials=1)
    spoiled.trials_path.write_text("no trial\n")
    broken = write_saved_run(tmp_path, 2, trials=1)
    (broken.path / "run.json").write_text("{")
    timeless = write_saved_run(tmp_path, 3, trials=1, started_at="yesterday")
    saved = read_saved_runs(tmp_path, "nas")
    assert len(saved.runs) == 1
    for folder, message in zip((timeless, broken, spoiled), saved.unreadable, strict=True):
        assert folder.path.name in message


def test_runs_without_a_transfer_are_none_of_the_history(tmp_path: Path) -> None:
    write_saved_run(tmp_path, 0, trials=1)
    write_saved_run(tmp_path, 1, trials=0)
    assert len(read_saved_runs(tmp_path, "nas").runs) == 1
    write_saved_run(tmp_path / "empty", 1, trials=0)
    with pytest.raises(BadInput, match="no run that was saved as nas holds a trial"):
        read_saved_runs(tmp_path / "empty", "nas")


def test_of_very_many_runs_the_newest_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_runs, "MOST_RUNS", 3)
    for number in range(5):
        write_saved_run(tmp_path, number, trials=1)
    saved = read_saved_runs(tmp_path, "nas")
    assert [run.begun.day for run in saved.runs] == [BEGUN.day + number for number in (2, 3, 4)]
    assert saved.older == 2


def test_a_name_that_no_run_has_is_bad_input_that_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no run that was saved as nas: `lab measure TARGET --save nas`"):
        read_saved_runs(tmp_path, "nas")
    write_saved_run(tmp_path, 0, trials=1)
    write_saved_run(tmp_path, 1, trials=1, saved_as="attic")
    with pytest.raises(BadInput, match="saved as nsa; the names there are attic, nas: "):
        read_saved_runs(tmp_path, "nsa")
