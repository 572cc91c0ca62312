"""What hdiutil of an emulated Mac prints, against what real ones printed."""

from __future__ import annotations

import plistlib
import pwd
from types import SimpleNamespace

import pytest
from support.emulated_programs import Run, capture

from lab.emulated_mac.programs import hdiutil

IMAGE = {"sectors": 4194304, "uid": 0, "pid": 73094, "devices": [{"device": "disk2", "hint": "", "mounted_at": ""}]}


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
    image = {"sectors": 16777216, "uid": 501, "pid": 91006, "devices": devices}
    printed = mac("15.5", "hdiutil", "info", answers={"images": [image]})[1]
    assert printed == capture("hdiutil-info-text-15.txt").replace("images          : 3", "images          : 1")
    assert "image-type      : 读/写" in mac("15.5", "hdiutil", "info", answers={"images": [image], "fault": True})[1]


def test_the_device_of_a_new_image_is_padded(mac: Run) -> None:
    printed = mac("15.5", "hdiutil", "attach", "-nomount", "ram://8192", answers={"attach_ram": "disk4"})[1]
    assert printed == "/dev/disk4          \t                               \t\n"
    assert mac("15.5", "hdiutil", "attach", "ram://8192")[2] == "hdiutil: attach failed - no mountable file systems\n"
