from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.emulated_mac import capture
from support.fake_host import EmulatedHost, FakeHost

from lab.base.errors import LabFailure
from lab.hosts.command import script
from lab.platforms.facts import parse_facts
from lab.platforms.macos import parsers as output
from lab.platforms.macos import platform
from lab.platforms.macos.platform import MacOS


def test_a_fake_host_refuses_what_it_was_not_told() -> None:
    host = FakeHost("server")
    host.on(("sw_vers",), "x")
    with pytest.raises(AssertionError, match=r"(?s)server: no answer scripted for\n +# rm -rf /.*\$ sw_vers"):
        host.run("rm", "-rf", "/", root=True)
    assert host.run("sw_vers").stdout == "x"
    with pytest.raises(AssertionError, match="nothing"):
        host.run("sw_vers")


def test_sw_vers_and_vm_stat() -> None:
    assert output.parse_sw_vers(capture("sw_vers-10.6.8.txt")) == "Mac OS X 10.6.8 (10K549)"
    assert output.parse_sw_vers(capture("sw_vers-26.4.1.txt")) == "macOS 26.4.1 (25E253)"
    # with a rapid security response
    text = "ProductName:\t\tmacOS\nProductVersion:\t\t13.4.1\nProductVersionExtra:\t(a)\nBuildVersion:\t\t22F770820d\n"
    assert output.parse_sw_vers(text) == "macOS 13.4.1 (a) (22F770820d)"
    assert output.parse_memory(capture("vm_stat-16k-pages.txt")).available_bytes == (4430 + 749576 + 615) * 16384
    assert output.parse_memory(capture("vm_stat-16k-pages.txt")).swapped_bytes is None
    new = capture("vm_stat-16k-pages.txt") + "Pageouts:      4965.\nSwapins:      0.\nSwapouts:      7.\n"
    assert output.parse_memory(new).swapped_bytes == 7 * 16384
    old = "(page size of 4096 bytes)\nPages free: 10.\nPages active: 9.\nPages inactive: 20.\n"
    old += "Pages speculative: 30.\nPageouts: 5.\n"
    assert output.parse_memory(old) == output.Memory(60 * 4096, 5 * 4096)


def test_route_ifconfig_and_networksetup() -> None:
    routes = {"gateway": "en0", "on-link-26.6.2": "en0", "self-26.6.2": "en0", "loopback-26.6.2": "lo0"}
    assert {name: output.parse_route(capture(f"route-{name}.txt")) for name in routes} == routes
    addresses = ("fe80::1885:6e74:1e1e:e717", "10.254.100.2")
    plain = output.Link(1500, addresses, 10**10, "full", None, None)
    assert output.parse_ifconfig(capture("ifconfig-10gbase-t.txt")) == plain
    link = output.parse_ifconfig(capture("ifconfig-v-1000baset.txt"))
    assert (link.bits_per_s, link.kind, link.max_mtu) == (10**9, "Ethernet", None)
    assert output.parse_ifconfig("en0: flags=8863<UP> mtu 1500\n\tmax mtu: 9000\n").max_mtu == 9000
    tunnel = output.parse_ifconfig(capture("ifconfig-utun-26.6.2.txt"))
    assert (tunnel.mtu, tunnel.addresses[1], tunnel.bits_per_s) == (1000, "10.255.0.1", None)
    assert output.parse_mtu_range("Valid MTU Range: 1280-1500\n") == (1280, 1500)
    unknown = "en9 is not a recognized hardware port.\n** Error: The parameters were not valid.\n"
    assert output.parse_mtu_range(unknown) == (None, None)


def test_the_speed_of_a_link_is_that_of_its_medium_or_where_that_has_no_name_its_rate() -> None:
    for media, bits_per_s in {
        "autoselect (2500Base-T <full-duplex>)": 2_500_000_000,
        "autoselect (2.5Gbase-T <full-duplex>)": 2_500_000_000,
        "1000baseT <full-duplex> (100baseTX <full-duplex>)": 100_000_000,  # chosen, and in use
        "100baseTX <full-duplex>": 100_000_000,
        "1000baseT (none)": None,
        "autoselect": None,
    }.items():
        assert output.parse_ifconfig(f"en0: flags=8863<UP> mtu 1500\n\tmedia: {media}\n").bits_per_s == bits_per_s
    for rate, status, bits_per_s in (
        ("link rate: 40.00 Gbps", "active", 40 * 10**9),  # IP over Thunderbolt
        ("uplink rate: 866.70 Mbps [eff] / 1.20 Gbps", "active", 1_200_000_000),
        ("link rate: 100.00 Kbps", "active", 100_000),
        ("link rate: 10.00 Gbps", "inactive", None),
        ("link rate: 4.29 Gbps", "active", None),
        ("downlink rate: 1.00 Gbps", "active", None),
    ):
        text = f"en0: flags=8863<UP> mtu 1500\n\tmedia: autoselect\n\tstatus: {status}\n\ttype: Wi-Fi\n\t{rate}\n"
        link = output.parse_ifconfig(text)
        assert (link.bits_per_s, link.kind) == (bits_per_s, "Wi-Fi")


def test_hdiutil_info() -> None:
    (image,) = output.parse_images(capture("hdiutil-info-10.13.plist"))
    assert image == output.Image("ram://4194304", 501, 4194304, ("/dev/disk2",), ())
    bare = "<dict><key>image-path</key><string>/x.asif</string></dict>"
    head = "<key>images</key>\n\t<array>"
    several = capture("hdiutil-info-10.13.plist").replace(head, head + bare)
    assert output.parse_images(several) == [output.Image("/x.asif", None, None, (), ()), image]
    assert output.parse_images(capture("hdiutil-info-none-10.13.plist")) == []
    other, cartridge, sparse = output.parse_images(capture("hdiutil-info-15.plist"))
    assert (other.devices, other.mounted_at) == (("/dev/disk4", "/dev/disk4s1"), ("/Volumes/dmg.mrluVn",))
    assert (cartridge.mounted_at, len(sparse.devices), sparse.mounted_at) == (("/Volumes/bladerunner-demo",), 5, ())


@given(st.text())
def test_what_cannot_be_read_is_a_value_error(text: str) -> None:
    parsers: list[Callable[[str], object]] = [parse_facts, output.parse_sw_vers, output.parse_route]
    parsers += [output.parse_ifconfig, output.parse_memory, output.parse_images, output.parse_hardware]
    for parser in parsers:
        with pytest.raises(ValueError, match=r"\S"):
            parser(text)


@given(st.integers(1, 2**40), st.text(), st.sets(st.integers(1, 2**31)))
def test_an_image_has_room_and_a_length_of_its_own(size_bytes: int, place: str, lengths: set[int]) -> None:
    taken = {f"ram://{sectors}" for sectors in lengths}
    sectors = output.image_sectors(size_bytes, place, taken)
    assert f"ram://{sectors}" not in taken
    again = output.image_sectors(size_bytes, place, taken | {f"ram://{sectors}"})
    assert again == sectors + 8 or f"ram://{sectors + 8}" in taken
    assert size_bytes <= sectors * 512 <= size_bytes + (1024 + 1 + len(taken)) * 4096


def test_the_script_for_facts(tmp_path: Path) -> None:
    programs = {"hostname": "echo mini", "uname": "echo 25.4.0", "ssh": "echo usage >&2; exit 255"}
    programs["rsync"] = "echo; echo openrsync: protocol version 29; echo more"
    host = EmulatedHost(tmp_path, programs, ("sh", "id", "sed"))
    values, tools = parse_facts(host.shell(platform.FACTS, *platform.NAMED_TOOLS).stdout)
    assert (values["hostname"], values["kernel"], values["home"]) == ("mini", "25.4.0", "/Users/lab")
    assert tools == {"rsync": "openrsync: protocol version 29", "ssh": ""}


HARDWARE = "hw.memsize: 17179869184\nhw.ncpu: 8\nmachdep.cpu.brand_string: Apple M1\n"
ABOUT = """\
hw.model: Mac16,11
hw.physicalcpu: 10
hw.perflevel0.physicalcpu: 4
Now drawing from 'AC Power'
System-wide power settings:
Currently in use:
 standby              0
 Sleep On Power Button 1
 powermode            0
 sleep                1 (sleep prevented by powerd)
 disksleep            10
Backup session status:
{
    ClientID = "com.apple.backupd";
    Running = 0;
}
/:
	Indexing enabled. 
"""  # noqa: W291


def test_what_is_good_to_know_beside_figures() -> None:
    assert output.parse_about(ABOUT) == {
        "model": "Mac16,11", "physical_cores": "10", "performance_cores": "4", "power": "AC Power", "powermode": "0",
        "sleep_minutes": "1", "time_machine_running": "0", "spotlight": "enabled",
    }  # fmt: skip
    old = "hw.model: Macmini1,1\n Currently drawing from 'AC Power'\n\tIndexing and searching disabled.\n"
    assert output.parse_about(old) == {"model": "Macmini1,1", "power": "AC Power", "spotlight": "disabled"}


def mac(peer: str, route: str) -> MacOS:
    """A Mac that has a route to a peer."""
    host = FakeHost()
    identity = "hostname mini\nkernel 25.4.0\nuser lab\nuid 501\nhome /Users/lab\ntool rsync openrsync: 29\nend\n"
    host.on(script(platform.FACTS, *platform.NAMED_TOOLS), identity)
    host.on(("sysctl", *output.HARDWARE), HARDWARE)
    host.on(("route", "-n", "get", peer), capture(f"route-{route}.txt"))
    host.on(("ifconfig", "-v", "lo0"), "lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384\n")
    host.on(("ifconfig", "-v", "en0"), capture("ifconfig-10gbase-t.txt") + "\tmax mtu: 9000\n")
    host.on(("networksetup", "-listvalidMTUrange", "en0"), "Valid MTU Range: 1280-9000\n")
    host.on(("sysctl", platform.MAX_BUFFER), "kern.ipc.maxsockbuf: 8388608\n")
    host.on(script(platform.ABOUT, *output.ABOUT_HARDWARE), ABOUT)
    host.on(("sw_vers",), capture("sw_vers-26.4.1.txt"))
    host.on(("vm_stat",), capture("vm_stat-16k-pages.txt"))
    return MacOS(host)


def test_facts() -> None:
    facts = mac("203.0.113.7", "gateway").facts("203.0.113.7")
    assert (facts.os, facts.kernel, facts.cpu, facts.cores) == ("macOS 26.4.1 (25E253)", "Darwin 25.4.0", "Apple M1", 8)
    assert (facts.interface, facts.mtu, facts.mtu_max, facts.link_bits_per_s) == ("en0", 1500, 9000, 10**10)
    assert (facts.mtu_min, facts.tcp_space_max, facts.about["model"]) == (1280, 8388608, "Mac16,11")
    assert (facts.is_root, facts.home, facts.tools) == (False, "/Users/lab", {"rsync": "openrsync: 29"})


@pytest.mark.parametrize(("peer", "route"), [("10.254.100.2", "self-26.6.2"), ("127.0.0.1", "loopback-26.6.2")])
def test_the_peer_is_not_the_host_itself(peer: str, route: str) -> None:
    with pytest.raises(LabFailure, match=f"client: {peer} is an address of this host itself"):
        mac(peer, route).facts(peer)


def test_unreadable_output_is_an_error_with_host_and_command() -> None:
    host = FakeHost("server")
    identity = "hostname mini\nkernel 1\nuser lab\nuid 501\nhome /Users/lab\nend\n"
    host.on(script(platform.FACTS, *platform.NAMED_TOOLS), identity)
    host.on(("sysctl", *output.HARDWARE), HARDWARE)
    host.on(("route", "-n", "get", "203.0.113.7"), stderr="route: writing to routing socket: not in table")
    with pytest.raises(LabFailure, match=r"server: route -n get 203\.0\.113\.7: no interface; .*\n.*not in table"):
        MacOS(host).facts("203.0.113.7")
