"""Shares that this machine has mounted, in its table of mounts."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.surroundings import NAS

from lab.hosts.fields import host_name
from lab.init.surroundings import Mounted, own_mounts, read_table
from lab.platforms.mounts import MountedShare

ADDRESSES = {"nas.local": "192.168.1.5", "192.168.77.2": "192.168.77.2"}


def mounts(*rows: MountedShare) -> list[Mounted]:
    return list(read_table(rows, [NAS], ADDRESSES.get))


def test_a_share_has_its_server_and_the_address_that_the_table_knows() -> None:
    row = MountedShare("/mnt", "cifs", "smb", "nas.local", "media", options={"addr": "192.168.77.2"})
    assert mounts(row) == [Mounted("/mnt", "smb", "media (SMB)", "nas.local", "192.168.77.2")]


def test_a_server_that_finder_knows_by_dns_sd_is_the_machine_of_that_name() -> None:
    row = MountedShare("/Volumes/media", "smbfs", "smb", "Big NAS._smb._tcp.local", "media", "jane")
    assert mounts(row) == [Mounted("/Volumes/media", "smb", "media (SMB)", "nas.local", "192.168.77.2")]


@pytest.mark.parametrize(
    "row",
    [
        MountedShare("/", "ext4"),
        MountedShare("/x", "fuse.sshfs", "ssh", "nas.local", "/home"),
        MountedShare("/x", "cifs", "smb", "gone.local", "media"),
        MountedShare("/x", "smbfs", "smb", "Other._smb._tcp.local", "media"),
        MountedShare("/x", "cifs", "smb", "$(id)", "media", options={"addr": "192.168.77.2"}),
    ],
)
def test_what_is_no_share_or_has_no_server_is_left_out(row: MountedShare) -> None:
    assert mounts(row) == []


TEXTS = st.text(max_size=40)


@given(st.builds(MountedShare, TEXTS, TEXTS, st.sampled_from(["smb", "nfs", "afp"]), TEXTS, TEXTS))
def test_whatever_a_table_says_a_server_can_be_typed(row: MountedShare) -> None:
    for mount in read_table([row], [NAS], lambda name: "192.168.1.5"):
        assert host_name(mount.server) == mount.server
        assert mount.label.replace(" ", "x").isprintable()


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="what the lab knows")
def test_the_table_of_this_machine_is_read() -> None:
    assert all(mount.server for mount in own_mounts([], lambda _: None))
