"""Forgetting what is cached of one file, as an account without root can: asked of the kernel, page by page."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.platforms.linux.platform import Linux

PAGES = 256
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the page cache of Linux")


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


def test_nothing_of_a_file_stays_in_memory_and_its_content_stays(on_disk: Path, tmp_path: Path) -> None:
    content = on_disk.read_bytes()
    assert cached_pages(on_disk) == PAGES  # dirty, all of it, which cannot be dropped before it was written out
    host = EmulatedHost(tmp_path, {}, ("sh", "dd", "find"))
    Linux(host).files.forget(str(on_disk), 30)
    assert cached_pages(on_disk) == 0
    assert on_disk.read_bytes() == content


def test_a_dd_that_cannot_or_a_file_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {"dd": 'echo "dd: unknown operand: nocache" >&2; exit 1'}, ("sh", "find"))
    Linux(host).files.forget("/no/such", 30)
    (tmp_path / "tree" / "a").mkdir(parents=True)
    for name in ("one", "a/two"):
        (tmp_path / "tree" / name).touch()
    Linux(host).files.forget("tree", 30)
    assert sum(" if=" in f" {call}" for call in host.calls("dd")) == 2
