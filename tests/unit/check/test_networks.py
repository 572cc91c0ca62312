"""The check of the networks that both hosts are on: which data addresses are proposed, and where SMB would send too."""

from pathlib import Path

import pytest
from support.checked_macs import ADDRESSES, PORTS, Macs, about, lines_of, machines_of

from lab.check import networks
from lab.hosts.hosts_file import load_hosts

FIRST = "10.254.0.0/16 (en0 of the client, en0 of the server)"
MASK = "0xffffff00"
SECOND = "192.168.8.0/24 (en1 of the client, en1 of the server, Wi-Fi)"


def check(macs: Macs) -> list[str]:
    machines = machines_of(macs)
    return lines_of(networks.findings(load_hosts(Path("hosts.ini")).share, machines["client"], machines["server"]))


def add_interface(macs: Macs, name: str, network: str, mask: str) -> None:
    """Give both Macs an interface with an address of a network, such as ``192.168.8.``."""
    for number, host in enumerate(macs.values(), 5):
        with (host.folder / "second").open("a") as file:
            file.write(f"{name}: flags=8863<UP> mtu 1500\n\tinet {network}{number} netmask {mask} broadcast\n")


def test_smb_would_send_over_a_second_network(macs: Macs) -> None:
    add_interface(macs, "en1", "192.168.8.", MASK)
    lines = check(macs)
    assert about(lines, "link networks") == [f"ok       link networks: both hosts are on {FIRST}, and on {SECOND}"]
    assert about(lines, "smb")[0] == (
        f"warning  smb: this client sends over {SECOND}, too, where the server takes it: such trials are void"
        "  -> give smb.multichannel = [false] in the sweep"
    )


@pytest.mark.parametrize(
    ("name", "network", "mask"),
    [("", "", ""), ("en1", "169.254.7.", "0xffff0000"), ("lo0", "127.0.0.", "0xff000000"), ("utun3", "10.8.0.", MASK)],
)
def test_one_network_is_enough(macs: Macs, name: str, network: str, mask: str) -> None:
    """Addresses that an interface gives itself, of loopback, and of a tunnel prove no common network."""
    if name:
        add_interface(macs, name, network, mask)
    lines = check(macs)
    assert about(lines, "link networks") == [f"ok       link networks: both hosts are on {FIRST}"]
    assert not [line for line in lines if "multichannel" in line]


def test_addresses_are_proposed_if_the_data_addresses_are_on_no_network(macs: Macs) -> None:
    """A cable before Wi-Fi."""
    add_interface(macs, "en1", "192.168.8.", MASK)
    hosts = Path("hosts.ini")
    hosts.write_text(hosts.read_text().replace(ADDRESSES["client"], "10.1.1.1"))
    lines = check(macs)
    assert about(lines, "link networks") == [
        f"note     link networks: both hosts are on {FIRST}"
        f"  -> data_address = {ADDRESSES['client']} in [client] and {ADDRESSES['server']} in [server] would measure it",
        f"note     link networks: both hosts are on {SECOND}"
        "  -> data_address = 192.168.8.5 in [client] and 192.168.8.6 in [server] would measure it",
    ]


def test_a_cable_is_proposed_where_the_data_addresses_are_on_wi_fi(macs: Macs) -> None:
    add_interface(macs, "en1", "192.168.8.", MASK)
    swapped = PORTS.replace("en1", "en9").replace("en0", "en1").replace("en9", "en0")
    for host in macs.values():
        (host.folder / "ports").write_text(swapped)
    note, ok = sorted(about(check(macs), "link networks"))
    assert note == (
        "note     link networks: both hosts are on 192.168.8.0/24 (en1 of the client, en1 of the server)"
        "  -> data_address = 192.168.8.5 in [client] and 192.168.8.6 in [server] would measure it"
    )
    assert ok.startswith(f"ok       link networks: both hosts are on {FIRST[:-1]}, ")
