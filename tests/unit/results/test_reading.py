"""One file, read piece by piece by some processes: the same as line by line, whatever becomes of the processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest
from support.synthetic_runs import make_trials, write_run
from support.trial_lines import line

from lab.base.errors import BadInput
from lab.results import reading, run_folder
from lab.results.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run that is read in many small pieces, by three processes."""
    monkeypatch.setattr(reading, "_PIECE_BYTES", 1000)
    monkeypatch.setattr(reading, "_BUNCH_BYTES", 500)
    monkeypatch.setattr(reading, "_PROCESS_BYTES", 1)
    monkeypatch.setattr(reading, "_PROCESSES_AT_MOST", 3)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    return write_run(tmp_path, make_trials(blocks=3))


def test_pieces_of_several_processes_make_the_same_frame(folder: RunFolder) -> None:
    pd.testing.assert_frame_equal(run_folder.load(folder.path), run_folder.frame(folder.trials(), folder.run))


@pytest.mark.parametrize(
    "helper", ["#!/bin/sh\nexit 1", "#!/bin/sh\nhead -c 20; exit 1", "#!/bin/sh\nkill -9 $$", None]
)
def test_helpers_that_fail_are_done_without(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, helper: str | None
) -> None:
    program = folder.path / "python"
    if helper:
        program.write_text(helper)
        program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    assert len(run_folder.load(folder.path)) == len(folder.trials())


@pytest.mark.parametrize("number", [1, 2, 90, 192])
def test_the_first_bad_line_is_named_in_whichever_piece_it_is(folder: RunFolder, number: int) -> None:
    lines = folder.trials_path.read_text().splitlines(keepends=True)
    for place in {number, min(number + 5, len(lines))}:
        lines[place - 1] = lines[place - 1].replace('"mtu": ', '"mtu": -')
    folder.trials_path.write_text("".join(lines))
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=f"line {number}: mtu cannot be -"):
            read()


def test_an_id_that_stands_in_two_pieces_is_named(folder: RunFolder) -> None:
    with folder.trials_path.open("a") as file:
        file.write(line(trial_id="b1-003") + "\n")
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=r"line \d+: trial_id b1-003 stands in line 3 already"):
            read()


@pytest.mark.parametrize("reason", ["x" * 5000, "é" * 3000, "x" * 3_000_000])
def test_a_line_may_be_longer_than_a_piece(folder: RunFolder, reason: str) -> None:
    with folder.trials_path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line(trial_id=name, reason=reason)}\n" for name in "ab")
    frame = run_folder.load(folder.path)
    assert frame["reason"].iloc[-2:].tolist() == [reason, reason]
    assert frame["trial_id"].tolist() == [trial.trial_id for trial in folder.trials()]


def test_a_file_that_becomes_shorter_while_it_is_read_is_bad_input(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_bytes = folder.trials_path.stat().st_size
    monkeypatch.setattr(RunFolder, "_whole_and_tail", lambda self: (size_bytes + 10_000, b""))
    with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: it became shorter"):
        folder.columns()
