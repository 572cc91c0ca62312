"""What diskutil of an emulated Mac prints, against what real ones printed."""

from support.emulated_programs import Run, capture


def test_diskutil_says_what_it_does_as_it_said_then(mac: Run) -> None:
    made = {"device": "disk2", "size_bytes": 1 << 30, "mounted_at": ""}
    answers = {"disk_info": made, "unmount_device": "", "make_hfs": made, "mount_in_volumes": "/Volumes/ramdisk"}
    words = ("diskutil", "eraseVolume", "HFS+", "ramdisk", "/dev/disk2")
    assert mac("10.13", *words, answers=answers) == (0, capture("diskutil-erase-10.12.txt"), "")
    assert "as a 1 GB HFS Plus volume\n" in mac("10.6", *words, answers=answers)[1]
    apfs = ("diskutil", "erasevolume", "APFS", "x", "disk2")
    assert mac("10.9", *apfs, answers=answers)[0] == 1
