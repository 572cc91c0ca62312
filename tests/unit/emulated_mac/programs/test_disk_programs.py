"""What diskutil, hdiutil and newfs_hfs of an emulated Mac print, against what real ones printed."""

import plistlib
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.emulated_programs import Run, capture, refusing

from emulated_mac import image_files
from emulated_mac.programs import hdiutil


def test_diskutil_says_what_it_does_as_it_said_then(mac: Run) -> None:
    made = {"device": "disk2", "size_bytes": 1 << 30, "mounted_at": ""}
    answers = {"disk_info": made, "unmount_device": "", "make_hfs": made, "mount_in_volumes": "/Volumes/ramdisk"}
    words = ("diskutil", "eraseVolume", "HFS+", "ramdisk", "/dev/disk2")
    assert mac("10.13", *words, answers=answers) == (0, capture("diskutil-erase-10.12.txt"), "")
    assert "as a 1 GB HFS Plus volume\n" in mac("10.6", *words, answers=answers)[1]
    apfs = ("diskutil", "erasevolume", "APFS", "x", "disk2")
    assert mac("10.9", *apfs, answers=answers)[0] == 1


DEVICES = [{"device": "disk2", "hint": "", "mounted_at": ""}]
IMAGE = {"path": "ram://4194304", "sectors": 4194304, "uid": 0, "pid": 73094, "devices": DEVICES}


def test_hdiutil_prints_the_property_list_of_a_mac(mac: Run) -> None:
    images = {"images": [IMAGE | {"uid": 501}]}
    assert mac("10.13", "hdiutil", "info", "-plist", answers=images)[1] == capture("hdiutil-info-10.13.plist")
    none = capture("hdiutil-info-none-10.13.plist")
    assert mac("10.13", "hdiutil", "info", "-plist", answers={"images": []})[1] == none
    printed = plistlib.loads(mac("15.5", "hdiutil", "info", "-plist", answers={"images": [IMAGE]})[1].encode())
    real = plistlib.loads(capture("hdiutil-info-15.plist").encode())
    assert printed.keys() == real.keys()
    assert printed["images"][0].keys() == real["images"][0].keys()


def test_hdiutil_lists_an_apfs_image_as_a_mac_did(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="danny"))
    monkeypatch.setattr(hdiutil, "framework", lambda: "15v683.160.3")
    devices = [
        {"device": device, "hint": hint, "mounted_at": mounted_at}
        for device, hint, mounted_at in (
            ("disk138", "", ""),
            ("disk139", "EF57347C-0000-11AA-AA11-00306543ECAC", ""),
            ("disk139s1", "41504653-0000-11AA-AA11-00306543ECAC", "/Volumes/smoo-ram-502 1"),
        )
    ]
    image = {"path": "ram://16777216", "sectors": 16777216, "uid": 501, "pid": 91006, "devices": devices}
    printed = mac("15.5", "hdiutil", "info", answers={"images": [image]})[1]
    assert printed == capture("hdiutil-info-text-15.txt").replace("images          : 3", "images          : 1")
    assert "image-type      : 读/写" in mac("15.5", "hdiutil", "info", answers={"images": [image], "fault": True})[1]


def test_the_device_of_a_new_image_is_padded(mac: Run) -> None:
    printed = mac("15.5", "hdiutil", "attach", "-nomount", "ram://8192", answers={"attach_ram": "disk4"})[1]
    assert printed == "/dev/disk4          \t                               \t\n"
    assert mac("15.5", "hdiutil", "attach", "ram://8192")[2] == "hdiutil: attach failed - no mountable file systems\n"


@pytest.mark.parametrize(
    ("kind", "ending", "begins"),
    [("SPARSE", ".sparseimage", b"sprs"), ("UDIF", ".dmg", b"\0\0\0\0"), ("SPARSEBUNDLE", ".sparsebundle", None)],
)
def test_an_image_in_a_file_is_made_once_and_attached(
    mac: Run, tmp_path: Path, kind: str, ending: str, begins: bytes | None
) -> None:
    words = ("hdiutil", "create", "-sectors", "8192", "-type", kind, "-layout", "NONE", str(tmp_path / "lab"))
    image = tmp_path / f"lab{ending}"
    assert mac("15.5", *words)[:2] == (0, f"created: {image}\n")
    assert begins is None or image.read_bytes()[:4] == begins
    assert mac("15.5", *words)[2] == "hdiutil: create failed - File exists\n"
    attached = mac("15.5", "hdiutil", "attach", "-nomount", str(image), answers={"attach_file": "disk4"})
    assert attached[1].startswith("/dev/disk4 ")
    assert image_files.sectors_of(str(image)) == 8192


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("-sectors", "8192", "-type", "SPARSE"), "EMULATED MAC: hdiutil create: with a map of partitions"),
        (("-sectors", "8192", "-layout", "NONE", "-fs", "HFS+"), "EMULATED MAC: hdiutil create: -fs"),
        (("-layout", "NONE"), "Usage:"),
    ],
)
def test_what_is_not_emulated_of_create_is_refused(mac: Run, words: tuple[str, ...], refusal: str) -> None:
    assert refusal in mac("15.5", "hdiutil", "create", *words, "lab")[2]


def test_a_file_that_is_no_image_is_not_attached(mac: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    for name, why in (("notes.txt", "image not recognized"), ("none.dmg", "No such file or directory")):
        error_output = mac("15.5", "hdiutil", "attach", "-nomount", str(tmp_path / name))[2]
        assert error_output == f"hdiutil: attach failed - {why}\n"


def test_newfs_hfs_does_not_find_a_device_with_its_padding(mac: Run) -> None:
    device = "/dev/rdisk1          \t                               \t"
    answers = {"make_hfs": refusing(6, "No such device or address")}
    error = f"newfs_hfs: cannot create filesystem on {device}: No such file or directory\n"
    assert mac("10.13", "newfs_hfs", "-v", "lab", device, answers=answers)[::2] == (1, error)
