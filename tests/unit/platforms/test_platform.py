"""Which platform a host has, that every one is whole, and what those that know little say."""

import socket
from pathlib import Path
from typing import Any

import pytest
from support.fake_host import EmulatedHost, FakeHost
from support.paths import LINUX_CAPTURES

from lab import platforms
from lab.base.errors import LabFailure, Unsupported
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Facts, Platform
from lab.platforms.clock import Clock
from lab.platforms.files import Programs
from lab.platforms.linux.platform import FACTS, Linux, parse_link, parse_linux_facts, parse_route
from lab.platforms.linux.ram_disk import FORMAT
from lab.platforms.macos.files import MacPrograms
from lab.platforms.macos.platform import MacOS
from lab.platforms.preflight import Preflight
from lab.platforms.settings import SystemSettings
from lab.run.transfer.proof import not_in_effect
from lab.settings.tcp_reach import SYSTEM

REAL = ("sh", "perl", "sed", "head", "id", "grep", "cat", "ls", "stat", "hostname", "uname")
# inet.c of network_cmds
NETSTAT = """\
Active Internet connections (including servers)
Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)
tcp4       0      0  10.99.0.2.22022        *.*                    LISTEN
tcp4       0      0  10.99.0.2.49152        10.99.0.1.88           ESTABLISHED
tcp46      0      0  *.445                  *.*                    LISTEN
tcp6       0      0  fe80::1%lo0.548        *.*                    LISTEN
udp4       0      0  *.88                   *.*
"""
on_linux = pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="reads what Linux says of itself")


@pytest.mark.parametrize(("uname", "platform"), [("Linux", Linux), ("Darwin", MacOS)])
def test_a_platform_is_detected_by_uname_not_guessed_and_explains_its_host(
    uname: str, platform: type[Platform]
) -> None:
    host = FakeHost()
    host.on(("uname", "-s"), f"{uname}\n")
    detected = platforms.detect(host)
    assert isinstance(detected, platform)
    refusal = "cp: /Volumes/x: Operation not permitted\n"
    assert host.explain(refusal) == detected.explain(refusal)
    host = FakeHost("server")
    host.on(("uname", "-s"), "SunOS\n")
    with pytest.raises(Unsupported, match=r"server: uname says 'SunOS'; the lab knows .*linux.* and does not guess"):
        platforms.detect(host)


@pytest.mark.parametrize(
    ("installed", "name"),
    [(("iperf3", "iperf3-darwin"), "iperf3"), (("iperf3-darwin",), "iperf3-darwin"), ((), "iperf3")],
)
def test_a_mac_has_iperf3_by_one_of_two_names(tmp_path: Path, installed: tuple[str, ...], name: str) -> None:
    host = EmulatedHost(tmp_path, {program: f"echo {program} 3.17" for program in installed}, REAL)
    programs = MacPrograms(host)
    assert programs.call("iperf3") == (name,)
    assert programs.missing(["sh", "iperf3", "nosuch"]) == [*([] if installed else ["iperf3"]), "nosuch"]
    assert Programs(host).missing(["sh", "iperf3", "no"]) == [*([] if "iperf3" in installed else ["iperf3"]), "no"]


def test_what_a_platform_cannot_tell_it_does_not_tell_and_what_must_be_written_it_cannot_lack() -> None:
    host: Any = FakeHost()
    facts: Any = type("Known", (), {"platform": "freebsd"})()
    assert Preflight(host).disturbances("/srv") == {}
    assert Preflight(host).tcp_reach(facts, {(1, 0): SYSTEM}).reaches is None
    assert Programs(host).call("cp") == ("cp",)
    assert Programs(host).how_to_install("iperf3") == "install what Debian calls iperf3 there"
    for part in (type("Half", (Clock,), {"counts": ""}), type("Bare", (SystemSettings,), {})):
        with pytest.raises(TypeError, match="abstract"):
            part(FakeHost())


def test_a_port_answers_or_does_not(tmp_path: Path) -> None:
    network = Linux(EmulatedHost(tmp_path, {}, ("sh", "perl"))).network
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert network.answers("127.0.0.1", port)
    assert not network.answers("127.0.0.1", port)


@on_linux
def test_linux_finds_a_port_that_is_listened_on_in_the_kernels_table(tmp_path: Path) -> None:
    host = EmulatedHost(tmp_path, {}, ("sh", "cat", "grep"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        test = Linux(host).network.listening(port)
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert host.shell(test, check=False).exit_code == 0
            connected = Linux(host).network.listening(client.getsockname()[1])
            assert host.shell(connected, check=False).exit_code == 1
    assert host.shell(test, check=False).exit_code == 1


@pytest.mark.parametrize(("port", "exit_code"), [(445, 0), (548, 0), (22022, 0), (44, 1), (5, 1), (49152, 1), (88, 1)])
def test_a_mac_finds_a_port_that_is_listened_on_in_netstat(tmp_path: Path, port: int, exit_code: int) -> None:
    """On any address, by IPv4 or IPv6; a port of a connection, of another host or with more digits is none."""
    netstat = "cat <<'END'\n" + NETSTAT + "END\n"
    host = EmulatedHost(tmp_path, {"netstat": netstat}, ("sh", "cat", "grep"))
    assert host.shell(MacOS(host).network.listening(port), check=False).exit_code == exit_code


@on_linux
def test_a_linux_host_says_what_it_is(tmp_path: Path) -> None:
    routes = """
        case "$*" in
        "-o route get 192.0.2.2") echo '192.0.2.2 dev lo src 192.0.2.1 uid 0' ;;
        "-o -d link show dev lo") echo '1: lo: <LOOPBACK,UP> mtu 65536 minmtu 0 maxmtu 0' ;;
        esac
    """
    programs = {"ip": routes, "rsync": "echo; echo rsync 3.2.7; echo more"}
    facts: Facts = Linux(EmulatedHost(tmp_path, programs, REAL)).facts("192.0.2.2")
    assert (facts.platform, facts.interface, facts.mtu, facts.mtu_max) == ("linux", "lo", 65536, None)
    assert facts.cores >= 1
    assert 0 < facts.available_bytes <= facts.memory_bytes
    assert (facts.tools["rsync"], "perl" in facts.tools) == ("rsync 3.2.7", True)


def test_the_facts_of_an_old_kernel_need_neither_awk_nor_its_count_of_free_memory(tmp_path: Path) -> None:
    """Before 3.14 it has no MemAvailable."""
    meminfo, stat = tmp_path / "meminfo", tmp_path / "stat"
    meminfo.write_text("MemTotal:  2000 kB\nMemFree:  300 kB\nBuffers:  20 kB\nCached:  1 kB\nSwapCached:  9 kB\n")
    stat.write_text("cpu  1 2\ncpu0 1 2\ncpu1 1 2\n")
    facts = FACTS.replace("/proc/meminfo", str(meminfo)).replace("/proc/stat", str(stat))
    host = EmulatedHost(tmp_path, {}, [name for name in REAL if name not in ("perl", "stat", "hostname")])
    values, tools = parse_linux_facts(host.shell(facts, "perl").stdout)
    assert (values["memory_kib"], values["available_kib"], values["cores"], tools) == ("2000", "321", "2", {})


@on_linux
def test_a_linux_host_is_asked_for_its_noises(tmp_path: Path) -> None:
    """What they are differs by machine; each look can be read."""
    host = EmulatedHost(tmp_path, {"systemctl": "echo masked"}, REAL)
    for name, look in Linux(host).preflight.disturbances(None).items():
        assert isinstance(list(look()), list), name


@on_linux
def test_a_link_is_waited_for_until_it_is_active(tmp_path: Path) -> None:
    """The second look is the first that says so."""
    ifconfig = 'n=$(cat looks); echo $((n + 1)) > looks; [ "$n" -ge 1 ] || echo "	status: inactive"'
    host = EmulatedHost(tmp_path, {"ifconfig": ifconfig, "sleep": ""}, ("sh", "grep", "cat"))
    (tmp_path / "looks").write_text("0\n")
    MacOS(host).settings.mtu("en0", 9000).apply[1].run(host)
    assert host.calls("ifconfig") == ["ifconfig en0"] * 2


@pytest.mark.parametrize(
    ("ram0", "complaint"),
    [
        ({"size": "4096"}, "another size"),
        ({"stat": "regular file:0:0"}, "no device of brd"),
        ({"wipefs": "DEVICE OFFSET TYPE"}, "something is on it"),
    ],
)
def test_a_block_device_that_is_not_ours_is_not_formatted(tmp_path: Path, ram0: dict[str, str], complaint: str) -> None:
    state = {"size": "2048", "stat": "block special file:1:0", "wipefs": ""} | ram0
    programs = {"cat": f"echo {state['size']}", "stat": f'echo "{state["stat"]}"', "ls": "", "mkfs.ext4": ""}
    programs["wipefs"] = f'printf "%s" "{state["wipefs"]}"'
    host = EmulatedHost(tmp_path, programs, ("sh",))
    device = FORMAT.replace("/sys/block/ram*", f"{tmp_path}/ram*").replace("/sys/block/ram0 ]", f"{tmp_path}/ram0 ]")
    (tmp_path / "ram0").mkdir()
    result = host.shell(device, "1024", check=False)
    assert (result.exit_code, host.calls("mkfs.ext4")) == (1, [])
    assert complaint in result.stderr
    assert "left alone" in result.stderr


def capture(name: str) -> str:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8")


def test_facts_are_values_and_tools() -> None:
    values, tools = parse_linux_facts(capture("facts.txt"))
    assert values["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert values["cpu"] == "Intel(R) Xeon(R) Processor"
    assert (values["cores"], values["uid"], values["home"]) == ("2", "0", "/root")
    assert (int(values["memory_kib"]), int(values["available_kib"])) == (24684084, 24115256)
    assert tools == {"perl": "", "rsync": "rsync  version 3.2.7  protocol version 31", "ssh": ""}


def test_congestion_control_is_a_fact_if_a_kernel_may_call_it_so() -> None:
    facts = capture("facts.txt").replace("cores 2", "congestion {}\ncores 2").format
    for name in ("bbr", "", "dctcp_2"):
        assert parse_linux_facts(facts(name))[0]["congestion"] == name
    for odd in ("two words", "<b>", "x" * 16):
        with pytest.raises(ValueError, match="not of the form"):
            parse_linux_facts(facts(odd))


ROUTES = """\
Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth1	0002A8C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
eth2	0002A8C0	00000000	0001	0	0	9	00FFFFFF	0	0	0
eth3	0302A8C0	00000000	0000	0	0	0	FFFFFFFF	0	0	0
fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0
fd000000000000000000000000000002 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000003 00000000 80200001       lo
fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth1
"""  # noqa: E501 – as kernel 6.18 writes them


@pytest.mark.parametrize(
    ("text", "peer", "interface"),
    [("192.0.2.1 dev eth0 src 192.0.2.2 uid 0 \\    cache \n", "192.0.2.1", "eth0"),  # iproute2 6.1
     ("192.0.2.1 via 10.0.0.1 dev eth0  src 10.0.0.2 \\    cache \n", "192.0.2.1", "eth0"),  # of 2016, as on DSM 6
     ("192.0.2.1 dev eth0  src 192.0.2.2 \n", "192.0.2.1", "eth0"),  # BusyBox 1.35
     ("fd00::1 from :: dev eth0  src fd00::2  metric 256 \n", "fd00::1", "eth0"),
     ("local 192.0.2.2 dev lo src 192.0.2.2 uid 0 \\    cache <local> \n", "192.0.2.2", ""),
     (ROUTES, "192.168.2.3", "eth1"), (ROUTES, "8.8.8.8", "eth0"), (ROUTES, "fd00::3", "eth1"),
     (ROUTES, "2001:db8::1", "eth0"), (ROUTES, "fe80::1%eth1", "eth1")],
)  # fmt: skip
def test_a_route_names_the_interface_and_none_to_the_host_itself(text: str, peer: str, interface: str) -> None:
    assert parse_route(text, peer) == interface


def test_a_link_has_an_mtu_and_its_limits_if_its_ip_tells_them(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no route"):
        parse_route(ROUTES.partition("eth0")[0], "192.0.2.1")
    for refused in ("unreachable", "prohibit", "blackhole"):  # iproute2 of 2016 says so and exits with 0
        with pytest.raises(ValueError, match="no route"):
            parse_route(f"{refused} fd00::1 from :: dev lo  table unspec  metric 4294967295  error -101\n", "fd00::1")
    host = EmulatedHost(tmp_path, {"ip": "echo '192.0.2.1 dev wg-münchen src 192.0.2.2'"}, ("sh",))
    with pytest.raises(LabFailure, match="has a name that the lab cannot write into commands"):
        Linux(host)._interface_to("192.0.2.1")
    with pytest.raises(ValueError, match="not the name of an interface"):
        parse_route(
            f"{ROUTES}*	0102A8C0	00000000	0201	0	0	0	FFFFFFFF	0	0	0\n", "192.168.2.1"
        )
    new = "4: eth0: <UP> mtu 1400 qdisc fq promiscuity 0  allmulti 0 minmtu 68 maxmtu 65535 addrgenmode eui64"
    assert parse_link(f"1400\n{new}\n") == (1400, 68, 65535)
    assert parse_link("65536\n1: lo: <UP> mtu 65536 minmtu 0 maxmtu 0 \n") == (65536, 0, 0)
    assert parse_link("1500\n") == (1500, None, None)


AUTOTUNED = {"tcp_rmem": "4096\t131072\t6291456", "tcp_wmem": "4096\t16384\t4194304"}


@pytest.mark.parametrize("state", [{}, AUTOTUNED | {"tcp_wmem": "4096\t16384"}, AUTOTUNED | {"tcp_rmem": "1\t2\tx"}])
def test_buffers_that_cannot_be_read_are_an_error_of_their_host(state: dict[str, str]) -> None:
    case = Case("smb", "cp", Direction.WRITE, 1500, 65536, "ram", "file", 1000)
    linux = Linux(FakeHost("client"))
    assert linux.settings.tcp_buffers_in(AUTOTUNED) == (6291456, 4194304)  # the largest bound a connection
    with pytest.raises(LabFailure, match="client: the TCP buffers cannot be read from"):
        not_in_effect(case, {Role.CLIENT: state | {"mtu": "1500"}}, {Role.CLIENT: linux.settings.tcp_buffers_in})
