"""What sharing of an emulated Mac prints, against what real ones printed."""

from pathlib import Path
from typing import Any

import pytest
from support.emulated_programs import Choose, capture

from emulated_mac.programs import sharing

POINT = {
    "name": "Backups", "path": "/Users/kknott/Backups", "afp_name": "Backups", "ftp_name": "Backups",
    "smb_name": "Backups", "afp_shared": False, "ftp_shared": False, "smb_shared": True, "afp_guest": False,
    "ftp_guest": False, "smb_guest": False, "afp_inherit": False, "smb_inherit": False, "smb_read_only": False,
    "smb_sealed": False,
}  # fmt: skip


def test_sharing_lists_as_a_mac_does(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(sharing, "10.6", share_points=[POINT])
    assert sharing.main(["-l"]) == 0
    printed = capsys.readouterr().out
    assert set(capture("sharing-l-10.8.txt").splitlines()) <= set(printed.splitlines())
    choose(sharing, "15", share_points=[POINT])
    sharing.main(["-l"])
    printed = capsys.readouterr().out
    assert printed.startswith(
        "\t\t\tList of Share Points\nname:\t\tBackups\npath:\t\t/Users/kknott/Backups\n\tsmb:\t{\n"
    )
    assert "afp" not in printed
    sharing.main(["-l", "-f", "json"])
    assert '"smb_guest_access": 0' in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [[], ["-a", "/", "-s", "11"], ["-a", "/", "-s", "002"],
     ["-l", "-f", "xml"], ["-l", "-r", "x"], ["-x"], ["-l", "y"]],
)  # fmt: skip
def test_sharing_refuses(choose: Choose, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    choose(sharing, "15", share_points=[])
    assert sharing.main(words) == 64
    assert capsys.readouterr().err.startswith("usage: sharing -a <path>")


def test_json_is_refused_before_11(choose: Choose) -> None:
    choose(sharing, "10.15", share_points=[])
    assert sharing.main(["-l", "-f", "json"]) == 64


def test_a_share_point_has_the_flags_that_were_asked_for(choose: Choose, tmp_path: Path) -> None:
    written: list[dict[str, Any]] = []
    choose(sharing, "10.9", share_points=[], share_point_write=lambda record: written.append(record))
    assert sharing.main(["-a", str(tmp_path), "-n", "labram", "-S", "Lab", "-s", "101", "-g", "000"]) == 0
    (point,) = written
    assert (point["name"], point["smb_name"], point["afp_name"]) == ("labram", "Lab", "labram")
    assert (point["afp_shared"], point["ftp_shared"], point["smb_shared"]) == (True, False, True)
