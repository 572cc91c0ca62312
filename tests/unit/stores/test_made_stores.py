"""What holds for stores of any kind that the lab makes in files of its own."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from support.store_hosts import StoreLab
from unit.stores import test_images, test_loop_disks, test_mac_volumes, test_zfs_pools

from lab.base.errors import CommandError, LabFailure, RestoreError, SettingRefused

NewLab = Callable[[Path], StoreLab]


@pytest.mark.parametrize(("new_lab", "modules"), [
    (partial(test_images.Lab, has_ann=False), ["loop"]),
    (partial(test_zfs_pools.Lab, has_ann=False), ["zfs"]),
    (partial(test_loop_disks.Lab, has_ann=False), ["zfs", "loop"]),
])  # fmt: skip
def test_a_module_is_unloaded_if_it_was_not_loaded_before(tmp_path: Path, new_lab: NewLab, modules: list[str]) -> None:
    lab = new_lab(tmp_path)
    lab.make()
    assert {path.name for path in tmp_path.glob("sys_module_*")} == {f"sys_module_{module}" for module in modules}
    lab.restore()
    words = [*modules, *(f"-r {module}" for module in reversed(modules))]
    assert lab.host.calls("modprobe") == [f"modprobe {word}" for word in words]


@pytest.mark.parametrize(
    ("new_lab", "file"), [(test_images.Lab, "store.image"), (test_zfs_pools.Lab, "store.vdevs/vdev-1")]
)
def test_a_busy_store_keeps_its_files_until_it_is_free(tmp_path: Path, new_lab: NewLab, file: str) -> None:
    lab = new_lab(tmp_path)
    lab.make()
    lab.put("busy")
    with pytest.raises(RestoreError, match="stays: another open change needs it"):
        lab.settings.unwind()
    assert (lab.host.own / file).exists()
    (tmp_path / "busy").unlink()
    lab.restore(lab.begin())


@pytest.mark.parametrize(("new_lab", "files"), [(test_images.Lab, "an image"), (test_zfs_pools.Lab, "files")])
def test_without_room_for_all_of_its_files_nothing_is_made(tmp_path: Path, new_lab: NewLab, files: str) -> None:
    lab = new_lab(tmp_path)
    lab.put("free", "1048575\n")
    with pytest.raises(LabFailure, match=rf"server: {files} of 1 GiB: no room in .*: 1073740800 bytes are free"):
        lab.make()
    assert lab.host.is_left_as_it_was()


@pytest.mark.parametrize(("new_lab", "fault", "reason", "remedy"), [
    (test_images.Lab, "mkfs.fails", "must be larger than 300MB", "image_size"),
    (test_zfs_pools.Lab, "refuse", "less than the minimum", "take the levels that zpool refuses out of the sweep"),
    (test_mac_volumes.Lab, "create.fails", "No space left on device", ""),
])  # fmt: skip
def test_a_program_that_refuses(tmp_path: Path, new_lab: NewLab, fault: str, reason: str, remedy: str) -> None:
    lab = new_lab(tmp_path)
    lab.put(fault)
    with pytest.raises(CommandError, match=reason) as refused:
        lab.make()
    assert remedy in refused.value.remedy
    assert lab.host.is_left_as_it_was() == (fault == "create.fails"), "hdiutil attaches nothing then"
    lab.restore()


@pytest.mark.parametrize(("new_lab", "name", "content", "levels", "message"), [
    (test_images.Lab, "", "", {"data": "journal"}, r"ext4\.data was set to journal and reads back as ordered"),
    (test_zfs_pools.Lab, "ignored", "sync\n", None, r"zfs\.sync was set to always and reads back as standard"),
    (test_mac_volumes.Lab, "bin/newfs_hfs", "#!/bin/sh\necho HFS+ > personality\n", {"case": "sensitive"},
     r"hfs\.case was set to sensitive and reads back as insensitive"),
])  # fmt: skip
def test_a_level_that_is_not_in_effect_is_refused(
    tmp_path: Path, new_lab: NewLab, name: str, content: str, levels: Mapping[str, str] | None, message: str
) -> None:
    lab = new_lab(tmp_path)
    if name:
        lab.put(name, content)
    with pytest.raises(SettingRefused, match=f"server: {message}"):
        lab.make(levels)
