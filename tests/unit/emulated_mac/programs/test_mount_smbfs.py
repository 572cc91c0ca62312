"""What mount_smbfs of an emulated Mac prints, against what real ones printed."""

from pathlib import Path

import pytest
from support.emulated_programs import Choose

from emulated_mac.programs import mount_smbfs


def test_mount_smbfs_by_version(choose: Choose, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "//u:p@127.0.0.1/s"
    choose(mount_smbfs, "10.15")
    assert mount_smbfs.main(["-s", url, str(tmp_path)]) == 64
    verbatim = (
        "usage: mount_smbfs [-Nh] [-d mode] [-f mode]\n"
        "                   //[domain;][user[:password]@]server[/share] path\n"
    )
    assert capsys.readouterr().err == f"mount_smbfs: illegal option -- s\n{verbatim}"
    assert mount_smbfs.main(["-o", "forcenewsession", url, str(tmp_path)]) == 1
    assert mount_smbfs.main(["-N", "-d", "9", url, str(tmp_path)]) == 65
    assert mount_smbfs.main(["-N", url, str(tmp_path / "none")]) == 71
    capsys.readouterr()
    (tmp_path / "a%b").mkdir()
    choose(mount_smbfs, "15")
    assert mount_smbfs.main(["-N", "//", f"{tmp_path}/a%25b"]) == 64
    refused = "mount_smbfs: URL parsing failed, please correct the URL and try again: Invalid argument\n"
    assert capsys.readouterr().err == refused
    assert mount_smbfs.main(["-N", url, f"{tmp_path}/a%25b"]) == 68  # nothing serves SMB here
    assert capsys.readouterr().err == "mount_smbfs: server connection failed: Connection refused\n"


def test_faults_of_mount_smbfs_say_what_macs_said(
    choose: Choose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mount_smbfs, "_negotiate", lambda *_: dict(mount_smbfs.SMB1))
    url = "//admin:pw@server.local/Data"
    choose(mount_smbfs, "15", fault=lambda name: name == "smb-file-exists")
    assert mount_smbfs.main(["-N", url, str(tmp_path)]) == 64
    assert capsys.readouterr().err == "mount_smbfs: mount error: //admin:pw@server.local/Data: File exists\n"
    choose(mount_smbfs, "15", fault=lambda name: name == "smb-ntstatus")
    assert mount_smbfs.main(["-N", url, str(tmp_path)]) == 64
    assert capsys.readouterr().err == f"mount_smbfs: mount error: {tmp_path}: unknown error: -1073741275\n"
