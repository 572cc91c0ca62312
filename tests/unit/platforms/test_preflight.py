"""What would disturb a run, and how far clocks differ. The texts are written by hand after public samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import protocols
from lab.platforms.linux import preflight as linux_preflight
from lab.platforms.macos import preflight as macos
from lab.platforms.macos.preflight import tcp_reach
from lab.platforms.preflight import Disturbance, skew
from lab.settings.tcp_reach import Reach


def test_a_clock_with_a_fraction_is_known_to_the_time_of_the_question_and_another_text_refused() -> None:
    ahead = skew(100.0, "103.500\n", 101.0)
    assert (ahead.ahead_s, ahead.within_s, ahead.least_s) == (3.0, 0.5, 2.5)
    behind = skew(100.0, "90.0", 100.0)
    assert (behind.ahead_s, behind.least_s) == (-10.0, 10.0)
    for text in ("", "N", "12:30", "-5", "1.5e9"):
        with pytest.raises(ValueError, match="no number of seconds"):
            skew(0.0, text, 1.0)


@given(st.floats(1, 2e9), st.floats(-1e6, 1e6), st.floats(0, 30), st.floats(0, 1), st.booleans())
def test_the_skew_is_within_its_bounds(now: float, ahead: float, trip: float, when: float, fraction: bool) -> None:
    host_s = max(now + when * trip + ahead, 0.0)
    known = skew(now, f"{host_s:.6f}" if fraction else f"{int(host_s)}", now + trip)
    true = host_s - (now + when * trip)
    assert abs(known.ahead_s - true) <= known.within_s + 1e-3


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
    assert all(part in what for part, what in zip(expected, whats(macos.parse_firewall(text)), strict=True))


def whats(disturbances: list[Disturbance]) -> list[str]:
    return [disturbance.what for disturbance in disturbances]


def test_powersave_is_slow_except_where_it_is_the_usual_governor() -> None:
    assert "lowest frequency" in whats(linux_preflight.parse_power("governor acpi-cpufreq powersave\n"))[0]
    for usual in ("intel_pstate powersave", "amd-pstate-epp powersave", "acpi-cpufreq performance"):
        assert linux_preflight.parse_power(f"governor {usual}\n") == []
    assert whats(linux_preflight.parse_power("battery Discharging\n")) == ["it runs on its battery"]
    assert linux_preflight.parse_power("battery Charging\nbattery Full\n") == []


def test_a_desktop_sleeps_unless_it_is_kept_from_it() -> None:
    asleep = linux_preflight.parse_sleep("sshd\ngsd-power\nsleep.target static\n")
    assert whats(asleep) == ["GNOME may send it to sleep when nobody types"]
    inhibited = "gsd-power\nsystemd-inhibit\nsleep.target static\n"
    for awake in ("gsd-power\nsleep.target masked\n", inhibited, "sshd\nsleep.target \n"):
        assert linux_preflight.parse_sleep(awake) == []


def test_what_else_a_linux_host_is_busy_with() -> None:
    disturbances = linux_preflight.parse_processes("sshd\nrestic\ntracker-miner-f\nupdatedb.plocat\n")
    rows = [(disturbance.what.split(" (")[0].split(",")[0], disturbance.urgent) for disturbance in disturbances]
    assert rows == [("restic is running", True), ("updatedb is running", True), ("GNOME's indexer", False)]
    known = linux_preflight.BACKUPS | linux_preflight.INDEXERS | linux_preflight.SLEEPERS
    assert all(len(name) <= 15 for name in known)
    (disturbance,) = linux_preflight.parse_mdstat(MDSTAT)
    assert disturbance.what == "the RAID array md0 is at 12.6% of a check"
    assert "/sys/block/md0/md/sync_action" in disturbance.remedy
    assert linux_preflight.parse_mdstat("") == []
    assert linux_preflight.parse_mdstat(MDSTAT.replace("check =", "PENDING =")) == []
    unraid = "mdState=STARTED\nmdResyncAction={}\nmdResyncSize=1000\nmdResync={}\nmdResyncPos=250\n".format
    for action, what in {"check P": "parity check", "recon D1": "rebuild", "": "parity check or rebuild"}.items():
        (disturbance,) = linux_preflight.parse_mdstat(unraid(action, "1000"))
        assert disturbance.what == f"the array of Unraid is at 25.0 % of a {what}"
    assert linux_preflight.parse_mdstat(unraid("check P", "0")) == [], "it is paused"
    assert linux_preflight.parse_load("1.00 0.5 0.2 1/95 104\n2\n") == []
    assert whats(linux_preflight.parse_load("1.01 0.5 0.2 1/95 104\n2\n")) == ["the load average is 1.01 on 2 cores"]
    with pytest.raises(ValueError, match="cannot be read"):
        linux_preflight.parse_load("no\n")
    meminfo = "MemTotal:  24684084 kB\nSwapTotal:        2097148 kB\nSwapFree:         {} kB\n"
    assert linux_preflight.parse_meminfo(meminfo.format(2097148)) == []
    assert "1024 MiB" in whats(linux_preflight.parse_meminfo(meminfo.format(2097148 - 1024**2)))[0]
    assert linux_preflight.parse_meminfo("MemTotal: 1 kB\n") == []


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


def test_services_of_recent_macs_are_known_by_their_programs_and_spotlight_by_volume() -> None:
    lines = ["  40.0 /System/Library/X/XProtectRemediatorAdload", "  30.0 /usr/libexec/spotlightknowledged",
             "  50.0 /opt/other", "   2.0 /System/Library/X/fileproviderd"]  # fmt: skip
    expected = ["Spotlight is at work (30 % of a core)", "XProtect is at work (40 % of a core)"]
    assert whats(macos.parse_processes("\n".join(lines))) == expected
    (disturbance,) = macos.parse_mdutil("/Volumes/My Disk:\n\tIndexing enabled. \n", "/Volumes/My Disk/x")
    assert "`sudo mdutil -i off '/Volumes/My Disk'`" in disturbance.remedy
    for volume, switched in (("/System/Volumes/Data", "/"), ("/Volumes/a: b", "'/Volumes/a: b'")):
        (disturbance,) = macos.parse_mdutil(f"{volume}:\n\tIndexing enabled. \n", "/x")
        assert f"`sudo mdutil -i off {switched}`" in disturbance.remedy
    states = ("Indexing disabled.", "Indexing and searching disabled.", "No index.", "Index is read-only.",
              "Server search enabled.")  # fmt: skip
    errors = ("Error, no index found for volume.\n", "Error: invalid path `/x'.\n")
    for off in (*(f"/:\n\t{state}\n" for state in states), *errors):
        assert macos.parse_mdutil(off, "/x") == []
    with pytest.raises(ValueError, match="no state"):
        macos.parse_mdutil("Error: unknown\n", "/x")


def test_what_a_mac_lacks_is_no_disturbance_and_any_other_answer_an_error_that_shows_it() -> None:
    for parse in (macos.parse_pmset, macos.parse_battery, macos.parse_load, macos.parse_swap):
        with pytest.raises(ValueError, match="Fehler"):
            parse("Fehler\n")
    assert macos.parse_tmutil("") == []
    with pytest.raises(ValueError, match="Running"):
        macos.parse_tmutil("tmutil: requires Full Disk Access\n")
    assert macos.parse_firewall("") == []
    with pytest.raises(ValueError, match="getglobalstate"):
        macos.parse_firewall("globalstate dyld: symbol not found\n")
    assert whats(macos.parse_pmset(" sleep 0\n lowpowermode 1\n")) == ["Low Power Mode is on"]
    assert macos.parse_pmset(" sleep 0\n powermode 2\n") == []


def test_the_largest_buffer_by_version() -> None:
    """Seen on Macs with a limit of 8388608, 6291456 and 4194304; the room for bookkeeping is left out from 14 on."""
    for limit, usable in ((8388608, 7454720), (6291456, 5591040), (4194304, 3727360)):
        assert macos.largest("macOS 13.7 (22H123)", limit) == usable
    assert macos.largest("macOS 14.0 (23A344)", 8388608) == 8388608
    assert macos.largest("Mac OS X 10.6.8 (10K549)", 8388608) == 7454720


def reach(system: str, protocol: str, role: str) -> Reach:
    return tcp_reach(system, protocols.find(protocol).tcp_reach("macos", role))


@pytest.mark.parametrize(
    ("version", "protocol", "role", "reaches"),
    [
        ("10.6.8", "smb", "client", False), ("10.8.5", "smb", "client", False), ("10.10.5", "smb", "client", False),
        ("10.13.6", "smb", "client", None), ("14.6", "smb", "client", False), ("15.0", "smb", "client", True),
        ("26.4.1", "smb", "client", True), ("14.6", "smb", "server", None),
        ("10.14.6", "nfs", "client", True), ("10.15.7", "nfs", "client", False), ("14.4", "nfs", "client", False),
        ("10.14.6", "nfs", "server", True), ("13.0", "nfs", "server", False), ("26.0", "nfs", "server", False),
        ("12.0", "afp", "client", None), ("10.6.8", "ssh", "server", True),
        ("10.5.8", "smb", "client", None),
    ],
)  # fmt: skip
def test_whom_tcp_buffers_reach_on_a_mac(version: str, protocol: str, role: str, reaches: bool | None) -> None:
    assert reach(f"macOS {version} (25E253)", protocol, role).reaches is reaches


def test_what_to_set_instead_and_where_nothing_is_known() -> None:
    assert reach("Mac OS X 10.6.8 (10K549)", "smb", "client").instead.startswith("net.smb.fs.tcpsndbuf")
    assert reach("macOS 14.4 (23E214)", "nfs", "client").instead == "vfs.generic.nfs.client.tcp_sockbuf"
    assert reach("macOS (a)", "smb", "client").reaches is None
    assert protocols.find("smb").tcp_reach("freebsd", "client") == {}
    assert tcp_reach("macOS 26.0 (25A354)", {}).reaches is None
