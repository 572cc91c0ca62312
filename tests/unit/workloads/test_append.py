"""What grows and what is rewritten in a share: the same bytes arrive, each piece flushed, in both languages."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.fake_host import FakeHost
from support.interpreters import EACH, words_of
from support.sweeps import cases_of, sweep_of

from lab import workloads
from lab.platforms.linux.programs import LinuxPrograms
from lab.run.catalogue import CATALOGUE
from lab.workloads import Move, append_twin
from lab.workloads.append import APPEND

CALL = LinuxPrograms(FakeHost()).call("perl")


def run(python: str, *words: object, folder: Path) -> tuple[int, str, str]:
    argv = words_of(python, APPEND, *map(str, words))
    done = subprocess.run(
        argv, cwd=folder, env=os.environ | {"LC_ALL": "C"}, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@EACH
@pytest.mark.parametrize(
    ("size", "piece"),
    [
        (0, 512), (1, 512), (4096, 512), (4096, 8 << 20),
        *itertools.product([(1 << 20) + 7, 3 << 20], [512 * 64, 1 << 20, 8 << 20]),
    ],
)  # fmt: skip
def test_a_log_and_bands_come_to_what_was_sent(python: str, size: int, piece: int, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(os.urandom(size))
    assert run(python, "log", piece, "source", "log", folder=tmp_path) == (0, "", "")
    assert (tmp_path / "log").read_bytes() == (tmp_path / "source").read_bytes()
    assert run(python, "lay", 0, "source", "target", folder=tmp_path) == (0, "", "")
    old = (tmp_path / "target").read_bytes()
    assert old == (tmp_path / "source").read_bytes().translate(bytes(range(255, -1, -1)))
    place = (tmp_path / "target").stat().st_ino
    assert run(python, "bands", piece, "source", "target", folder=tmp_path) == (0, "", "")
    assert (tmp_path / "target").read_bytes() == (tmp_path / "source").read_bytes()
    assert (tmp_path / "target").stat().st_ino == place


@EACH
def test_nothing_that_was_there_is_touched_by_a_log_and_no_band_is_made(python: str, tmp_path: Path) -> None:
    for name in ("source", "there"):
        (tmp_path / name).write_text(name)
    for mode in ("lay", "log"):
        exists = (errno.EEXIST, "", "there: File exists\n")
        assert run(python, mode, 512, "source", "there", folder=tmp_path) == exists
    missing = (errno.ENOENT, "", "none: No such file or directory\n")
    assert run(python, "bands", 512, "source", "none", folder=tmp_path) == missing
    assert run(python, "log", 512, "none", "target", folder=tmp_path) == missing
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "there"]


@at_most(50)
@given(count=st.integers(1, 500))
def test_every_band_is_written_once_and_neighbours_are_apart(count: int) -> None:
    order = append_twin.scattered(count)
    assert sorted(order) == list(range(count))
    if count > 8:
        assert sum(abs(one - other) == 1 for one, other in itertools.pairwise(order)) <= count // 8


@pytest.mark.parametrize("mode", ["log", "bands"])
def test_each_piece_is_flushed_before_the_next_is_written(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source").write_bytes(os.urandom(10_000))
    if mode == "bands":
        (tmp_path / "target").write_bytes(bytes(10_000))
    safe: list[int] = []

    def count_right_bytes(file: int) -> None:
        both = ((tmp_path / name).read_bytes() for name in ("source", "target"))
        safe.append(sum(one == other for one, other in zip(*both, strict=False)) // 1000)

    monkeypatch.setattr(os, "fsync", count_right_bytes)
    append_twin.main(mode, 4000, str(tmp_path / "source"), str(tmp_path / "target"))
    assert safe == [4, 8, 10]


def test_the_tools_say_what_they_run() -> None:
    move = Move(source="/a", target="/b", size_bytes=1 << 20)
    for name, mode, piece in (("append", "log", 64 << 10), ("bands", "bands", 8 << 20)):
        tool = workloads.tool(name)
        assert tool.argv(CALL, "", move)[-4:] == (mode, str(piece), "/a", "/b")
    assert workloads.tool("append").lay_out(CALL, "", move) == ()
    assert workloads.tool("bands").lay_out(CALL, "", move)[-4:] == ("lay", "0", "/a", "/b")


def test_there_is_no_read_of_what_is_only_written() -> None:
    made, left_out = cases_of(sweep_of(tool=["append", "bands", "cp"]), CATALOGUE)
    assert {(case.tool, str(case.direction)) for case in made} == {
        ("append", "write"), ("bands", "write"), ("cp", "write"), ("cp", "read"),
    }  # fmt: skip
    assert left_out == tuple(f"{name} with direction read: it has write only" for name in ("append", "bands"))
