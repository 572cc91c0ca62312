"""What programs of an emulated Mac print, against what real ones printed; their kernel is a table of answers here."""

from __future__ import annotations

import importlib
import plistlib
import pwd
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.paths import MACOS_CAPTURES
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.emulated_mac import faults, interfaces, options, processes, profiles
from lab.emulated_mac.calls import sysctls
from lab.emulated_mac.commands import PLACES, diskutil, hdiutil, ifconfig, mount, netstat, ping, place, route
from lab.report import prose
from lab.results import run_folder
from lab.results import trial as records

Run = Callable[..., tuple[int, str, str]]


def capture(name: str) -> str:
    return (MACOS_CAPTURES / name).read_text()


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a program of a Mac of some version, whose kernel has these answers, or functions of their arguments."""

    def run(version: str, command: str, *words: str, answers: Mapping[str, Any] | None = None) -> tuple[int, str, str]:
        profile = profiles.find(version)
        assert profile is not None
        known = {"fault": False} | dict(answers or {})

        def call(name: str, /, **arguments: Any) -> Any:
            answer = known[name]
            return answer(**arguments) if callable(answer) else answer

        module = importlib.import_module(f"lab.emulated_mac.commands.{command}")
        monkeypatch.setattr(profiles, "chosen", lambda: profile)
        for place_of in (module, hdiutil, diskutil, mount):
            if hasattr(place_of, "call"):
                monkeypatch.setattr(place_of, "call", call)
        try:
            code = module.main(list(words))
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def link(monkeypatch: pytest.MonkeyPatch, *modules: Any, **changes: Any) -> None:
    """The card of the captured ifconfig, with changes, as what the commands see of the host."""
    card = SimpleNamespace(
        name="en0", index=15, mtu=1500, mac="d0:11:e5:96:31:35", is_up=True, is_active=True,
        address=interfaces.Address(0x0AFE6402, 0xFFFF0000), local_ipv6="fe80::1885:6e74:1e1e:e717", mbit_per_s=10000,
    )  # fmt: skip
    card.__dict__.update(changes)
    loopback = SimpleNamespace(name="lo0", index=1, mtu=16384, is_up=True, address=None)
    for module in modules:
        monkeypatch.setattr(module, "find", {"en0": card, "lo0": loopback}.get)
        if hasattr(module, "names"):
            monkeypatch.setattr(module, "names", lambda: ["lo0", "en0"])


def test_ifconfig_prints_what_a_mac_printed(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    link(monkeypatch, ifconfig)
    real = capture("ifconfig-10gbase-t.txt").replace(",flow-control", "")
    assert mac("15.5", "ifconfig", "en0") == (0, real, "")
    assert mac("15.5", "ifconfig", "en9") == (1, "", "ifconfig: interface en9 does not exist\n")
    assert mac("15.5", "ifconfig", "-z", "en0")[::2] == (1, "ifconfig: illegal option -- z\n" + ifconfig.USAGE + "\n")
    link(monkeypatch, ifconfig, is_active=False)
    assert "\tmedia: autoselect (none)\n\tstatus: inactive\n" in mac("15.5", "ifconfig", "en0")[1]


def test_ifconfig_only_warns_of_an_mtu_that_is_refused(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    link(monkeypatch, ifconfig)

    def refuse(name: str, value: int) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(ifconfig, "set_mtu", refuse)
    assert mac("26", "ifconfig", "en0", "mtu", "9001") == (0, "", "ifconfig: ioctl (set mtu): Invalid argument\n")
    assert mac("26", "ifconfig", "en0", "mtu") == (1, "", "ifconfig: 'mtu' requires argument\n")


def test_netstat_lines_up_as_on_a_mac(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the row of the loopback interface, whose address is empty, and the short names of 10.6."""
    counted = [27949362788, 21869567, 0, 0, 0, 0, 0, 0, 29723901148, 22461432, 0, 0, 0, 0]
    monkeypatch.setattr(netstat, "counters", lambda name: interfaces.Counters(counted))
    link(monkeypatch, netstat, index=14, mac="02:00:00:00:00:01", address=interfaces.Address(0x0A0AFB1B, 0xFFFFFF00))
    said = mac("15.5", "netstat", "-I", "en0", "-b")[1]
    assert said.splitlines()[0] == capture("netstat-en0.txt").splitlines()[0]
    assert [line.split() for line in said.splitlines()] == [
        line.split() for line in capture("netstat-en0.txt").splitlines()
    ]
    totals = [601295906, 1758927, 0, 0, 0, 0, 0, 0, 601295906, 1758927, 0, 0, 0, 0]
    monkeypatch.setattr(netstat, "counters", lambda name: interfaces.Counters(totals))
    old = mac("10.6", "netstat", "-I", "lo0", "-b")[1].splitlines()
    assert [line.split() for line in old] == [
        line.split() for line in capture("netstat-lo0-short-names.txt").splitlines()[:4]
    ]
    assert old[0] == capture("netstat-lo0-short-names.txt").splitlines()[0]


@pytest.mark.parametrize(
    ("version", "target", "file"),
    [
        ("26", "127.0.0.1", "route-loopback-26.6.2.txt"),
        ("26", "192.168.64.1", "route-on-link-26.6.2.txt"),
        ("26", "192.168.64.3", "route-self-26.6.2.txt"),
    ],
)
def test_route_says_what_a_mac_said(
    mac: Run, monkeypatch: pytest.MonkeyPatch, version: str, target: str, file: str
) -> None:
    link(monkeypatch, route, address=interfaces.Address(0xC0A84003, 0xFFFFFF00))
    code, said, _ = mac(version, "route", "-n", "get", target)

    def without_expiry(text: str) -> str:
        return re.sub(r" +-?\d+ $", "", text.replace(",ROUTER", ""), flags=re.MULTILINE).rstrip()

    assert code == 0
    assert without_expiry(said) == without_expiry(capture(file))


def test_route_names_no_interface_where_there_is_no_route(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    link(monkeypatch, route)
    code, said, error = mac("10.6", "route", "-n", "get", "203.0.113.7")
    assert (code, said, error) == (0, "", "route: writing to routing socket: not in table\n")


IMAGE = {"sectors": 4194304, "uid": 0, "pid": 73094, "devices": [{"device": "disk2", "hint": "", "mounted_at": ""}]}


def test_hdiutil_prints_the_property_list_of_a_mac(mac: Run) -> None:
    said = mac("10.13", "hdiutil", "info", "-plist", answers={"images": [IMAGE | {"uid": 501}]})[1]
    assert said == capture("hdiutil-info-10.13.plist")
    assert mac("10.13", "hdiutil", "info", "-plist", answers={"images": []})[1] == capture(
        "hdiutil-info-none-10.13.plist"
    )


def test_hdiutil_names_what_a_property_list_of_15_names(mac: Run) -> None:
    said = plistlib.loads(mac("15.5", "hdiutil", "info", "-plist", answers={"images": [IMAGE]})[1].encode())
    real = plistlib.loads(capture("hdiutil-info-15.plist").encode())
    assert said.keys() == real.keys()
    assert said["images"][0].keys() == real["images"][0].keys()


def test_hdiutil_lists_an_apfs_image_as_a_mac_did(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="danny"))
    monkeypatch.setattr(hdiutil, "framework", lambda: "15v683.160.3")
    devices = [
        {"device": "disk138", "hint": "", "mounted_at": ""},
        {"device": "disk139", "hint": "EF57347C-0000-11AA-AA11-00306543ECAC", "mounted_at": ""},
        {
            "device": "disk139s1",
            "hint": "41504653-0000-11AA-AA11-00306543ECAC",
            "mounted_at": "/Volumes/smoo-ram-502 1",
        },
    ]
    image = {"sectors": 16777216, "uid": 501, "pid": 91006, "devices": devices}
    said = mac("15.5", "hdiutil", "info", answers={"images": [image]})[1]
    assert said == capture("hdiutil-info-text-15.txt").replace("images          : 3", "images          : 1")
    assert "image-type      : 读/写" in mac("15.5", "hdiutil", "info", answers={"images": [image], "fault": True})[1]


def test_the_device_of_a_new_image_is_padded(mac: Run) -> None:
    said = mac("15.5", "hdiutil", "attach", "-nomount", "ram://8192", answers={"attach_ram": "disk4"})[1]
    assert said == "/dev/disk4          \t                               \t\n"
    assert mac("15.5", "hdiutil", "attach", "ram://8192")[2] == "hdiutil: attach failed - no mountable file systems\n"


def test_newfs_hfs_does_not_find_a_device_with_its_padding(mac: Run) -> None:
    def none(**_: Any) -> None:
        raise OSError(6, "No such device or address")

    device = "/dev/rdisk1          \t                               \t"
    code, _, error = mac("10.13", "newfs_hfs", "-v", "lab", device, answers={"make_hfs": none})
    assert code == 1
    assert error == f"newfs_hfs: cannot create filesystem on {device}: No such file or directory\n"


def test_diskutil_says_what_it_does_as_it_said_then(mac: Run) -> None:
    made = {"device": "disk2", "size_bytes": 1 << 30, "mounted_at": ""}
    answers = {"disk_info": made, "unmount_device": "", "make_hfs": made, "mount_in_volumes": "/Volumes/ramdisk"}
    words = ("diskutil", "eraseVolume", "HFS+", "ramdisk", "/dev/disk2")
    assert mac("10.13", *words, answers=answers) == (0, capture("diskutil-erase-10.12.txt"), "")
    assert "as a 1 GB HFS Plus volume\n" in mac("10.6", *words, answers=answers)[1]
    apfs = ("diskutil", "erasevolume", "APFS", "x", "disk2")
    assert mac("10.9", *apfs, answers=answers)[0] == 1


@pytest.mark.parametrize("line", capture("mount-lines.txt").splitlines())
def test_mount_prints_lines_as_macs_did(mac: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    source, target, kind, listed, user = re.fullmatch(
        r"(.+) on (/.*) \((\w+), (.*?)(?:, mounted by (\w+))?\)", line
    ).groups()  # type: ignore[union-attr]
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name=user))
    flags = sorted(listed.split(", "), reverse=True)
    row = {"source": source, "target": target, "type": kind, "flags": flags, "uid": 501 if user else 0}
    assert mac("15.5", "mount", answers={"mounts": [row]}) == (0, f"{line}\n", "")


@pytest.mark.parametrize(
    ("version", "code", "out", "error"),
    [
        ("10.6", 0, "{0}: 65536\n", "sysctl: {0}: Result too large\n"),
        ("10.9", 0, "{0}: 65536\n", "sysctl: {0}: Result too large\n"),
        ("10.13", 1, "{0}: 65536\n", "sysctl: {0}=99999999: Result too large\n"),
        ("26", 1, "{0}: 65536\n", "sysctl: {0}=99999999: Result too large\n"),
    ],
)
def test_sysctl_refuses_as_its_version_does(mac: Run, version: str, code: int, out: str, error: str) -> None:
    name = "net.inet.tcp.sendspace"

    def refuse(**_: Any) -> None:
        raise OSError(34, "Result too large")

    answers = {"sysctl_names": [name], "sysctl_read": "65536", "sysctl_writable": True, "sysctl_write": refuse}
    said = mac(version, "sysctl", "-w", f"{name}=99999999", answers=answers)
    assert said == (code, out.format(name), error.format(name))


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("10.9", (0, "hw.ncpu: 2\n", "net: class is not implemented\n")),
        ("10.13", (1, "", "sysctl: unknown oid 'net.nosuch'\n")),
        ("15.5", (1, "hw.ncpu: 2\n", "sysctl: unknown oid 'net.nosuch'\n")),
    ],
)
def test_sysctl_meets_an_unknown_name_as_its_version_does(
    mac: Run, version: str, expected: tuple[int, str, str]
) -> None:
    answers = {"sysctl_names": ["hw.ncpu"], "sysctl_read": "2"}
    assert mac(version, "sysctl", "net.nosuch", "hw.ncpu", answers=answers) == expected


def test_sysctl_writes_without_w_since_10_10(mac: Run) -> None:
    values = iter(["131072", "65536"])
    answers = {
        "sysctl_names": ["net.inet.tcp.recvspace"], "sysctl_writable": True, "sysctl_write": None,
        "sysctl_read": lambda name: next(values),
    }  # fmt: skip
    words = ("sysctl", "net.inet.tcp.recvspace=65536")
    assert mac("10.13", *words, answers=answers) == (0, "net.inet.tcp.recvspace: 131072 -> 65536\n", "")
    assert mac("10.6", *words, answers=answers)[::2] == (2, "sysctl: must specify -w to set variables\n")


def test_a_ping_longer_than_its_socket_fails_like_one_longer_than_the_mtu(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ping, "call", lambda _, name: "8192")
    monkeypatch.setattr(socket, "gethostbyname", lambda name: "1.2.3.4")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # one of ICMP takes rights that this test need not have
    monkeypatch.setattr(socket, "socket", lambda *_: udp)
    assert ping.main(["-D", "-s", "8972", "-c", "1", "-W", "10", "1.2.3.4"]) == 2
    said = capfd.readouterr()
    assert sorted((said.out + said.err).splitlines()) == sorted(capture("ping-too-long.txt").splitlines())


def test_vm_stat_has_the_rows_and_the_columns_of_a_mac(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"free": 4430, "active": 751091, "inactive": 749576, "wired": 207285}
    monkeypatch.setattr(processes, "memory_pages", lambda page: pages)
    events = dict.fromkeys(("pgfault", "pgpgin", "pgpgout", "pswpin", "pswpout"), 12817858289)
    monkeypatch.setattr(processes, "counts", lambda: events)
    said = mac("15.5", "vm_stat", answers={"sysctl_read": "16384"})[1].splitlines()
    real = capture("vm_stat-16k-pages.txt").splitlines()
    assert said[:4] == real[:4]
    assert {line for line in said if line.startswith(("Pages wired", '"'))} <= set(real)
    assert {re.sub(r"\d+", "", line).replace(" ", "") for line in real[1:]} <= {
        re.sub(r"\d+", "", line).replace(" ", "") for line in said
    }


def test_sw_vers_is_that_of_its_version(mac: Run) -> None:
    assert mac("10.6", "sw_vers")[1] == capture("sw_vers-10.6.8.txt")
    assert re.sub(r"\t[^\t\n]+\n", "\n", mac("26", "sw_vers")[1]) == re.sub(
        r"\t[^\t\n]+\n", "\n", capture("sw_vers-26.4.1.txt")
    )


def test_every_program_is_a_module_and_every_module_is_placed() -> None:
    folder = Path(options.__file__).parent / "commands"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert modules == {name.replace("-", "_") for name in PLACES}
    lacking = {name for name in PLACES if place(name, profiles.PROFILES["10.6.8"]) is None}
    assert {"caffeinate", "tmutil", "purge", "mount_apfs", "python3"} <= lacking


def test_faults_have_names_that_a_person_can_type() -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) and text for name, text in faults.FAULTS.items())


FACTS = {"platform": "macos", "cpu": "EMULATED on something", "hostname": "client"}


@pytest.mark.parametrize(
    ("instance", "facts", "is_emulated"),
    [
        ("default/1", FACTS, True),
        (None, FACTS, True),  # hosts that were copied into a hosts file by hand
        ("default/1", FACTS | {"cpu": "x"}, True),
        (None, FACTS | {"cpu": "Apple M1"}, False),
        ("default/1", FACTS | {"platform": "linux", "cpu": "x"}, False),
    ],
)
def test_a_run_of_an_emulated_mac_says_so(instance: str | None, facts: dict[str, str], is_emulated: bool) -> None:
    run = {"instance": instance, "hosts": {"client": facts, "server": {"platform": "linux"}}}
    assert bool(records.emulated(run)) == is_emulated


def test_no_figure_and_no_table_can_be_taken_for_those_of_a_mac(tmp_path: Path) -> None:
    hosts = {"client": FACTS, "server": FACTS}
    run = write_run(tmp_path, [trial()], title="my two Macs", instance="default/1", hosts=hosts)
    trials = run_folder.load(run.path)
    assert stats.provenance(trials)[0].startswith("emulated Mac, not a measurement of a Mac, local lab")
    assert prose.EMULATED_MAC in prose.warnings(trials.attrs["run"])


def test_options_end_at_the_first_word_that_is_none() -> None:
    found, rest = options.parse("x", ["-ab", "v", "-c", "w", "-a"], "ab:c", "usage")
    assert (found, rest) == ([("a", ""), ("b", "v"), ("c", "")], ["w", "-a"])


def test_sysctl_knows_no_doautosndbuf_since_11() -> None:
    known = {version: sysctls._network(profiles.PROFILES[version]) for version in profiles.PROFILES}
    has = {version for version, names in known.items() if "net.inet.tcp.doautosndbuf" in names}
    assert has == {"10.9.5", "10.13.6", "10.15.7"}
    assert {version for version, names in known.items() if "net.inet.tcp.sockthreshold" in names} == {"10.6.8"}
