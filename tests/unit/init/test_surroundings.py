"""This machine: its addresses, other hosts by name, and shares in its table of mounts."""

import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.surroundings import NAS

from lab.hosts.fields import host_name
from lab.init import surroundings
from lab.init.surroundings import Mounted, read_table
from lab.platforms.mounts import MountedShare

ADDRESSES = {"nas.local": "192.168.1.5", "192.168.77.2": "192.168.77.2"}


def mounts(*rows: MountedShare) -> list[Mounted]:
    return list(read_table(rows, [NAS], ADDRESSES.get))


@pytest.mark.parametrize(
    "row",
    [
        MountedShare("/x", "cifs", "smb", "nas.local", "media", options={"addr": "192.168.77.2"}),
        MountedShare("/x", "smbfs", "smb", "Big NAS._smb._tcp.local", "media", "jane"),  # as Finder knows it by DNS-SD
    ],
)
def test_a_share_has_its_server_and_the_address_that_the_table_or_the_link_knows(row: MountedShare) -> None:
    assert mounts(row) == [Mounted("/x", "smb", "media (SMB)", "nas.local", "192.168.77.2")]


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
    assert all(mount.server for mount in surroundings.own_mounts([], lambda _: None))


def test_others_may_reach_the_own_addresses() -> None:
    assert all(not own.address.is_loopback and own.interface for own in surroundings.list_own_addresses())


def test_names_and_peers_lead_to_addresses() -> None:
    """An address is of IPv4 if the name has one; a peer leads to this machine's address on the way to it."""
    own = [surroundings.find_own_address(peer) for peer in ("127.0.0.1", "::1", "a name")]
    assert own == ["127.0.0.1", "::1", None]
    addresses = [surroundings.find_address(name) for name in ("localhost", "::1", "a" * 70)]
    assert addresses == ["127.0.0.1", "::1", None]


def test_a_service_is_there_where_its_port_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ports = {"SMB": server.getsockname()[1], "SSH": closed.getsockname()[1]}
        monkeypatch.setattr(surroundings, "SERVICE_PORTS", ports)
        assert surroundings.find_services("127.0.0.1") == {"SMB"}
