"""What a kernel says of its mounts. None at hand mounts these: the rows are made up after nfs(5) and mount.cifs(8)."""

from __future__ import annotations

from lab.hosts.mount_reports import parse_mount_options

NFS = (
    "rw,relatime,vers=4.2,rsize=1048576,wsize=524288,namlen=255,soft,proto=tcp,timeo=100,retrans=3,sec=sys,"
    "clientaddr=192.0.2.1,local_lock=none,addr=192.0.2.2"
)
CIFS = (
    "rw,relatime,vers=3.1.1,cache=strict,username=lab,uid=1000,forceuid,addr=192.0.2.2,file_mode=0755,soft,"
    "rsize=4194304,wsize=4194304,bsize=1048576"
)


def test_nfs() -> None:
    assert parse_mount_options(NFS, "NFSv") == {"rsize": 1048576, "wsize": 524288, "dialect": "NFSv4.2"}


def test_cifs() -> None:
    assert parse_mount_options(CIFS, "SMB ") == {"rsize": 4194304, "wsize": 4194304, "dialect": "SMB 3.1.1"}


def test_what_is_not_said_or_not_a_number_is_not_known() -> None:
    assert parse_mount_options("rw,relatime", "NFSv") == {}
    assert parse_mount_options("rsize=\x1b[2J,wsize=-1,vers=$(id)", "NFSv") == {}
