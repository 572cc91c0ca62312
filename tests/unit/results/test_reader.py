"""A file that is read in small bunches of lines: the same as line by line."""

from __future__ import annotations

import gc
from pathlib import Path

import pandas as pd
import pytest
from support.synthetic_runs import make_trials, write_run
from support.trial_lines import line

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_LINE_BYTES
from lab.results import dataframe, reader, run_folder
from lab.results.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run that is read in many small bunches of lines."""
    monkeypatch.setattr(reader, "_BUNCH_BYTES", 500)
    return write_run(tmp_path, make_trials(blocks=3))


def test_every_way_of_reading_makes_the_frame_of_the_trials(folder: RunFolder) -> None:
    pd.testing.assert_frame_equal(run_folder.load(folder.path), dataframe.frame(folder.trials(), folder.run))


@pytest.mark.parametrize("number", [1, 2, 90, 192])
def test_the_first_bad_line_is_named_in_whichever_bunch_it_is(folder: RunFolder, number: int) -> None:
    lines = folder.trials_path.read_text().splitlines(keepends=True)
    for place in {number, min(number + 5, len(lines))}:
        lines[place - 1] = lines[place - 1].replace('"mtu": ', '"mtu": -')
    folder.trials_path.write_text("".join(lines))
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=f"line {number}: mtu cannot be -"):
            read()


def test_an_id_that_stands_in_two_bunches_is_named(folder: RunFolder) -> None:
    with folder.trials_path.open("a") as file:
        file.write(line(trial_id="b1-003") + "\n")
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=r"line \d+: trial_id b1-003 stands in line 3 already"):
            read()


@pytest.mark.parametrize("reason", ["x" * 5000, "é" * 3000, "x" * 90_000])
def test_a_line_may_be_longer_than_a_bunch(folder: RunFolder, reason: str) -> None:
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


def test_a_line_without_end_in_several_bunches_is_too_long(folder: RunFolder) -> None:
    with folder.trials_path.open("a") as file:
        file.write(f"{' ' * 2 * MOST_LINE_BYTES}\n{line(trial_id='last')}\n")
    with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: a line of more than"):
        folder.columns()


def test_garbage_is_collected_again_after_reading(folder: RunFolder) -> None:
    folder.columns()
    assert gc.isenabled()
