"""What platforms read for the check. The texts here are written by hand, in the form that public samples show."""

from __future__ import annotations

from ipaddress import IPv4Interface

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.emulated_mac import capture

from lab.platforms.findings import Noise, skew
from lab.platforms.linux import noise as linux_noise
from lab.platforms.linux import programs
from lab.platforms.linux.parsers import parse_addresses, parse_networks
from lab.platforms.macos import noise as macos_noise
from lab.platforms.macos.parsers import parse_addresses as parse_mac_addresses
from lab.platforms.macos.parsers import parse_networks as parse_mac_networks
from lab.platforms.macos.parsers import parse_ports
from lab.platforms.macos.tcp import largest

# --- clocks


def test_a_clock_with_a_fraction_is_known_to_the_time_of_the_question() -> None:
    found = skew(100.0, "103.500\n", 101.0)
    assert (found.ahead_s, found.within_s, found.least_s) == (3.0, 0.5, 2.5)
    behind = skew(100.0, "90.0", 100.0)
    assert (behind.ahead_s, behind.least_s) == (-10.0, 10.0)


@given(st.floats(1, 2e9), st.floats(-1e6, 1e6), st.floats(0, 30), st.floats(0, 1), st.booleans())
def test_the_true_skew_is_always_within_what_is_said(
    now: float, ahead: float, trip: float, when: float, fraction: bool
) -> None:
    there = max(now + when * trip + ahead, 0.0)
    found = skew(now, f"{there:.6f}" if fraction else f"{int(there)}", now + trip)
    true = there - (now + when * trip)
    assert abs(found.ahead_s - true) <= found.within_s + 1e-3


@pytest.mark.parametrize("said", ["", "N", "12:30", "-5", "1.5e9"])
def test_what_is_no_time_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="no number of seconds"):
        skew(0.0, said, 1.0)


# --- Mac: the firewall


@pytest.mark.parametrize(
    ("state", "block_all", "stealth", "expected"),
    [
        (0, "Firewall has block all state set to disabled.", "Firewall stealth mode is on", []),
        (1, "Block all DISABLED! ", "Stealth mode disabled", ["is on"]),
        (1, "Firewall has block all state set to disabled.", "Firewall stealth mode is off", ["is on"]),
        (1, "Firewall has block all state set to disabled.", "Firewall stealth mode is on", ["is on", "no ping"]),
        (1, "Firewall has block all state set to enabled.", "Stealth mode enabled", ["blocks all", "no ping"]),
        (1, "Firewall is set to block all non-essential incoming connections", "Stealth mode disabled", ["blocks all"]),
        (2, "Block all ENABLED!", "Stealth mode disabled", ["blocks all"]),
    ],
)
def test_what_the_firewall_of_a_mac_keeps_out(state: int, block_all: str, stealth: str, expected: list[str]) -> None:
    """The words are those of public outputs of several versions."""
    word = "enabled" if state else "disabled"
    text = f"globalstate Firewall is {word}. (State = {state})\nblockall {block_all}\nstealthmode {stealth}\n"
    noises = whats(macos_noise.parse_firewall(text))
    assert len(noises) == len(expected)
    assert all(part in what for part, what in zip(expected, noises, strict=True))


def test_a_firewall_that_says_nothing_is_none_or_cannot_be_read() -> None:
    assert macos_noise.parse_firewall("") == []
    with pytest.raises(ValueError, match="getglobalstate"):
        macos_noise.parse_firewall("globalstate dyld: symbol not found\n")


# --- Linux


def whats(noises: list[Noise]) -> list[str]:
    return [noise.what for noise in noises]


def test_powersave_is_slow_except_where_it_is_the_usual_governor() -> None:
    assert "lowest frequency" in whats(linux_noise.parse_power("governor acpi-cpufreq powersave\n"))[0]
    for usual in ("intel_pstate powersave", "amd-pstate-epp powersave", "acpi-cpufreq performance"):
        assert linux_noise.parse_power(f"governor {usual}\n") == []
    assert whats(linux_noise.parse_power("battery Discharging\n")) == ["it runs on its battery"]
    assert linux_noise.parse_power("battery Charging\nbattery Full\n") == []


@pytest.mark.parametrize(
    ("processes", "asleep"),
    [
        ("sshd\ngsd-power\nsleep.target static\n", ["GNOME may send it to sleep when nobody types"]),
        ("gsd-power\nsleep.target masked\n", []),
        ("gsd-power\nsystemd-inhibit\nsleep.target static\n", []),
        ("sshd\nsleep.target \n", []),
    ],
)
def test_a_desktop_sleeps_unless_it_is_kept_from_it(processes: str, asleep: list[str]) -> None:
    assert whats(linux_noise.parse_sleep(processes)) == asleep


def test_backups_run_and_indexers_wait() -> None:
    found = linux_noise.parse_processes("sshd\nrestic\ntracker-miner-f\nupdatedb.plocat\n")
    assert [(noise.what.split(" (")[0].split(",")[0], noise.urgent) for noise in found] == [
        ("restic is running", True),
        ("updatedb is running", True),
        ("GNOME's indexer", False),
    ]
    assert all(len(name) <= 15 for name in linux_noise.BACKUPS | linux_noise.INDEXERS | linux_noise.SLEEPERS)


MDSTAT = """\
Personalities : [raid1] [raid6] [raid5] [raid4]
md1 : active raid1 sdb2[1] sda2[0]
      136448 blocks [2/2] [UU]

md0 : active raid5 sda1[0] sdb1[1] sdc1[2]
      7813771264 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]
      [==>..................]  check = 12.6% (492820480/3906885632) finish=400.1min speed=142000K/sec
      bitmap: 0/30 pages [0KB], 65536KB chunk

unused devices: <none>
"""


def test_an_array_that_is_being_checked() -> None:
    (found,) = linux_noise.parse_mdstat(MDSTAT)
    assert found.what == "the RAID array md0 is at 12.6% of a check"
    assert "/sys/block/md0/md/sync_action" in found.remedy
    assert linux_noise.parse_mdstat("") == []
    assert linux_noise.parse_mdstat(MDSTAT.replace("check =", "PENDING =")) == []


def test_load_and_swap() -> None:
    assert linux_noise.parse_load("1.00 0.5 0.2 1/95 104\n2\n") == []
    assert whats(linux_noise.parse_load("1.01 0.5 0.2 1/95 104\n2\n")) == ["the load average is 1.01 on 2 cores"]
    with pytest.raises(ValueError, match="cannot be read"):
        linux_noise.parse_load("no\n")
    meminfo = "MemTotal:  24684084 kB\nSwapTotal:        2097148 kB\nSwapFree:         {} kB\n"
    assert linux_noise.parse_meminfo(meminfo.format(2097148)) == []
    assert "1024 MiB" in whats(linux_noise.parse_meminfo(meminfo.format(2097148 - 1024**2)))[0]
    assert linux_noise.parse_meminfo("MemTotal: 1 kB\n") == []


@pytest.mark.parametrize(
    ("managers", "package", "how"),
    [
        (["apt-get"], "openssh-client", "`apt-get install openssh-client` there"),
        (["dnf", "yum"], "openssh-client", "`dnf install openssh-clients` there"),
        (["dnf"], "iperf3", "`dnf install iperf3` there"),
        (["pacman"], "iperf3", "`pacman -S iperf3` there, or whatever Debian's iperf3 is called for pacman"),
        ([], "perl", "install what Debian calls perl there"),
    ],
)
def test_how_a_program_is_installed_on_linux(managers: list[str], package: str, how: str) -> None:
    assert programs.how_to_install(package, managers) == how


def test_addresses_of_linux() -> None:
    text = '[{},{"ifname":"eth0","addr_info":[{"local":"10.0.0.1"},{}]},{"ifname":"eth1"}]'
    assert parse_addresses(text) == {"eth0": ("10.0.0.1",), "eth1": ()}


def test_networks_of_linux() -> None:
    text = '[{},{"ifname":"eth0","addr_info":[{"local":"10.0.0.1","prefixlen":30}]},{"ifname":"eth1"}]'
    assert parse_networks(text) == {"eth0": (IPv4Interface("10.0.0.1/30"),), "eth1": ()}
    for bad in ("[7]", "{", '[{"ifname":"eth0","addr_info":[{"local":"10.0.0.1"}]}]', '[{"ifname":"a/b"}]'):
        with pytest.raises(ValueError, match=r"."):
            parse_networks(bad)


def test_networks_of_a_mac() -> None:
    found = parse_mac_networks(capture("ifconfig-utun-26.6.2.txt") + capture("ifconfig-10gbase-t.txt"))
    assert found["en0"] == (IPv4Interface("10.254.100.2/16"),)


# --- macOS


def test_low_power_mode() -> None:
    assert whats(macos_noise.parse_pmset(" sleep 0\n lowpowermode 1\n")) == ["Low Power Mode is on"]
    assert macos_noise.parse_pmset(" sleep 0\n powermode 2\n") == []


@pytest.mark.parametrize(
    "parse", [macos_noise.parse_pmset, macos_noise.parse_battery, macos_noise.parse_load, macos_noise.parse_swap]
)
def test_unreadable_output_of_a_mac_is_shown(parse: object) -> None:
    assert callable(parse)
    with pytest.raises(ValueError, match="Fehler"):
        parse("Fehler\n")


def test_services_of_recent_macs_are_known_by_their_programs() -> None:
    lines = ["  40.0 /System/Library/X/XProtectRemediatorAdload", "  30.0 /usr/libexec/spotlightknowledged",
             "  50.0 /opt/other", "   2.0 /System/Library/X/fileproviderd"]  # fmt: skip
    noises = macos_noise.parse_processes("\n".join(lines))
    assert [noise.what for noise in noises] == [
        "Spotlight is at work (30 % of a core)",
        "XProtect is at work (40 % of a core)",
    ]


def test_spotlight_by_volume() -> None:
    (noise,) = macos_noise.parse_mdutil("/Volumes/My Disk:\n\tIndexing enabled. \n", "/Volumes/My Disk/x")
    assert "`sudo mdutil -i off '/Volumes/My Disk'`" in noise.remedy
    for volume, switched in (("/System/Volumes/Data", "/"), ("/Volumes/a: b", "'/Volumes/a: b'")):
        (noise,) = macos_noise.parse_mdutil(f"{volume}:\n\tIndexing enabled. \n", "/x")
        assert f"`sudo mdutil -i off {switched}`" in noise.remedy
    for off in (
        "/:\n\tIndexing disabled.\n",
        "/:\n\tIndexing and searching disabled.\n",
        "/:\n\tNo index.\n",
        "Error, no index found for volume.\n",
        "/:\n\tServer search enabled.\n",
        "Error: invalid path `/x'.\n",
    ):
        assert macos_noise.parse_mdutil(off, "/x") == []
    with pytest.raises(ValueError, match="no state"):
        macos_noise.parse_mdutil("Error: unknown\n", "/x")


def test_before_tmutil_there_is_no_backup_to_see() -> None:
    assert macos_noise.parse_tmutil("") == []
    with pytest.raises(ValueError, match="Running"):
        macos_noise.parse_tmutil("tmutil: requires Full Disk Access\n")


def test_ports_and_addresses_of_a_mac() -> None:
    ports = parse_ports("\nHardware Port: Wi-Fi\nDevice: en0\nEthernet Address: c0\n\nVLAN Configurations\n=====\n")
    assert ports == {"en0": "Wi-Fi"}
    text = "lo0: flags=8049<UP> mtu 16384\n\tinet 127.0.0.1 netmask 0xff000000\nen0: flags=8863<UP> mtu 1500\n"
    assert parse_mac_addresses(text) == {"lo0": ("127.0.0.1",), "en0": ()}


def test_the_largest_buffer_by_version() -> None:
    """Seen on Macs with a limit of 8388608, 6291456 and 4194304; the room for bookkeeping is left out from 14 on."""
    assert [largest("macOS 13.7 (22H123)", limit) for limit in (8388608, 6291456, 4194304)] == [
        7454720,
        5591040,
        3727360,
    ]
    assert largest("macOS 14.0 (23A344)", 8388608) == 8388608
    assert largest("Mac OS X 10.6.8 (10K549)", 8388608) == 7454720
