"""Images with a file system: made, mounted and put back, whatever happens in between; what is others' stays."""

from pathlib import Path

import pytest
from support.store_hosts import GIB, LoopHost, StoreLab

from lab import stores
from lab.base.errors import CommandError, RestoreError

ORDERED = {"data": "ordered"}


class Lab(StoreLab):
    """A run that makes ext4 in an image."""

    host: LoopHost

    def __init__(self, folder: Path, has_ann: bool = True):
        ext4 = stores.file_system("ext4")
        assert ext4 is not None
        super().__init__(LoopHost(folder, has_ann), ext4, ORDERED)


def test_a_file_system_is_made_in_an_image_mounted_given_to_the_account_and_removed(lab: Lab) -> None:
    made = lab.make()
    image, path = lab.host.own / "store.image", lab.host.own / "store"
    assert lab.host.loops() == {"loop0": "/home/ann/photos.img", "loop1": str(image)}
    assert lab.host.table()[1:] == [f"/dev/loop1 {path} ext4"]
    assert (image.stat().st_size, image.stat().st_mode & 0o777) == (GIB + len("formatted\n"), 0o600)
    assert image.stat().st_blocks * 512 < 2**20, "it takes room as it fills"
    assert (lab.host.folder / "owner").read_text() == "1000\n"
    assert path.stat().st_mode & 0o7777 == 0o1777
    assert made.levels == {"ext4.data": "ordered", "ext4.disk": "image", "ext4.fill": "0"}
    description = "ext4, blocks of 4096 bytes, rw,noatime,nosuid,nodev,data=ordered; in an image of 1 GiB on /dev/sda1"
    assert (made.capacity_bytes, made.description) == (4 * GIB, description)
    lab.restore()
    assert lab.host.calls("losetup") == []
    lab.make()
    lab.restore()
    assert len(lab.host.calls("mkfs.ext4")) == 2, "each is made anew"


def test_a_module_that_others_use_by_now_is_theirs(tmp_path: Path) -> None:
    lab = Lab(tmp_path, has_ann=False)
    lab.make()
    lab.host.attach("loop7", "/home/ann/photos.img", "/mnt/ann")
    lab.settings.unwind()
    assert lab.host.calls("modprobe") == ["modprobe loop"]
    assert lab.host.loops() == {"loop7": "/home/ann/photos.img"}


def test_a_module_that_stays_busy_is_said_to(tmp_path: Path) -> None:
    lab = Lab(tmp_path, has_ann=False)
    lab.make()
    (tmp_path / "busy_module").touch()
    with pytest.raises(RestoreError, match="module loop should be 'absent' and is 'loaded'"):
        lab.settings.unwind()


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_that_is_there_already_is_not_touched(lab: Lab, is_link: bool) -> None:
    image = lab.host.own / "store.image"
    image.symlink_to(lab.host.folder / "photos") if is_link else image.write_text("photos")
    with pytest.raises(CommandError, match=r"store\.image"):
        lab.make()
    assert lab.host.calls("mkfs.ext4", "mount") == []
    assert is_link or image.read_text() == "photos"
    assert not (lab.host.folder / "photos").exists()


def test_what_proves_to_be_over_another_file_is_not_given_away(lab: Lab) -> None:
    lab.put("mount.takes_another")
    with pytest.raises(CommandError, match="is not the lab's own"):
        lab.make()
    assert lab.host.calls("chown") == []


def test_what_somebody_else_mounted_there_stays_and_the_image_below_it_too(lab: Lab) -> None:
    lab.make()
    lab.host.attach("loop7", "/home/ann/music.img", str(lab.host.own / "store"))
    with pytest.raises(RestoreError, match="loop7"):
        lab.settings.unwind()
    assert lab.host.calls("umount", "losetup") == []
    assert (lab.host.own / "store.image").exists()


@pytest.mark.parametrize("removed", ["", " (deleted)"])
def test_a_loop_that_outlived_its_mount_is_detached(lab: Lab, removed: str) -> None:
    lab.make()
    lab.put("mounts", "/dev/loop0 /mnt/ann ext4 rw 0 0\n")
    loop = lab.host.folder / "sys" / "loop1" / "loop"
    (loop / "autoclear").write_text("0\n")
    (loop / "backing_file").write_text(f"{lab.host.own}/store.image{removed}\n")
    lab.begin().unwind()
    assert lab.host.calls("losetup") == ["losetup -d /dev/loop1"]
    assert lab.host.is_left_as_it_was()
