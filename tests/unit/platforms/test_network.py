"""Networks of hosts: addresses, tunnels, Wi-Fi, and the path between two Macs, which ping proves."""

import plistlib
from contextlib import nullcontext
from ipaddress import ip_interface
from pathlib import Path

import pytest
from support.emulated_mac import capture, mac, settings_of, state
from support.fake_host import EmulatedHost, FakeHost
from support.paths import LINUX_CAPTURES

from lab.base.errors import LabFailure, Unsupported
from lab.base.present import present
from lab.hosts.command import script
from lab.platforms.linux.network import MEDIUM, TUNNEL, LinuxNetwork, parse_networks, parse_radio
from lab.platforms.linux.platform import Linux
from lab.platforms.macos import parsers
from lab.platforms.macos.network import RAW_SOCKET, MacNetwork, parse_airport
from lab.platforms.macos.platform import MacOS
from lab.platforms.network import AWAIT, Medium, Radio


def test_ping_gets_the_space_that_a_jumbo_packet_needs(tmp_path: Path) -> None:
    host = mac(tmp_path, "26", {"raw.maxdgram": "8192", "raw.recvspace": "8192"})
    network = MacOS(host).network
    assert network.probe_settings(1500) == []
    with pytest.raises(LabFailure, match=r"9000 bytes at once: net\.inet\.raw\.maxdgram and net\.inet\.raw\.recvspace"):
        network.prove_path("192.0.2.2", 9000)
    changes = settings_of(host, tmp_path)
    with changes.scope():
        changes.apply_all(network.probe_settings(9000))
        assert network.probe_settings(9000) == []
    assert state(host)["values"] == "net.inet.raw.recvspace 8192\nnet.inet.raw.maxdgram 8192\n"


def test_a_path_that_does_not_carry_the_packet_is_an_error() -> None:
    host = FakeHost()
    host.on(("sysctl", *RAW_SOCKET), "net.inet.raw.maxdgram: 16384\nnet.inet.raw.recvspace: 16384\n")
    host.on(script(AWAIT, "ping", "-n", "-D", "-s", "56", "-c", "1", "-W", "2000", "192.0.2.2"))
    ping = ("ping", "-n", "-D", "-s", "8972", "-c", "1", "-W", "2000", "192.0.2.2")
    host.on(ping, stderr="ping: sendto: Message too long", exit_code=2, times=3)
    with pytest.raises(LabFailure, match=r"MTU 9000 do not reach 192\.0\.2\.2 in one piece .*Message too long"):
        MacOS(host).network.prove_path("192.0.2.2", 9000)


@pytest.mark.parametrize(("address", "payload"), [("192.0.2.2", 8972), ("fd00:77::2", 8952)])
def test_packets_that_vanish_are_told_from_those_that_are_too_large_by_a_smaller_one(
    address: str, payload: int
) -> None:
    host = FakeHost()
    network = Linux(host).network
    large, ordinary, _ = network.pings(address, 9000).values()
    assert f"-s {payload} " in " ".join(large)
    lost = "1 packets transmitted, 0 received, 100% packet loss, time 0ms"
    host.on(large, lost, exit_code=1, times=2)
    host.on(ordinary, "1 received")
    found = present(network.find_black_hole(address, 9000))
    assert found.message == f"packets of 9000 bytes do not arrive at {address}, those of 1500 do"
    host.on(large, lost, stderr="ping: local error: message too long, mtu=1500", exit_code=1, times=2)
    assert network.find_black_hole(address, 9000) is None
    large, small = network.pings(address, 1500).values()  # nothing arrives: a firewall, or nobody is there
    host.on(large, lost, exit_code=1, times=2)
    host.on(small, lost, exit_code=1)
    assert network.find_black_hole(address, 1500) is None


def test_without_more_space_a_mac_pings_with_what_its_sockets_hold() -> None:
    assert list(MacOS(FakeHost()).network.pings("192.0.2.2", 9000)) == [8192, 1500, 576]


def test_over_ipv6_ping6_proves_the_path_from_10_9_on(tmp_path: Path) -> None:
    sizes = {"raw.maxdgram": "16384", "raw.recvspace": "16384"}
    ping6 = '[ $# -gt 0 ] || { echo "usage: ping6 [-FLAGS] host" >&2; exit 1; }'
    host = mac(tmp_path, "26", sizes, more={"ping6": ping6.replace("FLAGS", "DdfHm")})
    MacOS(host).network.check_probe("fd00:77::2")
    MacOS(host).network.prove_path("fd00:77::2", 9000)
    assert host.calls("ping6")[-1] == "ping6 -n -D -m -b 16384 -s 8952 -c 1 fd00:77::2"
    (tmp_path / "old").mkdir()
    old = MacOS(mac(tmp_path / "old", "10.6", sizes, more={"ping6": ping6.replace("FLAGS", "dfHm")})).network
    old.check_probe("192.0.2.2")
    with pytest.raises(Unsupported, match=r"ping6 of Macs before 10\.9 cannot prove an MTU: .*data_address of IPv4"):
        old.check_probe("fd00:77::2")


@pytest.mark.parametrize(("printed", "is_able"), [
    ("ping: usage error: Destination address required", True), ("Usage: ping [-c count] [-T timestamp_option]", True),
    ("ping: invalid option -- 'M'\nBusyBox v1.35.0", False), ("ping: Unknown option 'M' (see \"ping --help\")", False),
])  # fmt: skip
def test_a_ping_of_linux_without_the_option_proves_nothing(tmp_path: Path, printed: str, is_able: bool) -> None:
    host = EmulatedHost(tmp_path, {"ping": f"cat >&2 <<'END'\n{printed}\nEND\nexit 1"}, ("sh", "cat", "grep"))
    with nullcontext() if is_able else pytest.raises(Unsupported, match="proves no MTU: install the ping of iputils"):
        LinuxNetwork(host).check_probe("192.0.2.2")


def test_a_link_that_is_down_for_a_while_is_waited_for(tmp_path: Path) -> None:
    """The third ping is the first that is answered, and only then a long one is sent."""
    ping = 'n=$(cat pings); echo $((n + 1)) > pings; [ "$n" -ge 2 ]'
    sizes = {"raw.maxdgram": "16384", "raw.recvspace": "16384"}
    host = mac(tmp_path, "26", sizes, more={"ping": ping})
    (tmp_path / "pings").write_text("0\n")
    MacOS(host).network.prove_path("192.0.2.2", 9000)
    assert [call.split()[4] for call in host.calls("ping")] == ["56", "56", "56", "8972"]


@pytest.mark.parametrize(
    ("name", "files", "is_tunnel"),
    [
        ("wg0", {}, True),
        ("tun3", {}, True),
        ("home", {"uevent": "DEVTYPE=wireguard\nINTERFACE=home\n", "type": "65534\n"}, True),
        ("vpn", {"uevent": "INTERFACE=vpn\n", "type": "65534\n", "tun_flags": "0x1001\n"}, True),
        ("sixfour", {"uevent": "", "type": "776\n"}, True),
        ("dsl", {"uevent": "DEVTYPE=ppp\n", "type": "512\n"}, True),
        ("eth0", {"uevent": "INTERFACE=eth0\n", "type": "1\n"}, False),
        ("eth1", {"uevent": "INTERFACE=eth1\n", "type": "1\n", "tun_flags": "0x1002\n"}, False),  # TAP, as of a guest
        ("wlan0", {"uevent": "DEVTYPE=wlan\n", "type": "1\n"}, False),
    ],
)
def test_linux_knows_a_tunnel_by_name_or_by_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: dict[str, str], is_tunnel: bool
) -> None:
    (tmp_path / "net" / name).mkdir(parents=True)
    for file, content in files.items():
        (tmp_path / "net" / name / file).write_text(content)
    monkeypatch.setattr("lab.platforms.linux.network.TUNNEL", TUNNEL.replace("/sys/class/net", f"{tmp_path}/net"))
    network = LinuxNetwork(EmulatedHost(tmp_path, {}, ("sh", "cat", "grep")))
    assert network.is_tunnel(name) is is_tunnel


@pytest.mark.parametrize(("file", "is_virtual"), [("device", False), ("lower_eth0", False), ("mtu", True)])
def test_an_interface_of_linux_without_hardware_is_virtual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, is_virtual: bool
) -> None:
    (tmp_path / "net" / "x").mkdir(parents=True)
    (tmp_path / "net" / "x" / file).touch()
    (tmp_path / "net" / "x" / "duplex").write_text("full\n")
    monkeypatch.setattr("lab.platforms.linux.network.MEDIUM", MEDIUM.replace("/sys/class/net", f"{tmp_path}/net"))
    network = LinuxNetwork(EmulatedHost(tmp_path, {}, ("sh", "cat", "ls")))
    assert network.medium("x") == Medium(False, "full", is_virtual)


IW = """\
Connected to 02:00:00:00:00:01 (on wlan0)
\tSSID: home
\tfreq: 5180
\tRX: 2187 bytes (14 packets)
\tTX: 1450 bytes (9 packets)
\tsignal: -54 dBm
\trx bitrate: 780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2
\ttx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
"""
ROW = " wlan0: 0000   60.  -50.  {}        0      0      0      0     24        0\n"


def airport(**network: object) -> str:
    """As system_profiler prints it, with another card and another network beside."""
    other = {"_name": "neighbour", "spairport_signal_noise": "-30 dBm / -90 dBm", "spairport_network_rate": 54}
    awdl0 = {"_name": "awdl0", "spairport_current_network_information": other}
    en0 = {"_name": "en0", "spairport_airport_other_local_wireless_networks": [other]}
    cards = [awdl0, en0 | {"spairport_current_network_information": {"_name": "<redacted>", **network}}]
    return plistlib.dumps([{"_items": [{"spairport_airport_interfaces": cards}]}]).decode()


def test_signal_noise_and_rate_of_wi_fi_which_is_on_a_mac_the_last_one_of_its_line() -> None:
    output = airport(spairport_signal_noise="-54 dBm / -92 dBm", spairport_network_rate=866)
    assert parse_airport(output, "en0") == Radio(866_000_000, -54, -92)
    assert parse_airport(output, "en1") == Radio()
    assert parse_airport(airport(spairport_network_rate="585"), "en0") == Radio(585_000_000)
    assert parse_airport(airport(spairport_signal_noise="soon", spairport_network_rate=-1), "en0") == Radio()
    with pytest.raises(ValueError, match="not a property list"):
        parse_airport("Wi-Fi:\n", "en0")
    assert parse_radio(IW) == Radio(866_700_000, -54)
    assert parse_radio(IW + ROW.format("-92. ")) == Radio(866_700_000, -54, -92)
    assert parse_radio(ROW.format("-256.")) == Radio(None, -50)
    assert parse_radio("Not connected.\n") == Radio()
    for line, bits_per_s in {
        "uplink rate: 20.09 Mbps [eff] / 21.60 Mbps": 21_600_000,
        "uplink rate: 866.70 Mbps [eff] / 1.20 Gbps": 1_200_000_000,
        "uplink rate: 25.10 Mbps [eff] / 27.00 Mbps [tbr] / 1.00 Gbps [max]": 1_000_000_000,
        "uplink rate: 54.00 Mbps": 54_000_000,
        "downlink rate: 20.09 Mbps [eff] / 21.60 Mbps [max]": None,
    }.items():
        assert parsers.parse_rate(f"en0: flags=8863<UP> mtu 1500\n\ttype: Wi-Fi\n\t{line}\n", "uplink") == bits_per_s


@pytest.mark.parametrize(
    ("address", "own"),
    [("fe80::1%eth1", "fe80::1%eth1"), ("fe80::1%en0", "fe80::1%eth0"), ("fe80::9%en0", "fe80::9%en0"),
     ("fd00::1", "fd00::1")],
)  # fmt: skip
def test_the_zone_of_an_own_address_is_an_interface_that_has_it(tmp_path: Path, address: str, own: str) -> None:
    rows = [f"{number}: eth{number}    inet6 fe80::1/64 scope link" for number in (0, 1)]
    commands = {"ip": f"printf '%s\\n' '{rows[0]}' '{rows[1]}'", "ls": "echo eth0; echo eth1"}
    assert LinuxNetwork(EmulatedHost(tmp_path, commands, ("sh",))).own_address(address) == own


def test_networks_ports_addresses_and_tunnels() -> None:
    text = """\
eth0
eth1
wg-münchen

2: eth0    inet 10.0.0.1/30 scope global eth0\\       valid_lft forever preferred_lft forever
2: eth0    inet6 fd00::1/64 scope global flags 02 \\       valid_lft forever preferred_lft forever
3: wg-münchen    inet 10.9.0.1 peer 10.9.0.2/32 scope global wg-münchen
"""
    assert parse_networks(text) == {
        "eth0": (ip_interface("10.0.0.1/30"), ip_interface("fd00::1/64")), "eth1": (),
        "wg-m?nchen": (ip_interface("10.9.0.1/32"),),
    }  # fmt: skip
    for bad in ("", "eth0\nlo\n\n", "eth0\n\n2: eth0    inet 10.0.0.300/30 brd", "eth0\n\n3: eth9    inet 10.0.0.1/8"):
        with pytest.raises(ValueError, match=r"."):
            parse_networks(bad)
    networks = parsers.parse_networks(capture("ifconfig-utun-26.6.2.txt") + capture("ifconfig-10gbase-t.txt"))
    local = ip_interface("fe80::1885:6e74:1e1e:e717/64")
    assert networks["en0"] == (ip_interface("10.254.100.2/16"), local)
    text = "en0: flags=8863<UP> mtu 1500\n\tinet6 fd00:77::1 prefixlen 64 autoconf secured \n"
    assert parsers.parse_networks(text) == {"en0": (ip_interface("fd00:77::1/64"),)}
    ports = "\nHardware Port: Wi-Fi\nDevice: en0\nEthernet Address: c0\n\nVLAN Configurations\n=====\n"
    assert parsers.parse_ports(ports) == {"en0": "Wi-Fi"}
    text = "lo0: flags=8049<UP> mtu 16384\n\tinet 127.0.0.1 netmask 0xff000000\nen0: flags=8863<UP> mtu 1500\n"
    text += "utun3: flags=8051<UP,POINTOPOINT> mtu 1380\n\tinet 10.8.0.2 --> 10.8.0.1 netmask 0xffffffff\n"
    network = MacNetwork(FakeHost())
    network.host.on(("ifconfig", "-a"), text)  # type: ignore[attr-defined]
    assert network.addresses() == {"lo0": ("127.0.0.1",), "en0": (), "utun3": ("10.8.0.2",)}
    network = MacNetwork(FakeHost())
    assert (network.is_tunnel("utun3"), network.is_tunnel("en0")) == (True, False)


def test_a_host_without_ip_has_its_addresses_in_tables() -> None:
    networks = {"eth0": ("192.0.2.2/24", "fd00::2/64"), "lo": ("::1/128",)}
    text = (LINUX_CAPTURES / "networks-without-ip.txt").read_text()
    assert parse_networks(text) == {name: tuple(map(ip_interface, own)) for name, own in networks.items()}
