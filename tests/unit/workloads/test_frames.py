"""frames: video at its pace in both languages, what is late, and how many streams play."""

import errno
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.host_scripts import run_script

from lab import workloads
from lab.base.errors import LabFailure
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts.command import run_perl
from lab.results.observed import FrameFacts, Observed
from lab.run.transfer import most_streams
from lab.run.transfer.result import TransferResult
from lab.workloads import Move
from lab.workloads.frames import FRAMES, MOST_STREAMS, parse_report

MOVE = Move(source="/a", target="/b", size_bytes=1 << 20)
NEED = 23_000_000  # bytes per second of one stream by default


def run(*words: object, folder: Path) -> tuple[int, str, str]:
    return run_script(run_perl(FRAMES, *map(str, words)), folder)


@pytest.mark.parametrize(("size", "streams", "frames"), [(0, 1, 0), (1, 4, 1), (100_000, 3, 25), (99_999, 7, 25)])
def test_every_byte_of_every_stream_arrives_at_its_pace(size: int, streams: int, frames: int, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(os.urandom(size))
    began = time.monotonic()
    code, printed, errors = run(streams, 4000, 100, "source", "target", folder=tmp_path)
    assert (code, errors) == (0, "")
    assert (tmp_path / "target").read_bytes() == (tmp_path / "source").read_bytes()
    assert parse_report(printed).frames == frames
    assert time.monotonic() - began > (-(-frames // streams) - 1) / 100


def test_what_cannot_keep_the_pace_is_late_and_copied_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(os.urandom(4_000_000))
    _, printed, _ = run(2, 4000, 1_000_000, "source", "target", folder=tmp_path)
    facts = parse_report(printed)
    assert facts.frames == 1000
    assert present(facts.late) > 900
    assert present(facts.worst_late_s) > 0
    assert (tmp_path / "target").read_bytes() == (tmp_path / "source").read_bytes()


def test_nothing_that_was_there_is_touched(tmp_path: Path) -> None:
    for name in ("source", "there"):
        (tmp_path / name).write_text(name)
    assert run(1, 4000, 25, "source", "there", folder=tmp_path) == (errno.EEXIST, "", "there: File exists\n")
    missing = (errno.ENOENT, "", "none: No such file or directory\n")
    assert run(1, 4000, 25, "none", "target", folder=tmp_path) == missing


@given(frames=st.integers(0, 10**9), late=st.integers(0, 10**9), worst_s=st.floats(0, 1e6))
def test_a_report_is_read_where_it_can_be_true(frames: int, late: int, worst_s: float) -> None:
    text = f"some note\nframes {frames}\nlate {late}\nworst_s {worst_s:.6f}\n"
    if late > frames or (float(f"{worst_s:.6f}") > 0 and late == 0):
        with pytest.raises(ValueError, match="late, by"):
            parse_report(text)
    else:
        read = parse_report(text)
        assert (read.frames, read.late, read.worst_late_s) == (frames, late, float(f"{worst_s:.6f}"))


def test_a_frame_has_its_part_of_the_bit_rate_and_no_report_fails_the_trial() -> None:
    frames = workloads.tool("frames")
    assert frames.argv((), "", MOVE)[-5:] == ("1", "920000", "25", "/a", "/b")
    assert [frames.least_s(frames_case(streams)) for streams in ("4", "most")] == pytest.approx([10.0, 40.0])
    with pytest.raises(LabFailure, match="frames: its report cannot be true: no count of frames"):
        frames.read_report("", MOVE)


# --- the highest number of streams


def frames_case(streams: str) -> Case:
    options = (("frames.streams", streams), ("frames.mbit_per_s", "184"), ("frames.fps", "25"))
    return Case("smb", "frames", Direction.READ, 1500, "default", "ram", "file", 40 * NEED, options)


class Share:
    """Plays up to so many streams without a late frame, and counts the tries."""

    def __init__(self, able: int, void_at: int = 0):
        self.able, self.void_at = able, void_at
        self.tried: list[int] = []

    def move(self, case: Case) -> TransferResult:
        streams = int(case.option("frames.streams"))
        self.tried.append(streams)
        facts = FrameFacts(streams=streams, frames=1000, late=7 if streams > self.able else 0)
        unused = cast(Any, SimpleNamespace())
        void = "it was cached" if streams == self.void_at else ""
        return TransferResult(unused, None, unused, void, Observed(frames=facts))


@given(able=st.integers(0, 300), fitting=st.integers(0, 300))
def test_the_highest_number_is_found_in_few_tries(able: int, fitting: int) -> None:
    share = Share(able)
    most = min(max(1, fitting), MOST_STREAMS)
    link_bytes_per_s = (fitting + 0.5) * NEED / most_streams.OVER_CEILING
    highest = present(most_streams.find(frames_case("most"), share.move, link_bytes_per_s).observed.frames)
    assert (highest.most_streams, highest.streams) == (min(able, most), max(1, min(able, most)))
    assert len(share.tried) == len(set(share.tried)) <= most.bit_length() + 1
    assert highest.tried == tuple(f"{streams}: {7 if streams > able else 0} of 1000 late" for streams in share.tried)


def test_only_the_most_streams_are_looked_for_and_a_void_try_ends_the_search() -> None:
    share = Share(200, void_at=128)
    assert most_streams.find(frames_case("most"), share.move, None).void == "it was cached"
    assert share.tried == [128]
    assert most_streams.is_asked_for(frames_case("most"))
    assert not most_streams.is_asked_for(frames_case("8"))
