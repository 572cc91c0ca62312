"""What hdiutil of an emulated Mac prints, against what real ones printed."""

import plistlib
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.emulated_programs import Run, capture

from emulated_mac import image_files
from emulated_mac.programs import hdiutil

DEVICES = [{"device": "disk2", "hint": "", "mounted_at": ""}]
IMAGE = {"path": "ram://4194304", "sectors": 4194304, "uid": 0, "pid": 73094, "devices": DEVICES}


def test_hdiutil_prints_the_property_list_of_a_mac(mac: Run) -> None:
    printed = mac("10.13", "hdiutil", "info", "-plist", answers={"images": [IMAGE | {"uid": 501}]})[1]
    assert printed == capture("hdiutil-info-10.13.plist")
    assert mac("10.13", "hdiutil", "info", "-plist", answers={"images": []})[1] == capture(
        "hdiutil-info-none-10.13.plist"
    )


def test_hdiutil_names_what_a_property_list_of_15_names(mac: Run) -> None:
    printed = plistlib.loads(mac("15.5", "hdiutil", "info", "-plist", answers={"images": [IMAGE]})[1].encode())
    real = plistlib.loads(capture("hdiutil-info-15.plist").encode())
    assert printed.keys() == real.keys()
    assert printed["images"][0].keys() == real["images"][0].keys()


def test_hdiutil_lists_an_apfs_image_as_a_mac_did(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="danny"))
    monkeypatch.setattr(hdiutil, "framework", lambda: "15v683.160.3")
    devices = [
        {"device": "disk138", "hint": "", "mounted_at": ""},
        {"device": "disk139", "hint": "EF57347C-0000-11AA-AA11-00306543ECAC", "mounted_at": ""},
        {
            "device": "disk139s1",
            "hint": "41504653-0000-11AA-AA11-00306543ECAC",
            "mounted_at": "/Volumes/smoo-ram-502 1",
        },
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
