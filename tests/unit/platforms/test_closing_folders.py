"""A folder that all may write into is closed to all but its owner and whoever was seen to write there."""

from __future__ import annotations

import getpass
import os
import subprocess
from pathlib import Path

import pytest

from lab.platforms.files import CLOSE

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


def test_to_its_owner_alone_where_that_writes(folder: Path) -> None:
    (folder / "proof").touch()
    assert close(folder, "proof") == 0
    assert (mode(folder), [*folder.iterdir()]) == ("700", [])


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to others")
@pytest.mark.parametrize(("writer", "closed"), [(WWW_DATA, "1770"), (65534, "1777")])
def test_to_its_owner_and_the_group_of_whoever_writes_where_it_has_one(folder: Path, writer: int, closed: str) -> None:
    (folder / "proof").touch()
    os.chown(folder / "proof", writer, writer)
    assert close(folder, "proof") == 0
    assert (mode(folder), folder.stat().st_uid, [*folder.iterdir()]) == (closed, 0, [])
    assert folder.stat().st_gid == (writer if closed == "1770" else 0)


@pytest.mark.parametrize("proof", ["", "nothing"])
def test_nobody_else_writes_where_nobody_was_seen_to(folder: Path, proof: str) -> None:
    assert close(folder, proof) == 0
    assert mode(folder) == ("755" if not proof else "1777")


def test_what_is_in_its_place_is_left_alone(folder: Path) -> None:
    theirs = folder.with_name("theirs")
    folder.rename(theirs)
    folder.symlink_to(theirs)
    (theirs / "proof").touch()
    assert close(folder, "proof") != 0
    assert (mode(theirs), len([*theirs.iterdir()])) == ("1777", 1)
