"""Pools in files of the lab's own: made, emptied of what they cache, and put back; what is others' stays."""

from pathlib import Path

import pytest
from support.pool_host import PoolHost
from support.store_hosts import GIB, StoreLab

from lab.base.errors import CommandError, HostError, RestoreError
from lab.base.present import present
from lab.stores import DeviceBytes, parse_device_bytes
from lab.stores.zfs import STORE as ZFS

RAIDZ = {"ashift": "12", "raid": "raidz", "vdevs": "3", "sync": "always", "compression": "zstd", "recordsize": "1 MiB"}


class Lab(StoreLab):
    """A run that makes a pool."""

    host: PoolHost

    def __init__(self, folder: Path, has_ann: bool = True):
        super().__init__(PoolHost(folder, has_ann), ZFS, RAIDZ)
        self.pool = folder / "pools" / self.host.own.name


def test_a_pool_is_made_in_equal_files_mounted_given_to_the_account_and_removed(lab: Lab) -> None:
    made = lab.make()
    files = [lab.host.own / "store.vdevs" / f"vdev-{number}" for number in (1, 2, 3)]
    assert (lab.pool / "devices").read_text().splitlines() == list(map(str, files))
    assert {file.stat().st_size for file in files} == {341 * 2**20}, "image_size is that of all together"
    assert sum(file.stat().st_blocks for file in files) == 0, "they take room as they fill"
    assert files[0].parent.stat().st_mode & 0o777 == 0o700
    assert (lab.host.folder / "owner").read_text() == "1000\n"
    assert (lab.host.own / "store").stat().st_mode & 0o7777 == 0o1777
    levels = RAIDZ | {"atime": "off", "disks": "files", "fill": "0"}
    assert made.levels == {f"zfs.{name}": level for name, level in levels.items()}
    pool = "zfs 2.3.9-1, raidz of 3 files, ashift 12, sync always, rw,nosuid,nodev,noatime,xattr,noacl,casesensitive"
    assert (made.capacity_bytes, made.description) == (4 * GIB, f"{pool}; in files of 1 GiB on /dev/sda1")
    (create,) = (call for call in lab.host.calls("zpool") if call.startswith("zpool create"))
    words = create.split(" ")
    assert not {word for word in words if word.startswith("-") and word not in ("-o", "-O", "-m")}, "nothing is forced"
    assert {"cachefile=none", "failmode=continue", "setuid=off", "devices=off"} <= set(words)
    assert words[words.index("-m") + 1] == f"{lab.host.own}/store"
    lab.restore()


def test_killed_between_export_and_import_no_file_is_left(lab: Lab) -> None:
    made = lab.make()
    lab.put("refuse")
    with pytest.raises(CommandError, match="one or more devices is currently unavailable"):
        present(made.forget).run(lab.host)
    assert not lab.pool.exists()
    lab.restore(lab.begin())


def test_the_pool_is_exported_and_imported_from_the_folder_of_the_lab_alone(lab: Lab) -> None:
    made = lab.make()
    present(made.forget).run(lab.host)
    assert [call for call in lab.host.calls("zpool") if call.split(" ")[1] in ("export", "import")] == [
        f"zpool export {lab.host.own.name}",
        f"zpool import -d {lab.host.own}/store.vdevs -o cachefile=none {lab.host.own.name}",
    ]
    lab.put("busy")
    with pytest.raises(CommandError, match=r"not exported: cannot export .*: pool or dataset is busy"):
        present(made.forget).run(lab.host)


def test_a_pool_over_other_devices_is_neither_given_away_nor_destroyed(lab: Lab) -> None:
    lab.put("create.takes_another")
    message = r"is no pool of the lab's own in .* that can be used: pool over /home/ann/disk"
    with pytest.raises(CommandError, match=message):
        lab.make()
    assert lab.host.calls("chown") == []
    with pytest.raises(RestoreError, match="pool over /home/ann/disk"):
        lab.settings.unwind()
    assert not [call for call in lab.host.calls("zpool") if "destroy" in call]
    assert (lab.host.own / "store.vdevs" / "vdev-1").exists(), "it may need them"


def test_a_pool_of_others_with_that_name_is_not_touched(lab: Lab) -> None:
    lab.host.import_pool(lab.host.own.name, "/dev/sdb")
    with pytest.raises(HostError, match=r"'pool over /dev/sdb' is no value that it can have"):
        lab.make()
    lab.settings.unwind()
    assert lab.pool.exists()


def test_a_folder_that_is_there_already_is_not_touched(lab: Lab) -> None:
    (lab.host.own / "store.vdevs").symlink_to(lab.host.folder / "pools")
    with pytest.raises(CommandError, match="File exists"):
        lab.make()
    with pytest.raises(RestoreError, match="is a link"):
        lab.settings.unwind()
    assert (lab.host.folder / "pools" / "tank").exists()


def test_a_suspended_pool_is_told_and_ends_once_its_files_can_be_written(lab: Lab) -> None:
    made = lab.make()
    (lab.pool / "health").write_text("SUSPENDED\n")
    assert present(made.find_fault).run(lab.host) == f"the pool {lab.host.own.name} is SUSPENDED"
    with pytest.raises(CommandError, match="is suspended"):
        present(made.count).run(lab.host)
    lab.put("full")
    with pytest.raises(RestoreError, match=r"^not everything .*\n.*is suspended, because its devices are gone"):
        lab.settings.unwind()
    (lab.host.folder / "full").unlink()
    lab.restore(lab.begin())


def test_a_module_that_others_use_by_now_is_theirs(tmp_path: Path) -> None:
    lab = Lab(tmp_path, has_ann=False)
    lab.make()
    lab.host.import_pool("tank", "/dev/sda")
    lab.settings.unwind()
    assert lab.host.calls("modprobe") == ["modprobe zfs"]


def test_a_module_stays_while_nobody_can_say_which_pools_there_are(tmp_path: Path) -> None:
    lab = Lab(tmp_path, has_ann=False)
    lab.make()
    lab.put("broken")
    with pytest.raises(RestoreError):
        lab.settings.unwind()
    assert lab.host.calls("modprobe") == ["modprobe zfs"]
    (lab.host.folder / "broken").unlink()
    lab.restore(lab.begin())


def test_what_its_files_moved_is_counted_once_all_is_written(lab: Lab) -> None:
    made = lab.make()
    (lab.pool / "written").write_text("5\n")
    printed = present(made.count).run(lab.host)
    assert parse_device_bytes(printed) == DeviceBytes(3000, 15), "of the files, and not of their group again"
    assert f"zpool sync {lab.pool.name}" in lab.host.calls("zpool")


def test_an_older_zfs_counts_nothing_and_tells_the_sectors_of_the_pool(lab: Lab) -> None:
    lab.put("old")
    made = lab.make()
    assert made.levels["zfs.ashift"] == "12"
    assert parse_device_bytes(present(made.count).run(lab.host)) is None
