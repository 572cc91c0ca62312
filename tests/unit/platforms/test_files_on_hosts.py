"""Folders that are closed to others, and files that are dropped from the file cache."""

import ctypes
import getpass
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.platforms.files import CLOSE
from lab.platforms.linux.platform import Linux

WWW_DATA = 33  # of every Debian, and has a group of its own; nobody has none


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "file-share-lab-0123456789abcdef"
    made.mkdir()
    made.chmod(0o1777)
    return made


def close(folder: Path, proof: str) -> int:
    argv = ["sh", "-c", CLOSE, "sh", str(folder), getpass.getuser()]
    return subprocess.run(argv, input=proof, text=True, check=False).returncode


def mode(folder: Path) -> str:
    return f"{folder.stat().st_mode & 0o7777:o}"


@pytest.mark.parametrize(("proof", "closed"), [("proof", "700"), ("", "755"), ("nothing", "1777")])
def test_to_its_owner_alone_where_that_or_nobody_was_seen_to_write(folder: Path, proof: str, closed: str) -> None:
    if proof == "proof":
        (folder / proof).touch()
    assert (close(folder, proof), mode(folder), [*folder.iterdir()]) == (0, closed, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to others")
@pytest.mark.parametrize(("writer", "closed"), [(WWW_DATA, "1770"), (65534, "1777")])
def test_to_its_owner_and_the_group_of_whoever_writes_where_it_has_one(folder: Path, writer: int, closed: str) -> None:
    (folder / "proof").touch()
    os.chown(folder / "proof", writer, writer)
    assert (close(folder, "proof"), mode(folder), [*folder.iterdir()]) == (0, closed, [])
    assert (folder.stat().st_uid, folder.stat().st_gid) == (0, writer if closed == "1770" else 0)


def test_what_is_in_its_place_is_left_alone(folder: Path) -> None:
    theirs = folder.with_name("theirs")
    folder.rename(theirs)
    folder.symlink_to(theirs)
    (theirs / "proof").touch()
    assert close(folder, "proof") != 0
    assert (mode(theirs), len([*theirs.iterdir()])) == ("1777", 1)


PAGES = 256
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads the page cache of Linux")


def cached_pages(path: Path) -> int:
    """How many pages of a file are in memory: mincore(2)."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        states = (ctypes.c_ubyte * PAGES)()
        start = ctypes.addressof(ctypes.c_char.from_buffer(view))
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.mincore(ctypes.c_void_p(start), ctypes.c_size_t(len(view)), states) == 0, ctypes.get_errno()
        return sum(state & 1 for state in states)


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A file on a file system whose cache can be dropped, which a tmpfs is not."""
    for place in (Path.cwd(), Path("/var/tmp")):
        path = place / f".forget-{os.getpid()}"
        path.write_bytes(os.urandom(PAGES * mmap.PAGESIZE))
        try:
            kind = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=True).stdout
            if kind.strip() != "tmpfs":
                yield path
                return
        finally:
            path.unlink()
    pytest.skip("every file system here is in memory")


@on_linux
def test_nothing_of_a_file_stays_in_memory_and_its_content_stays(on_disk: Path, tmp_path: Path) -> None:
    content = on_disk.read_bytes()
    assert cached_pages(on_disk) == PAGES  # dirty, all of it, which cannot be dropped before it was written out
    host = EmulatedHost(tmp_path, {}, ("sh", "dd", "find"))
    Linux(host).files.forget(str(on_disk), 30)
    assert cached_pages(on_disk) == 0
    assert on_disk.read_bytes() == content


@on_linux
def test_a_dd_that_cannot_or_a_file_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {"dd": 'echo "dd: unknown operand: nocache" >&2; exit 1'}, ("sh", "find"))
    Linux(host).files.forget("/no/such", 30)
    (tmp_path / "tree" / "a").mkdir(parents=True)
    for name in ("one", "a/two"):
        (tmp_path / "tree" / name).touch()
    Linux(host).files.forget("tree", 30)
    assert sum(" if=" in f" {call}" for call in host.calls("dd")) == 2
