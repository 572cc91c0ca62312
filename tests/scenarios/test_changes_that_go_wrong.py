"""Changes are undone whatever goes wrong: more cases than the unit tests try."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.store_hosts import StoreLab, kill_at_each_command
from support.surveyed_place import Here
from unit.run.case import test_made_store
from unit.settings.test_changes import (  # noqa: F401 – tests
    test_after_a_kill_the_journal_alone_restores,
    test_scopes_leave_everything_as_it_was,
    test_whatever_goes_wrong_once_everything_is_put_back,
)
from unit.stores import test_images, test_loop_disks, test_mac_volumes, test_o3x, test_zfs_pools

from lab.base.errors import RestoreError
from lab.hosts.command import command
from lab.platforms.files import Folder
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.settings.operation import Setting


def make_and_unwind(lab: StoreLab) -> None:
    lab.make()
    lab.settings.unwind()


@pytest.mark.parametrize(
    ("new_lab", "act"),
    [
        (test_images.Lab, make_and_unwind),
        (partial(test_images.Lab, has_ann=False), StoreLab.make),
        (partial(test_made_store.Lab, percent="50"), StoreLab.make),
        (test_loop_disks.Lab, StoreLab.make_and_forget),
        (partial(test_loop_disks.Lab, has_ann=False), StoreLab.make_and_forget),
        (test_zfs_pools.Lab, StoreLab.make_and_forget),
        (partial(test_zfs_pools.Lab, has_ann=False), StoreLab.make_and_forget),
        (partial(test_mac_volumes.Lab, name="apfs"), StoreLab.make),
        (test_o3x.Lab, StoreLab.make_and_forget),
    ],
    ids=[
        "image", "image, no module", "filled image", "loop disks", "loop disks, no module", "zfs", "zfs, no module",
        "mac volume", "o3x",
    ],
)  # fmt: skip
def test_killed_before_or_after_any_command_it_leaves_nothing_behind_once_restored(
    tmp_path: Path, new_lab: Callable[[Path], StoreLab], act: Callable[[StoreLab], object]
) -> None:
    kill_at_each_command(new_lab(tmp_path), act)


def test_what_failed_is_told_first_and_then_why_a_folder_stays(tmp_path: Path) -> None:
    """Something is mounted below the folder: the real programs leave both alone."""
    folder = tmp_path / "file-share-lab-01234567"
    settings = Settings({"server": Here("server")}, Journal(tmp_path / "journal.jsonl", line_format()), patience_s=0)
    make = command("mkdir", "-p", f"{folder}/busy")

    def fail() -> None:
        with settings.scope():
            settings.apply(Setting("server", Folder(str(folder)), "present", (make,), before="absent"))
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "busy", folder / "busy"], check=True)
            settings.hosts["server"].run("cat", "/nowhere")

    try:
        with pytest.raises(RestoreError) as caught:
            fail()
    finally:
        subprocess.run(["umount", folder / "busy"], check=True)
    first, _, why, by_hand = caught.value.brief().splitlines()
    assert first == "server: cat /nowhere: exit code 1: cat: /nowhere: No such file or directory"
    busy = "busy: Device or resource busy; a program or a session of the server has it open, or it holds a mount"
    remains = f"server: folder {folder} should be 'absent' and is 'present': {busy}"
    assert why == f"{remains}: end that, then `lab restore`"
    commands = tmp_path / "by-hand.txt"
    assert by_hand == f"to put it back by hand, type what {commands} has"
    subprocess.run(["sh", "-c", 'sudo() { "$@"; }; . "$1"', "sh", commands], check=True)
    assert not folder.exists()
    settings.unwind()
    assert not commands.exists()
