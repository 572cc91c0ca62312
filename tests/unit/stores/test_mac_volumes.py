"""Volumes in disk images of a Mac: made, mounted and put back, whatever happens in between; what is others' stays."""

from pathlib import Path

import pytest
from support.mac_store_hosts import ANNS, MacImageHost
from support.store_hosts import GIB, StoreLab

from lab import stores
from lab.base.errors import Absent, CommandError, RestoreError
from lab.platforms.macos.platform import MacOS
from lab.run.case import made_store
from lab.stores.mac_volume import parse_image_volume


class Lab(StoreLab):
    """A run that makes such a volume."""

    host: MacImageHost
    platform = MacOS

    def __init__(self, folder: Path, name: str = "hfs"):
        store = stores.file_system(name)
        assert store is not None
        super().__init__(MacImageHost(folder), store, {})


def test_a_volume_of_hfs_is_made_in_an_image_and_removed(lab: Lab) -> None:
    made = lab.make()
    image, path = lab.host.own / "store.sparseimage", lab.host.own / "store"
    assert (lab.host.folder / "images").read_text().startswith(f"{ANNS}{image} ")
    assert lab.host.calls("newfs_hfs") == ["newfs_hfs -J -v lab /dev/rdisk4"]
    assert f"mount -t hfs -o noatime /dev/disk4 {path}" in lab.host.calls("mount")
    assert image.stat().st_mode & 0o077 == 0
    assert path.stat().st_mode & 0o7777 == 0o1777
    assert (path / ".metadata_never_index").exists()
    assert made.levels == {"hfs.image": "sparseimage", "hfs.case": "insensitive", "hfs.journal": "on"}
    words = "hfs, case-insensitive, sparseimage, local,journaled,noatime; in an image of 1 G"
    assert made.description.startswith(words)
    lab.restore()


@pytest.mark.parametrize(("ending", "kind"), [("sparsebundle", "SPARSEBUNDLE"), ("dmg", "UDIF")])
def test_the_other_images_are_made_and_read_back(lab: Lab, ending: str, kind: str) -> None:
    made = lab.make({"image": ending, "journal": "off"})
    image = lab.host.own / f"store.{ending}"
    words = f"create -quiet -sectors {GIB // 512} -type {kind} -layout NONE {image}"
    assert lab.host.calls("hdiutil")[0] == f"hdiutil {words}"
    assert image.is_dir() == (ending == "sparsebundle")
    assert (made.levels["hfs.image"], made.levels["hfs.journal"]) == (ending, "off")
    lab.restore()


def test_of_apfs_the_volume_that_is_made_up_is_mounted_and_the_image_is_detached(tmp_path: Path) -> None:
    lab = Lab(tmp_path, "apfs")
    made = lab.make({"case": "sensitive"})
    assert f"mount -t apfs -o noatime /dev/disk9s1 {lab.host.own / 'store'}" in lab.host.calls("mount")
    assert made.levels["apfs.case"] == "sensitive"
    lab.settings.unwind()
    assert [call for call in lab.host.calls("hdiutil") if "detach" in call] == ["hdiutil detach /dev/disk4"]
    assert lab.host.is_left_as_it_was()


@pytest.mark.parametrize("is_link", [False, True])
def test_an_image_that_is_there_already_is_not_touched(lab: Lab, is_link: bool) -> None:
    image, photos = lab.host.own / "store.sparseimage", lab.host.folder / "photos"
    photos.write_text("photos")
    image.symlink_to(photos) if is_link else image.write_text("photos")
    with pytest.raises(CommandError, match="File exists"):
        lab.make()
    assert lab.host.calls("newfs_hfs", "mount") == []
    assert photos.read_text() == "photos"


def test_an_image_that_hdiutil_does_not_list_as_ours_is_not_formatted_and_does_not_stay(lab: Lab) -> None:
    (lab.host.folder / "bin" / "id").write_text("#!/bin/sh\necho 501\n")
    lab.put("owner_of_images", "12345\n")
    with pytest.raises(CommandError, match=r"hdiutil lists no image .*store\.sparseimage of this account"):
        lab.make()
    lab.begin().unwind()
    assert lab.host.calls("newfs_hfs") == []
    assert [call for call in lab.host.calls("hdiutil") if "detach" in call] == ["hdiutil detach /dev/disk4"]
    assert lab.host.is_left_as_it_was()


def test_a_volume_that_somebody_mounted_elsewhere_is_left_alone(lab: Lab) -> None:
    lab.make()
    table = lab.host.folder / "mounts"
    table.write_text(table.read_text().replace(f"{lab.host.own}/store ", "/Volumes/theirs "))
    with pytest.raises(RestoreError, match=r"attached image .* should be 'absent' and is 'attached'"):
        lab.settings.unwind()
    assert [call for call in lab.host.calls("hdiutil") if "detach" in call] == []


def test_a_mac_older_than_apfs_is_left_out_and_hfs_needs_no_question(tmp_path: Path) -> None:
    lab = Lab(tmp_path, "apfs")
    (tmp_path / "no_apfs").touch()
    with pytest.raises(Absent, match="server: store apfs: its kernel has no APFS"):
        made_store.check(MacOS(lab.host), lab.store, {}, lab.share)
    assert stores.find("hfs").find_lack({}) is None  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", "<plist></plist>", "image dmg\n", "<plist></plist>\nimage dmg\nimage dmg\n"])
def test_what_tells_no_volume_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no volume|not a property list"):
        parse_image_volume(text)
