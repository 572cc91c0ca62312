"""What Linux counts, from captured files of hosts with control groups of both versions, and several versions of ss."""

import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.paths import LINUX_CAPTURES

from lab.base.present import present
from lab.platforms import Reading, Ticks
from lab.platforms.linux.clock import COUNT_TICKS
from lab.platforms.linux.counters import (
    INTERFACES,
    KEPT,
    parse_counters,
    parse_samples,
    parse_ticks_spent,
)
from lab.platforms.linux.tcp import as_filter, parse_ss
from lab.platforms.readings import Disk, Process
from lab.platforms.timing import Counters, Moved

# Written by hand, by the table of Documentation/admin-guide/iostats.rst: no host at hand has such disks
DISKS = """\
   8       0 sda 10 0 100 0 20 0 200 0 0 1500 0
   8       1 sda1 9 0 90 0 20 0 200 0 0 1500 0
   8     240 sdp 1 0 8 0 0 0 0 0 0 10 0
 259       0 nvme0n1 5 0 50 0 5 0 500 0 0 700 0 0 0 0 0
 259       1 nvme0n1p1 5 0 50 0 5 0 500 0 0 700 0 0 0 0 0
 179       0 mmcblk0 1 0 2 0 1 0 4 0 0 8 0
 179       2 mmcblk0p2 1 0 2 0 1 0 4 0 0 8 0
""".splitlines()


def lines(name: str) -> list[str]:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8").splitlines()


def counted(more: Iterable[str] = (), name: str = "counted-cgroup2.txt") -> tuple[Counters, Reading]:
    counters = parse_counters([*lines(name), *more], "eth0")
    return counters, present(counters.reading)


def reading_of(*text: str) -> Reading:
    return present(parse_counters([*lines("counted-cgroup2.txt")[:3], *text], "eth0").reading)


def test_how_often_the_link_went_up_or_down_is_counted_where_the_kernel_says_it() -> None:
    assert counted(["/sys/class/net/eth0/carrier_changes:4"])[0].carrier_changes == 4  # Linux 3.15 and later
    assert counted()[0].carrier_changes is None


def test_a_host_with_a_control_group_of_version_2() -> None:
    counters, reading = counted()
    assert (counters.tx_bytes, counters.rx_bytes, counters.cpu_s, counters.retransmits) == (
        896061054,
        1395960031,
        9.979091,
        8,
    )
    tcp = {"tcp_rmem": "4096\t131072\t33554432", "tcp_wmem": "4096\t16384\t4194304"}
    assert counters.state == {"mtu": "1500", **tcp}
    assert reading.at_s == 14599.25
    assert reading.net["tx_packets"] == 628566
    assert reading.cores == {
        "cpu0": Ticks(580710, 0, 205036, 623685, 9203, 0, 12835, 26826),
        "cpu1": Ticks(572548, 0, 197034, 642172, 6112, 0, 14241, 26511),
    }
    assert reading.group == {"usage_s": 9.979091, "user_s": 3.57307, "system_s": 6.40602, "waited_s": 7.901335}
    assert reading.disks == {"vda": Disk(264217284 * 512, 52236016 * 512, 364.824)}
    assert reading.available_bytes == 20770436 * 1024
    assert reading.processes == {
        (1, 1312373): Process("tini", 0.03),
        (28, 1312381): Process("sshd", 0.0),
        (1093, 1459924): Process("sh", 0.0),
    }


def test_what_carries_the_link_of_a_local_lab() -> None:
    _, reading = counted(f"/run/file-share-lab.link:{row}" for row in ("usage_usec 1500000", "user_usec 500000"))
    assert (reading.group["link_s"], reading.group["usage_s"], reading.group["user_s"]) == (1.5, 9.979091, 3.57307)


def test_a_host_with_control_groups_of_version_1() -> None:
    counters, reading = counted(name="counted-cgroup1.txt")
    assert counters.cpu_s == reading.group["usage_s"] == 15987.446678439
    assert reading.group == {"usage_s": 15987.446678439, "user_s": 11652.76, "system_s": 4334.67, "throttled_s": 0.0}
    assert reading.processes[1, 10] == Process("systemd", 78.53)


def test_without_control_groups_the_ticks_of_all_cores_count() -> None:
    rest = [line for line in lines("counted-cgroup2.txt") if "/sys/fs/cgroup" not in line]
    assert parse_counters(rest, "eth0").cpu_s == (1153259 + 402070 + 27076) / 100


def test_a_quota_is_seen_in_version_2() -> None:
    assert counted(["/sys/fs/cgroup/cpu.stat:throttled_usec 2500000"])[1].group["throttled_s"] == 2.5


def test_the_ticks_of_this_machine_are_counted_for_some_time() -> None:
    done = subprocess.run(["sh", "-c", COUNT_TICKS, "sh", "0.2"], capture_output=True, text=True, check=True)
    ticks = parse_ticks_spent(done.stdout)
    assert len(ticks) == os.cpu_count()
    assert all(sum(core) >= 10 for core in ticks.values()), "hundredths of a second"


def test_ticks_are_what_cores_did_between_two_copies() -> None:
    busy = parse_ticks_spent("cpu 9 0 0 9 0 0 0 0 0 0\ncpu0 1 0 2 3 9 0 0 0 0 0\n\ncpu0 5 0 2 60 8 0 0 1 0 0\n")
    assert busy == {"cpu0": Ticks(4, 0, 0, 57, 0, 0, 0, 1)}, "iowait may go back"


@pytest.mark.parametrize("text", ["cpu0 1 2 3 4 5 6 7 8", "cpu0 1 2\n\n", "\n\ncpu0 a b c d e f g h"])
def test_what_is_no_count_of_cores_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not printed twice|no line of a core|is not a count"):
        parse_ticks_spent(text)


def test_a_host_that_lacks_files_lacks_only_what_they_say() -> None:
    kept = ("/proc/uptime", "/sys/class/net/eth0/statistics/tx_bytes", "/sys/class/net/eth0/statistics/rx_bytes")
    counters = parse_counters([line for line in lines("counted-cgroup2.txt") if line.startswith(kept)], "eth0")
    assert (counters.cpu_s, counters.retransmits, counters.state) == (None, None, {})
    assert counters.reading == Reading(14599.25, {"tx_bytes": 896061054, "rx_bytes": 1395960031})


def test_parts_of_disks_are_not_counted_twice() -> None:
    reading = reading_of(*(f"/proc/diskstats:{line}" for line in DISKS))
    assert reading.disks["sda"] == Disk(51200, 102400, 1.5)
    assert sorted(reading.disks) == ["mmcblk0", "nvme0n1", "sda", "sdp"]


@pytest.mark.parametrize(
    ("broken", "why"),
    [("/proc/uptime:x", "quantity"), ("/sys/class/net/eth0/statistics/tx_bytes:-1", "count"),
     ("/proc/stat:cpu0 1 2 3", "no line of a core"), ("/sys/fs/cgroup/cpu.stat:usage_usec x", "count"),
     ("/proc/sys/net/ipv4/tcp_rmem:\x1b[2J", "is not of the form"),
     ("/proc/meminfo:MemAvailable: 99999999999999999999 kB", "count")],
)  # fmt: skip
def test_what_cannot_be_true_is_refused(broken: str, why: str) -> None:
    path = broken.partition(":")[0]
    rest = [line for line in lines("counted-cgroup2.txt") if not line.startswith(f"{path}:")]
    with pytest.raises(ValueError, match=why):
        parse_counters([broken, *rest], "eth0")


def test_another_interface_is_none() -> None:
    with pytest.raises(ValueError, match="no interface eth1"):
        parse_counters(lines("counted-cgroup2.txt"), "eth1")


def test_the_bytes_of_other_interfaces_are_counted() -> None:
    dev = """\
  eth0: 1296 15 0 0 0 0 0 0 2000 9 0 0 0 0 0 0
    lo: 77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0
 wlan0:123456789012 5 0 0 0 0 0 0 987 9 0 0 0 0 0 0""".splitlines()
    assert counted(f"{INTERFACES}:{line}" for line in dev)[0].others == {"wlan0": Moved(987, 123456789012)}


def test_the_kernels_own_table_of_interfaces_is_kept_line_by_line() -> None:
    table = Path(INTERFACES).read_text(encoding="utf-8").splitlines()
    kept = [line for line in table if re.search(KEPT, line)]
    assert kept == table[2:]


def test_names_of_processes_may_hold_anything() -> None:
    row = ") S 1 9 9 0 -1 0 0 0 0 0 700 300 0 0 20 0 1 0 4711 0 0 0"
    hostile = [f"/proc/9/stat:9 (a) R 1\x1b[2J{row}", f"/proc/8/stat:8 ({'x' * 40}{row}", "/proc/7/stat:7 (cut"]
    assert reading_of(*hostile).processes == {
        (9, 4711): Process("a)?R?1?[2J", 10.0),
        (8, 4711): Process("x" * 15, 10.0),
    }


# What the sampler writes, by hand; test_sampler.py reads what it writes on this system
SAMPLES = (LINUX_CAPTURES / "sampler.txt").read_text()


def test_samples_are_readings() -> None:
    first, second = parse_samples(SAMPLES + "@ 100.4", "eth0")
    assert (first.at_s, first.net) == (100.25, {"tx_bytes": 1000, "rx_bytes": 2000})
    assert first.cores == {"cpu0": Ticks(10, 0, 5, 100, 0, 0, 0, 0)}
    assert first.processes == {(42, 900): Process("cp", 0.25)}
    assert (first.connections[0].peer, first.connections[0].tcp.rtt_ms) == ("192.0.2.2:445", 0.5)
    assert second == Reading(100.35, {"tx_bytes": 5000, "rx_bytes": 2100})


def test_a_sample_that_cannot_be_true_is_refused() -> None:
    with pytest.raises(ValueError, match="count"):
        list(parse_samples(SAMPLES.replace("5000", "-5"), "eth0"))


def test_the_sender_as_ss_of_6_15_prints_it() -> None:
    control, data = parse_ss(lines("ss-6.15-sender.txt"))
    tcp = data.tcp
    assert (control.tcp.sent_bytes, control.tcp.busy_ms, control.tcp.retransmits) == (164, None, None)
    assert (data.local, data.peer, tcp.congestion) == ("10.99.0.1:37168", "10.99.0.2:5201", "bbr")
    assert (tcp.mss, tcp.pmtu, tcp.cwnd, tcp.ssthresh, tcp.window_bytes) == (1448, 1500, 194, 138, 3855360)
    assert (tcp.rtt_ms, tcp.min_rtt_ms, tcp.delivery_bytes_per_s) == (1.658, 0.002, 948356576 // 8)
    assert (tcp.sent_bytes, tcp.acked_bytes, tcp.received_bytes) == (239342269, 239146790, None)
    assert (tcp.busy_ms, tcp.rwnd_limited_ms, tcp.sndbuf_limited_ms, tcp.retransmits) == (2004, 4, 0, 0)
    assert (data.rcvbuf, data.sndbuf) == (131072, 2737152)


def test_the_receiver_as_ss_of_6_15_prints_it() -> None:
    _, data = parse_ss(lines("ss-6.15-receiver.txt"))
    tcp = data.tcp
    assert (data.local, data.peer) == ("[::ffff:10.99.0.2]:5201", "[::ffff:10.99.0.1]:37168")
    assert (tcp.received_bytes, tcp.acked_bytes, data.rcvbuf, tcp.busy_ms) == (265734965, None, 6093586, None)
    assert data.moved_bytes == 265734965


def test_segments_sent_again() -> None:
    (data,) = parse_ss(lines("ss-6.1-loopback.txt"))
    tcp = data.tcp
    assert (tcp.retransmits, tcp.rwnd_limited_ms, tcp.mss, tcp.pmtu) == (10, 820, 65483, 65535)


def test_older_versions_of_ss_lack_fields_and_round_rates() -> None:
    """Both files are what others published of iproute2 3 and 4, with other addresses."""
    (data,) = parse_ss(lines("ss-4.x.txt"))
    tcp = data.tcp
    assert (tcp.congestion, tcp.delivery_bytes_per_s, tcp.sent_bytes) == ("cubic", 975000, None)
    assert (tcp.acked_bytes, tcp.received_bytes, tcp.retransmits, tcp.busy_ms) == (222613, 2104, 1, 702)
    (data,) = parse_ss(lines("ss-3.x.txt"))
    tcp = data.tcp
    assert (tcp.congestion, tcp.pmtu, tcp.min_rtt_ms, tcp.delivery_bytes_per_s) == ("cubic", None, None, None)
    assert (data.local, tcp.mss, data.sndbuf) == ("192.0.2.175:22", 1460, 87040)


@pytest.mark.parametrize(
    ("address", "asked"), [("192.0.2.1", "192.0.2.1"), ("nas.lan", "nas.lan"), ("fe80::1%eth0", "[fe80::1]")]
)
def test_addresses_as_ss_takes_them(address: str, asked: str) -> None:
    assert as_filter(address) == asked


def test_no_connection_and_no_ss_are_none() -> None:
    assert parse_ss(lines("ss-6.15-sender.txt")[:1]) == parse_ss([]) == ()


@given(st.lists(st.text()) | st.lists(st.sampled_from(SAMPLES.splitlines()).map(lambda line: line[:-1])))
def test_whatever_a_host_prints_is_read_or_refused(said: list[str]) -> None:
    whole = lines("counted-cgroup2.txt")
    for parser in (
        parse_ss,
        lambda rows: tuple(parse_samples("".join(f"{row}\n" for row in rows), "eth0")),
        lambda rows: parse_counters([*whole, *rows], "eth0"),
        lambda rows: parse_counters([*(f"/proc/stat:{row}" for row in rows), *whole], "eth0"),
    ):
        with suppress(ValueError):
            parser(said)
