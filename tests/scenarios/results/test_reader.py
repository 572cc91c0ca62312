"""One file, in small bunches and by one or two processes: the same as line by line, whatever becomes of the second."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.synthetic_runs import make_trials, write_run
from support.trial_lines import line

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_LINE_BYTES
from lab.results import dataframe, reader, run_folder
from lab.results.columns import Columns
from lab.results.decoder import Decoder
from lab.results.run_folder import RunFolder


@pytest.fixture(params=[1, 2], ids=["one-process", "two-processes"])
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> RunFolder:
    """A run that is read in many small bunches of lines."""
    monkeypatch.setattr(reader, "_BUNCH_BYTES", 500)
    monkeypatch.setattr(reader, "_LARGE_BYTES", 1)
    monkeypatch.setattr(reader, "_SHARE_BYTES", 3000)
    monkeypatch.setattr("os.cpu_count", lambda: request.param)
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


def test_whoever_is_free_reads_the_next_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path, make_trials(blocks=3))
    monkeypatch.setattr(reader, "_LARGE_BYTES", 1)
    monkeypatch.setattr(reader, "_SHARE_BYTES", 3000)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    seconds: list[subprocess.Popen[bytes]] = []
    sizes: list[int] = []
    start_second, of_lines = reader._start_second, Decoder.of_lines

    def start(*arguments: Any) -> subprocess.Popen[bytes] | None:
        if second := start_second(*arguments):
            seconds.append(second)
        return second

    def take_long(decoder: Decoder, lines: bytes, start: int) -> Columns:
        seconds[0].wait()
        sizes.append(len(lines))
        return of_lines(decoder, lines, start)

    monkeypatch.setattr(reader, "_start_second", start)
    monkeypatch.setattr(Decoder, "of_lines", take_long)
    columns, _ = run.columns()
    assert columns.trial_ids == [trial.trial_id for trial in run.trials()]
    assert 0 < sum(sizes) < 6000, "the second process reads all that the first one leaves"


def test_a_line_without_end_across_shares_is_too_long(folder: RunFolder) -> None:
    with folder.trials_path.open("a") as file:
        file.write(f"{' ' * 2 * MOST_LINE_BYTES}\n{line(trial_id='last')}\n")
    with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: a line of more than"):
        folder.columns()


@pytest.mark.parametrize("content", ["exit 1", "head -c 20 /dev/zero; exit 1", "kill -9 $$", ""])
def test_the_first_process_reads_what_the_second_one_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    run = write_run(tmp_path, make_trials(blocks=3))
    monkeypatch.setattr(reader, "_LARGE_BYTES", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    program = tmp_path / "python"
    if content:
        program.write_text(f"#!/bin/sh\n{content}\n")
        program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    assert run_folder.load(run.path)["trial_id"].tolist() == [trial.trial_id for trial in run.trials()]


def test_garbage_is_collected_again_after_reading(folder: RunFolder) -> None:
    folder.columns()
    assert gc.isenabled()
