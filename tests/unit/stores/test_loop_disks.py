"""Disks that say 512 bytes and have sectors of 4096: made, proven, counted and put back; what is others' stays."""

from pathlib import Path

import pytest
from support.operations import OLD_VALUES
from support.pool_host import PoolHost
from support.store_hosts import StoreLab

from lab.base.errors import CommandError, HostError, LabFailure, RestoreError
from lab.base.present import present
from lab.stores import DeviceBytes, parse_device_bytes
from lab.stores.zfs import STORE as ZFS
from lab.stores.zpool import LoopDisks, ZpoolOnDisks

LEVELS = {"ashift": "9", "raid": "raidz", "disks": "512e"}


class Lab(StoreLab):
    """A run that makes a pool on three such disks."""

    host: PoolHost

    def __init__(self, folder: Path, has_ann: bool = True):
        super().__init__(PoolHost(folder, has_ann), ZFS, LEVELS)
        if has_ann:
            (folder / "sys_module_loop").mkdir()
            self.host.attach("/home/ann/photos.img")
            self.host.before = self.host.state()
        self.pool = folder / "pools" / self.host.own.name
        self.files = [f"{self.host.own}/store.vdevs/vdev-{number}" for number in (1, 2, 3)]


def test_a_pool_lies_on_loops_over_loops_over_the_files_of_the_lab(lab: Lab) -> None:
    made = lab.make()
    assert lab.host.loops() == {
        "loop0": "/home/ann/photos.img",
        "loop1": lab.files[0], "loop2": "/dev/loop1",
        "loop3": lab.files[1], "loop4": "/dev/loop3",
        "loop5": lab.files[2], "loop6": "/dev/loop5",
    }  # fmt: skip
    devices = (lab.pool / "devices").read_text().splitlines()
    assert devices == [f"{lab.host.nodes}/vdev-{number}" for number in (1, 2, 3)]
    assert made.levels["zfs.disks"] == "512e"
    assert made.description.startswith("zfs 2.3.9-1, raidz of 3 512e disks, ashift 9, ")
    assert lab.host.calls("blockdev") == [f"blockdev --setra 0 /dev/loop{number}" for number in (1, 3, 5)]
    printed = present(made.count).run(lab.host)
    assert parse_device_bytes(printed) == DeviceBytes(3 * 32 * 512, 3 * 48 * 512), "counted once all is written"
    assert lab.host.calls("sync") == [f"sync /dev/loop{number}" for number in (1, 3, 5)]
    lab.restore()


@pytest.mark.parametrize("made", ["no loop", "a loop", "two loops", "a node"])
def test_killed_while_the_disks_are_made_none_is_left(lab: Lab, made: str) -> None:
    lab.put("no_loops")
    with pytest.raises(CommandError, match="cannot find an unused loop device"):
        lab.make()
    (lab.host.folder / "no_loops").unlink()
    if made != "no loop":
        below = lab.host.attach(lab.files[0], 4096)
        above = lab.host.attach(f"/dev/{below}") if made != "a loop" else ""
        if made == "a node":
            (lab.host.nodes / "vdev-1").write_text(f"7 {above.removeprefix('loop')}\n")
    lab.restore(lab.begin())


def test_a_loop_that_is_not_over_the_file_of_the_lab_becomes_no_device_of_a_pool(lab: Lab) -> None:
    lab.put("losetup.takes_another")
    with pytest.raises(CommandError, match=r"is no disk over the lab's own .*vdev-1"):
        lab.make()
    assert not [call for call in lab.host.calls("zpool") if call.startswith("zpool create")]


def test_a_node_whose_number_is_by_now_that_of_others_is_not_used_and_its_pool_not_destroyed(lab: Lab) -> None:
    made = lab.make()
    (lab.host.nodes / "vdev-2").write_text("7 0\n")  # Ann's
    with pytest.raises(CommandError, match=r"is no pool of the lab's own .*: pool over .*/vdev-2"):
        present(made.forget).run(lab.host)
    with pytest.raises(CommandError, match=r"vdev-2 is no disk over .*vdev-2"):
        present(made.count).run(lab.host)
    with pytest.raises(RestoreError, match=r"pool over .*/vdev-2"):
        lab.settings.unwind()
    assert not [call for call in lab.host.calls("zpool") if "destroy" in call]
    assert lab.host.loops()["loop0"] == "/home/ann/photos.img"
    assert Path(lab.files[1]).exists(), "it may need it"


def test_loops_of_others_over_their_own_files_stay(lab: Lab) -> None:
    lab.make()
    above = lab.host.attach("/dev/loop0")
    lab.settings.unwind()
    assert lab.host.loops() == {"loop0": "/home/ann/photos.img", above: "/dev/loop0"}


def test_a_folder_of_nodes_that_is_there_already_is_not_touched(lab: Lab) -> None:
    lab.host.nodes.mkdir()
    (lab.host.nodes / "photos").touch()
    with pytest.raises(HostError, match="'no disk vdev-1' is no value that it can have"):
        lab.make()
    assert lab.host.calls("losetup")[1:] == []
    lab.settings.unwind()
    assert [path.name for path in lab.host.nodes.iterdir()] == ["photos"]


def test_what_is_no_path_of_the_lab_is_refused() -> None:
    assert {LoopDisks, ZpoolOnDisks} <= {type(operation) for operation in OLD_VALUES}
    with pytest.raises(LabFailure, match="nodes '/dev/sda' is out of range"):
        LoopDisks("/srv/file-share-lab-01234567/store.vdevs", "/dev/sda")
