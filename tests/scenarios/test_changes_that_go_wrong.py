"""Changes are undone whatever goes wrong: more cases than the unit tests try."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.store_hosts import StoreLab, kill_at_each_command
from unit.run.case import test_made_store
from unit.settings.test_changes import (  # noqa: F401 – tests
    test_after_a_kill_the_journal_alone_restores,
    test_scopes_leave_everything_as_it_was,
    test_whatever_goes_wrong_once_everything_is_put_back,
)
from unit.stores import test_images, test_loop_disks, test_mac_volumes, test_o3x, test_zfs_pools


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
