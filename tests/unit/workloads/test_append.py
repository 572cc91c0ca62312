"""What grows and what is rewritten in a share: the same bytes arrive, each piece flushed."""

import errno
import itertools
import os
import subprocess
from pathlib import Path

import pytest
from support.fake_host import FakeHost
from support.host_scripts import run_script
from support.sweeps import cases_of, sweep_of

from lab import workloads
from lab.hosts.command import run_perl
from lab.platforms.linux.files import LinuxPrograms
from lab.workloads import Move
from lab.workloads.append import APPEND

CALL = LinuxPrograms(FakeHost()).call("perl")


def run(*words: object, folder: Path) -> tuple[int, str, str]:
    return run_script(run_perl(APPEND, *map(str, words)), folder)


@pytest.mark.parametrize(("size", "piece"), [
    (0, 512), (1, 512), (4096, 512), (4096, 8 << 20),
    *itertools.product([(1 << 20) + 7, 3 << 20], [512 * 64, 1 << 20, 8 << 20]),
])  # fmt: skip
def test_a_log_and_bands_come_to_what_was_sent(size: int, piece: int, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(os.urandom(size))
    assert run("log", piece, "source", "log", folder=tmp_path) == (0, "", "")
    assert (tmp_path / "log").read_bytes() == (tmp_path / "source").read_bytes()
    assert run("lay", 0, "source", "target", folder=tmp_path) == (0, "", "")
    old = (tmp_path / "target").read_bytes()
    assert old == (tmp_path / "source").read_bytes().translate(bytes(range(255, -1, -1)))
    inode = (tmp_path / "target").stat().st_ino
    assert run("bands", piece, "source", "target", folder=tmp_path) == (0, "", "")
    assert (tmp_path / "target").read_bytes() == (tmp_path / "source").read_bytes()
    assert (tmp_path / "target").stat().st_ino == inode


def test_nothing_that_was_there_is_touched_by_a_log_and_no_band_is_made(tmp_path: Path) -> None:
    for name in ("source", "there"):
        (tmp_path / name).write_text(name)
    for mode in ("lay", "log"):
        assert run(mode, 512, "source", "there", folder=tmp_path) == (errno.EEXIST, "", "there: File exists\n")
    missing = (errno.ENOENT, "", "none: No such file or directory\n")
    assert run("bands", 512, "source", "none", folder=tmp_path) == missing
    assert run("log", 512, "none", "target", folder=tmp_path) == missing
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "there"]


def test_every_band_is_written_once_and_neighbours_are_apart() -> None:
    function = APPEND[APPEND.index("sub common") : APPEND.index("sub lay")]
    text = function + 'print join(" ", scattered($_)), "\\n" for 1 .. 500;'
    printed = subprocess.run(run_perl(text), capture_output=True, text=True, timeout=60, check=True).stdout
    for count, line in enumerate(printed.splitlines(), start=1):
        order = list(map(int, line.split()))
        assert sorted(order) == list(range(count))
        if count > 8:
            assert sum(abs(first - second) == 1 for first, second in itertools.pairwise(order)) <= count // 8


# In place of a flush it prints how many thousands of bytes of the target are those of the source
COUNT_RIGHT_BYTES = """
BEGIN {
    require IO::Handle;
    no warnings 'redefine';
    *IO::Handle::sync = sub {
        my ($source, $target) = map { open my $file, '<:raw', $_; local $/; <$file> } qw(source target);
        print int((substr($source, 0, length $target) ^ $target) =~ tr/\\0// / 1000), "\\n";
    };
}
"""


@pytest.mark.parametrize("mode", ["log", "bands"])
def test_each_piece_is_flushed_before_the_next_is_written(mode: str, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(os.urandom(10_000))
    if mode == "bands":
        (tmp_path / "target").write_bytes(bytes(10_000))
    argv = run_perl(COUNT_RIGHT_BYTES + APPEND, mode, "4000", "source", "target")
    result = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.split() == ["4", "8", "10"]


def test_the_tools_say_what_they_run_and_are_left_out_of_reads() -> None:
    move = Move(source="/a", target="/b", size_bytes=1 << 20)
    for name, mode, piece in (("append", "log", 64 << 10), ("bands", "bands", 8 << 20)):
        tool = workloads.tool(name)
        assert tool.argv(CALL, "", move)[-4:] == (mode, str(piece), "/a", "/b")
    assert workloads.tool("append").lay_out(CALL, "", move) == ()
    assert workloads.tool("bands").lay_out(CALL, "", move)[-4:] == ("lay", "0", "/a", "/b")
    made, left_out = cases_of(sweep_of(tool=["append", "bands", "cp"]))
    ways = {(case.tool, str(case.direction)) for case in made}
    assert ways == {("append", "write"), ("bands", "write"), ("cp", "write"), ("cp", "read")}
    assert left_out == tuple(f"{name} with direction read: it has write only" for name in ("append", "bands"))
