"""What newfs_hfs of an emulated Mac prints, against what real ones printed."""

from typing import Any

from support.emulated_programs import Run


def test_newfs_hfs_does_not_find_a_device_with_its_padding(mac: Run) -> None:
    def none(**_: Any) -> None:
        raise OSError(6, "No such device or address")

    device = "/dev/rdisk1          \t                               \t"
    code, _, error = mac("10.13", "newfs_hfs", "-v", "lab", device, answers={"make_hfs": none})
    assert code == 1
    assert error == f"newfs_hfs: cannot create filesystem on {device}: No such file or directory\n"
