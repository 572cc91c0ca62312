"""RAM disks of Linux: what is refused before anything is changed. The rest is done by real kernels, in guests."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.fake_host import FakeHost, LocalHost
from support.paths import LINUX_CAPTURES

from lab.base.errors import LabFailure, SettingRefused, Unsupported
from lab.hosts import Result, systems
from lab.hosts.command import script
from lab.platforms.files import MISSING
from lab.platforms.linux import ram_disk
from lab.platforms.linux.platform import Linux
from lab.platforms.linux.ram_disk import PROGRAMS, device_kib, parse_mount
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal

GIB = 1 << 30
NOBODY = 65534
PATH = "/tmp/file-share-lab-01234567/ram"


def host(obstacle: str = "", lacking: str = "", free_kib: int = 0) -> FakeHost:
    """A host that answers the first looks so."""
    made = FakeHost("server")
    made.on(script(MISSING, *PROGRAMS), lacking)
    made.on(script(ram_disk.OBSTACLE), obstacle)
    if free_kib:  # is asked only if the first looks found nothing
        made.on(("id", "-u"), "0\n")
        made.on(("cat", "/proc/meminfo"), f"MemAvailable:    {free_kib} kB\n")
    return made


@pytest.mark.parametrize(
    ("obstacle", "message"),
    [
        ("loaded\n", "its kernel has brd loaded already, so RAM disks there are somebody else's: `modprobe -r brd` if"),
        ("ext4\n", "its kernel has no ext4: take another kernel"),
        ("modprobe: FATAL: Module brd not found\nmore\n", "has no module brd (modprobe: FATAL: Module brd not found)"),
    ],
)
def test_a_kernel_without_a_device_to_give_is_told_before_anything_is_changed(obstacle: str, message: str) -> None:
    whole = rf"^server: ram_disk_format = ext4: .*{re.escape(message)}.*, or give tmpfs in the hosts file$"
    with pytest.raises(Unsupported, match=whole):
        Linux(host(obstacle)).ram_disks.check("ext4")


def test_what_is_missing_or_too_large_is_refused_before_brd_is_loaded() -> None:
    made = host(lacking="mkfs.ext4\n")
    made.on(systems.ask(), "apt-get\n")
    with pytest.raises(Unsupported, match=r"there is no mkfs.ext4: `apt-get install e2fsprogs` there, or give tmpfs"):
        Linux(made).ram_disks.check("ext4")
    Linux(FakeHost("server")).ram_disks.check("tmpfs")  # which needs nothing
    with pytest.raises(LabFailure, match=r"server: a RAM disk of 111\d MiB does not fit: 1024 MiB of memory are free"):
        next(Linux(host(free_kib=1048576)).ram_disks.make(PATH, GIB, "ext4"))


def test_brd_that_somebody_loaded_in_between_is_neither_formatted_nor_removed() -> None:
    """modprobe says nothing of it; its size says that it is not ours. Undoing leaves it alone by the same size."""
    made = host(free_kib=4194304)
    state = f"rd_nr=1 rd_size={device_kib(GIB, PATH)}"
    made.on(script(ram_disk.STATE), "absent\n")
    made.on(("modprobe", "brd", *state.split()), root=True)
    made.on(script(ram_disk.STATE), "rd_nr=16 rd_size=4096\n")
    changes = Settings({"server": made}, Journal(None, line_format()))
    with pytest.raises(SettingRefused, match=r"module brd: asked for 'rd_nr=1 rd_size=\d+', in effect is 'rd_nr=16"):
        changes.follow(Linux(made).ram_disks.make(PATH, GIB, "ext4"))
    (record,) = changes.journal.open
    assert record.undo == (script(ram_disk.UNLOAD, state, root=True, deadline_s=60),)


def test_a_device_is_told_by_its_size_and_a_mount_by_type_and_options() -> None:
    assert device_kib(GIB, "/tmp/a") != device_kib(GIB, "/tmp/b")
    assert {device_kib(size, PATH) % 4 for size in (1, 4097, GIB)} == {0}
    captured = (LINUX_CAPTURES / "mounts-7.2.txt").read_text(encoding="utf-8")
    assert parse_mount(captured.splitlines()[0]).count(" ") == 1
    with pytest.raises(ValueError, match="no line of the table of mounts"):
        parse_mount("")


class Unprivileged(LocalHost):
    """Runs commands here as an account without any rights, or as the one that runs the tests: as ``sudo = none``."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        account: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        process = subprocess.run(
            argv, input=given, capture_output=True, text=True, timeout=deadline_s, check=False, cwd="/", **account
        )
        return Result(argv, process.returncode, process.stdout, process.stderr, 0.0)


@pytest.mark.skipif(sys.platform != "linux", reason="writes into /dev/shm")
def test_a_folder_in_shared_memory_is_made_and_removed_by_an_account_without_root() -> None:
    user = Unprivileged("client")
    above = user.run("mktemp", "-d").stdout.strip()
    try:
        path = f"{above}/ram"
        user.run("mkdir", path)
        steps = Linux(user).ram_disks.make(path, 1 << 20, "shm", private=True)
        folder = next(steps)
        for step in folder.apply:
            step.run(user)
        with pytest.raises(StopIteration) as made:
            next(steps)
        assert made.value.value == "a folder in /dev/shm"
        place = Path(path).resolve()
        assert (place.parent, place.stat().st_mode & 0o777) == (Path("/dev/shm"), 0o700)
        user.shell('echo payload > "$1"/file', path)
        assert folder.read.run(user) == "present"
        for step in folder.operation.undo("absent"):
            step.run(user)
        assert not place.exists()
        assert folder.read.run(user) == "absent"
    finally:
        user.run("rm", "-r", above)


@pytest.mark.parametrize(
    ("blocks", "source", "rest"),
    [(1024, "/dev/sda1", "9 4 5 40% /"), (512, "map auto home", "0 0 0 100% /home"), (1024, "tmpfs", "0 0 0 - /run")],
)
def test_a_folder_in_place_of_a_ram_disk_says_what_it_is_on(blocks: int, source: str, rest: str) -> None:
    made = FakeHost("client")
    head = f"Filesystem {blocks}-blocks Used Available Capacity Mounted on\n"
    made.on(("df", "-P", PATH), f"{head}{source} {rest}\n")
    with pytest.raises(StopIteration) as ended:
        next(Linux(made).ram_disks.make(PATH, GIB, "folder"))
    assert ended.value.value == f"no RAM disk: a folder on {source}"
