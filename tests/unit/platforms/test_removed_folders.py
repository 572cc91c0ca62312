"""The lab's own folders are removed with what is in them, and with nothing else."""

import os
import subprocess
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.base.errors import Unsupported
from lab.platforms.files import EMPTY, REMOVE
from lab.platforms.linux.platform import Linux


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files, folders and links, on a host whose find(1) knows no -delete, as BusyBox's."""
    (tmp_path / "bin").mkdir()
    find = tmp_path / "bin/find"
    find.write_text("#!/bin/sh\necho 'find: unrecognized: -delete' >&2\nexit 1\n")
    find.chmod(0o755)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept").touch()
    made = tmp_path / "file-share-lab-0123456789abcdef"
    (made / "a b/.c/d\ne").mkdir(parents=True)
    (made / "a b/.c/*").touch()
    (made / "to a folder").symlink_to(tmp_path / "outside")
    (made / "a b/to a file").symlink_to(tmp_path / "outside/kept")
    os.mkfifo(made / "pipe")
    (made / ("deep/" * 120)).mkdir(parents=True)
    return made


def remove(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{folder.parent}/bin:{os.environ['PATH']}"}
    argv = ["sh", "-c", f"ulimit -n 32\n{REMOVE}", "sh", str(folder), EMPTY]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


def test_all_of_it_goes_and_no_link_is_followed(folder: Path) -> None:
    removal = remove(folder)
    assert (removal.returncode, removal.stderr, folder.exists()) == (0, "", False)
    assert (folder.parent / "outside/kept").exists()


def test_a_link_in_its_place_is_left_alone(folder: Path) -> None:
    link = folder.parent / "file-share-lab-fedcba9876543210"
    link.symlink_to(folder.parent / "outside")
    assert remove(link).returncode != 0
    assert (folder.parent / "outside/kept").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_what_is_mounted_below_it_stays_and_is_named(folder: Path) -> None:
    """In a namespace of its own, which takes the mount with it."""
    place = folder / "a b/.c/mounted"
    place.mkdir()
    script = 'mount -t tmpfs none "$1" && echo mine > "$1/file" && shift && sh -c "$@"; cat "$3/a b/.c/mounted/file"'
    words = ["unshare", "--mount", "sh", "-c", script, "sh", str(place), REMOVE, "sh", str(folder), EMPTY]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout == "mine\n", done.stderr
    assert "mounted: Device or resource busy" in done.stderr
    assert sorted(path.name for path in folder.rglob("*")) == [".c", "a b", "mounted"]


@pytest.mark.parametrize("missing", ["", "rmdir", "mktemp"])
def test_the_end_of_a_run_is_rehearsed_before_one_begins(tmp_path: Path, missing: str) -> None:
    """Nothing stays of a rehearsal, whatever fails in it."""
    scratch = tmp_path / "scratch"
    programs = {"awk", "cat", "id", "mkdir", "mv", "perl", "ps", "rm", "rmdir", "sh", "sleep", "tail"}
    made = {"mktemp": f"mkdir {scratch} && echo {scratch}"}
    broken = {missing: f"echo {missing}: does not work >&2; exit 1"} if missing else {}
    files = Linux(EmulatedHost(tmp_path, made | broken, sorted(programs - {missing}))).files
    if missing:
        problem = f"a process or a folder of a run could not be removed there: {missing}: does not work"
        with pytest.raises(Unsupported, match=problem):
            files.rehearse_the_end()
    else:
        files.rehearse_the_end()
    assert not scratch.exists()
