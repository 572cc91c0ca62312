"""What programs of the network print on an emulated Mac, against real ones, public outputs and sources."""

import re
import socket
import time
from typing import Any

import pytest
from support.emulated_programs import Run, capture, refusing, show_card

from emulated_mac import echo, interfaces, processes
from emulated_mac.bonjour import Service
from emulated_mac.programs import dns_sd, ifconfig, ipconfig, netstat, networksetup, ping, route

SSH = [Service(name, "_ssh._tcp", f"{name}.local", 22) for name in ("server", "client")]
SMB = Service("server", "_smb._tcp", "server.local", 445)
BROWSED = """\
Browsing for _ssh._tcp
DATE: ---DAY---
TIME  ...STARTING...
Timestamp     A/R    Flags  if Domain               Service Type         Instance Name
TIME  Add        3  15 local.               _ssh._tcp.           client
TIME  Add        2  15 local.               _ssh._tcp.           server
TIME  Rmv        0  15 local.               _ssh._tcp.           client
"""
BROWSED_IN_10_6 = """\
Browsing for _ssh._tcp
Timestamp     A/R Flags if Domain                    Service Type              Instance Name
TIME  Add     3 15 local.                    _ssh._tcp.                client
TIME  Add     2 15 local.                    _ssh._tcp.                server
TIME  Rmv     0 15 local.                    _ssh._tcp.                client
"""
LOOKED_UP = """\
Lookup server._smb._tcp.local
DATE: ---DAY---
TIME  ...STARTING...
TIME  server._smb._tcp.local. can be reached at server.local.:445 (interface 15)
"""


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[list[Service]]:
    """What others answer, from one second to the next; then somebody presses Ctrl-C."""
    heard: list[list[Service]] = []
    show_card(monkeypatch, dns_sd)
    monkeypatch.setattr(dns_sd, "ask", lambda broadcast: heard.pop(0))
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def sleep(_: float) -> None:
        if not heard:
            raise SystemExit(130)

    monkeypatch.setattr(time, "sleep", sleep)
    return heard


def without_time(text: str) -> str:
    text = re.sub(r"---\w{3} \d\d \w{3} \d{4}---", "---DAY---", text)
    return re.sub(r"(?m)^[ \d]\d:\d\d:\d\d\.\d{3}  ", "TIME  ", text)


@pytest.mark.parametrize(("version", "rows"), [("15.5", BROWSED), ("10.6", BROWSED_IN_10_6)])
@pytest.mark.parametrize("kind", ["_ssh._tcp", "_ssh"])
def test_dns_sd_tells_changes(mac: Run, answers: list[list[Service]], version: str, rows: str, kind: str) -> None:
    answers += [[*SSH, SMB], [*SSH], SSH[:1]]
    code, printed, _ = mac(version, "dns_sd", "-B", kind)
    assert (code, without_time(printed)) == (130, rows)


def test_dns_sd_tells_where_a_service_is_and_prints_its_usage(mac: Run, answers: list[list[Service]]) -> None:
    answers += [[*SSH], [*SSH, SMB]]
    code, printed, _ = mac("15.5", "dns_sd", "-L", "server", "_smb._tcp")
    assert (code, without_time(printed)) == (130, LOOKED_UP)
    for words in ((), ("_ssh._tcp",), ("-z",), ("-",), ("-L", "server")):
        assert mac("15.5", "dns_sd", *words) == (0, "", dns_sd.USAGE + "\n")


def test_ifconfig_prints_what_a_mac_printed(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, ifconfig)
    real = capture("ifconfig-10gbase-t.txt").replace(",flow-control", "")
    assert mac("15.5", "ifconfig", "en0") == (0, real, "")
    assert mac("15.5", "ifconfig", "en9") == (1, "", "ifconfig: interface en9 does not exist\n")
    assert mac("15.5", "ifconfig", "-z", "en0")[::2] == (1, "ifconfig: illegal option -- z\n" + ifconfig.USAGE + "\n")
    monkeypatch.setattr(ifconfig, "set_mtu", refusing(22, "Invalid argument"))  # of which it only warns
    assert mac("26", "ifconfig", "en0", "mtu", "9001") == (0, "", "ifconfig: ioctl (set mtu): Invalid argument\n")
    assert mac("26", "ifconfig", "en0", "mtu") == (1, "", "ifconfig: 'mtu' requires argument\n")
    show_card(monkeypatch, ifconfig, is_active=False)
    assert "\tmedia: autoselect (none)\n\tstatus: inactive\n" in mac("15.5", "ifconfig", "en0")[1]
    show_card(monkeypatch, ifconfig, ipv6=[interfaces.Address6("fd00:77::1", 64)])
    after_ipv4 = "broadcast 10.254.255.255\n\tinet6 fd00:77::1 prefixlen 64 \n\tnd6 options"
    assert after_ipv4 in mac("15.5", "ifconfig", "en0")[1]


USAGE = "usage: ipconfig <command> <args>\nwhere <command> is one of waitall, getifaddr, ifcount, "


def test_ipconfig_prints_the_address_of_an_interface_or_its_usage(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, ipconfig)
    for words in (("getifaddr", "en0"), ("GETIFADDR", "en0", "more")):
        assert mac("15.5", "ipconfig", *words) == (0, "10.254.100.2\n", "")
    for absent in ("lo0", "en7"):  # without an address, and not there
        assert mac("15.5", "ipconfig", "getifaddr", absent) == (1, "", "")
    assert mac("15.5", "ipconfig", "getifaddr") == (1, "", "usage: ipconfig getifaddr <interface name>\n")
    for command in ([], ["show"]):
        code, printed, errors = mac("15.5", "ipconfig", *command)
        assert (code, printed, errors.startswith(USAGE)) == (1, "", True)


@pytest.mark.parametrize(
    ("version", "name", "received", "sent", "file"),
    [
        ("15.5", "en0", [27949362788, 21869567], [29723901148, 22461432], "netstat-en0.txt"),
        # the address of the loopback interface is empty, and 10.6 has short names
        ("10.6", "lo0", [601295906, 1758927], [601295906, 1758927], "netstat-lo0-short-names.txt"),
    ],
)
def test_netstat_lines_up_as_on_a_mac(
    mac: Run, monkeypatch: pytest.MonkeyPatch, version: str, name: str, received: list[int], sent: list[int], file: str
) -> None:
    counters = interfaces.Counters([*received, *6 * [0], *sent, *4 * [0]])
    monkeypatch.setattr(netstat, "counters", lambda name: counters)
    address = interfaces.Address(0x0A0AFB1B, 0xFFFFFF00)
    show_card(monkeypatch, netstat, index=14, mac="02:00:00:00:00:01", address=address)
    printed, real = mac(version, "netstat", "-I", name, "-b")[1].splitlines(), capture(file).splitlines()[:4]
    assert printed[0] == real[0]
    assert [line.split() for line in printed] == [line.split() for line in real]


def test_netstat_shows_addresses_of_ipv6_in_narrow_columns(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netstat, "counters", lambda name: interfaces.Counters([7] * 14))
    show_card(monkeypatch, netstat, ipv6=[interfaces.Address6("fd00:77::1", 64)])
    last = mac("15.5", "netstat", "-I", "en0", "-b")[1].splitlines()[-1]
    assert last.startswith("en0        1500  fd00:77::1/ fd00:77::1               7     -")
    words = ("fd000077", "00010002", "00030004", "00050006")
    packed = "".join(bytes.fromhex(word)[::-1].hex().upper() for word in words)
    head, listening = "sl local_address rem_address st", f"0: {packed}:01BD {'0' * 32}:0000 0A 00000000:00000000"
    monkeypatch.setattr(processes, "read", lambda file: f"{head}\n{listening}\n" if file == "net/tcp6" else head)
    row = "tcp6       0      0  fd00:77:1:2:3:4:.445   *.*                    LISTEN\n"
    assert mac("15.5", "netstat", "-an")[1].endswith(row)


ORDER = """\
An asterisk (*) denotes that a network service is disabled.
(1) Ethernet
(Hardware Port: Ethernet, Device: en0)

"""
MANUAL = """\
Manual Configuration
IP address: 10.254.100.2
Subnet mask: 255.255.0.0
Router: none
IPv6: Automatic
IPv6 IP address: none
IPv6 Router: none
Ethernet Address: d0:11:e5:96:31:35
"""
NOT_A_SERVICE = "en0 is not a recognized network service.\n** Error: The parameters were not valid.\n"
NOT_VALID = "** Error: The parameters were not valid.\n"


def test_a_service_has_a_device_and_says_where_its_address_is_from(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, networksetup)
    assert mac("15.5", "networksetup", "-listnetworkserviceorder") == (0, ORDER, "")
    assert mac("15.5", "networksetup", "-getinfo", "Ethernet", answers={"is_manual": True}) == (0, MANUAL, "")
    leased = MANUAL.replace("Manual", "DHCP").replace("IPv6: A", "Client ID: \nIPv6: A")
    assert mac("15.5", "networksetup", "-getinfo", "Ethernet", answers={"is_manual": False}) == (0, leased, "")
    show_card(monkeypatch, networksetup, address=None)
    code, printed, _ = mac("15.5", "networksetup", "-getinfo", "Ethernet", answers={"is_manual": False})
    assert (code, printed.splitlines()[:3]) == (0, ["DHCP Configuration", "Client ID: ", "IPv6: Automatic"])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-setmanual", "Ethernet", "192.168.77.1", "255.255.255.0"), 0, ""),
        (("-setManual", "Ethernet", "192.168.77.1", "255.255.255.0", ""), 0, ""),
        (("-setmanual", "en0", "192.168.77.1", "255.255.255.0"), 4, NOT_A_SERVICE),
        (("-setmanual", "Ethernet", "192.168.77", "255.255.255.0"), 4, NOT_VALID),
        (("-setmanual", "Ethernet", "192.168.77.1"), 4, NOT_VALID),
        (("-setmanual",), 4, NOT_VALID),
        # as zsh hands it on, which takes # for a word where a person types
        (("-setmanual", "Ethernet", "192.168.77.1", "255.255.255.0", "#", "then"), 4, NOT_VALID),
        (("-setdhcp", "Ethernet"), 0, ""),
        (("-setdhcp", "en0"), 4, NOT_A_SERVICE),
        (("-getinfo", "en0"), 4, NOT_A_SERVICE),
    ],
)
def test_an_address_is_set_for_a_service(mac: Run, words: tuple[str, ...], code: int, message: str) -> None:
    asked: list[dict[str, Any]] = []
    answers = {name: lambda **arguments: asked.append(arguments) for name in ("set_manual", "set_dhcp")}
    assert mac("15.5", "networksetup", *words, answers=answers) == (code, message, "")
    address = {"ip": 0xC0A84D01, "mask": 0xFFFFFF00} if words[0] != "-setdhcp" else {}
    assert asked == ([{"name": "en0", **address}] if code == 0 else [])


def test_only_root_sets_an_address(mac: Run) -> None:
    refuse = refusing(1, "Operation not permitted")
    words = ("-setmanual", "Ethernet", "192.168.77.1", "255.255.255.0")
    refusal = (14, "** Error: Command requires admin privileges.\n", "")
    assert mac("15.5", "networksetup", *words, answers={"set_manual": refuse}) == refusal
    assert mac("15.5", "networksetup", "-setdhcp", "Ethernet", answers={"set_dhcp": refuse}) == refusal


def test_a_ping_longer_than_its_socket_fails_like_one_longer_than_the_mtu(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(echo, "call", lambda _, name: "8192")
    monkeypatch.setattr(socket, "gethostbyname", lambda name: "1.2.3.4")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # one of ICMP takes rights that this test need not have
    monkeypatch.setattr(socket, "socket", lambda *_: udp)
    assert ping.main(["-D", "-s", "8972", "-c", "1", "-W", "10", "1.2.3.4"]) == 2
    printed = capfd.readouterr()
    assert sorted((printed.out + printed.err).splitlines()) == sorted(capture("ping-too-long.txt").splitlines())


@pytest.mark.parametrize(
    ("target", "name"), [("127.0.0.1", "loopback"), ("192.168.64.1", "on-link"), ("192.168.64.3", "self")]
)
def test_route_says_what_a_mac_said(mac: Run, monkeypatch: pytest.MonkeyPatch, target: str, name: str) -> None:
    show_card(monkeypatch, route, address=interfaces.Address(0xC0A84003, 0xFFFFFF00))
    code, printed, _ = mac("26", "route", "-n", "get", target)

    def without_expiry(text: str) -> str:
        return re.sub(r" +-?\d+ $", "", text.replace(",ROUTER", ""), flags=re.MULTILINE).rstrip()

    assert code == 0
    assert without_expiry(printed) == without_expiry(capture(f"route-{name}-26.6.2.txt"))


def test_route_names_no_interface_where_there_is_no_route(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, route)
    refusal = (0, "", "route: writing to routing socket: not in table\n")
    assert mac("10.6", "route", "-n", "get", "203.0.113.7") == refusal


@pytest.mark.parametrize(
    ("target", "interface"),
    [("fd00:77::2", "en0"), ("FE80::2%en0", "en0"), ("fd00:77::1", "lo0"), ("::1", "lo0"), ("fe80::2", ""),
     ("fd00:78::2", ""), ("fe80::2%en9", "")],
)  # fmt: skip
def test_route_finds_an_address_of_ipv6(mac: Run, monkeypatch: pytest.MonkeyPatch, target: str, interface: str) -> None:
    show_card(monkeypatch, route, ipv6=[interfaces.Address6("fd00:77::1", 64)])
    code, printed, error = mac("15.5", "route", "-n", "get", "-inet6", target)
    assert re.findall("interface: (.*)", printed) == [interface][: 1 - code]
    assert (code, error) == ((0, "") if interface else (1, "route: writing to routing socket: not in table\n"))
    if interface:
        assert printed.startswith(f"   route to: {target.replace('FE80', 'fe80')}\ndestination: ")


def test_route_takes_only_literals_of_the_family_that_is_asked_for(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, route)
    assert mac("15.5", "route", "-n", "get", "fd00:77::2")[::2] == (68, "route: bad address: fd00:77::2\n")
    refused = "10.0.0.1: nodename nor servname provided, or not known\n"
    assert mac("15.5", "route", "-n", "get", "-inet6", "10.0.0.1")[::2] == (1, refused)
