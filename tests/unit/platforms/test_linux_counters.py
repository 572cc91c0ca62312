"""What Linux counts, from captured files of hosts with control groups of both versions, and several versions of ss."""

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.paths import LINUX_CAPTURES

from lab.base.present import present
from lab.platforms.linux import clock
from lab.platforms.readings import Disk, Process, Reading, Ticks
from lab.platforms.timing import Counters, Moved

# Written by hand, by the table of Documentation/admin-guide/iostats.rst: no host at hand has such disks. Names as on
# Linux and, with sata1, sas1 and usb1, on a Synology NAS, whose md2 is made of them
DISKS = """\
   8       0 sda 10 0 100 0 20 0 200 0 0 1500 0
   8       1 sda1 9 0 90 0 20 0 200 0 0 1500 0
   8     240 sdp 1 0 8 0 0 0 0 0 0 10 0
 259       0 nvme0n1 5 0 50 0 5 0 500 0 0 700 0 0 0 0 0
 259       1 nvme0n1p1 5 0 50 0 5 0 500 0 0 700 0 0 0 0 0
 179       0 mmcblk0 1 0 2 0 1 0 4 0 0 8 0
 179       2 mmcblk0p2 1 0 2 0 1 0 4 0 0 8 0
   8       0 sata1 18000 120000 9390000 1330000 11000 37000 2400000 2240000 0 199000 3610000 0 0 0 0 360 36000
   8       1 sata1p1 170 0 1304 431 195 75 1946 1980 0 1864 1980 0 0 0 0 0 0
   8      32 sas1 18000 120000 9390000 1330000 11000 37000 2400000 2240000 0 199000 3610000 0 0 0 0 360 36000
   8      48 usb1 1 0 2 0 1 0 4 0 0 8 0
   9       2 md2 100 0 800 0 100 0 800 0 0 0 0 0 0 0 0 0 0
""".splitlines()


def lines(name: str) -> list[str]:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8").splitlines()


def counted(more: Iterable[str] = (), name: str = "counted-cgroup2.txt") -> tuple[Counters, Reading]:
    counters = clock.parse_counters([*lines(name), *more], "eth0")
    return counters, present(counters.reading)


def reading_of(*text: str) -> Reading:
    return present(clock.parse_counters([*lines("counted-cgroup2.txt")[:3], *text], "eth0").reading)


def test_processor_time_is_counted_by_control_groups_of_either_version_and_without_them_by_ticks() -> None:
    counters, reading = counted()
    assert (counters.tx_bytes, counters.rx_bytes) == (896061054, 1395960031)
    assert (counters.cpu_s, counters.retransmits, counters.carrier_changes) == (9.979091, 8, None)
    tcp = {"tcp_rmem": "4096\t131072\t33554432", "tcp_wmem": "4096\t16384\t4194304"}
    assert counters.state == {"mtu": "1500", **tcp}
    assert (reading.at_s, reading.net["tx_packets"]) == (14599.25, 628566)
    assert reading.cores == {
        "cpu0": Ticks(580710, 0, 205036, 623685, 9203, 0, 12835, 26826),
        "cpu1": Ticks(572548, 0, 197034, 642172, 6112, 0, 14241, 26511),
    }
    assert reading.group == {"usage_s": 9.979091, "user_s": 3.57307, "system_s": 6.40602, "waited_s": 7.901335}
    assert reading.disks == {"vda": Disk(264217284 * 512, 52236016 * 512, 364.824)}
    assert reading.available_bytes == 20770436 * 1024
    processes = {(1, 1312373): ("tini", 0.03), (28, 1312381): ("sshd", 0.0), (1093, 1459924): ("sh", 0.0)}
    assert reading.processes == {key: Process(*values) for key, values in processes.items()}
    counters, reading = counted(name="counted-cgroup1.txt")
    assert counters.cpu_s == reading.group["usage_s"] == 15987.446678439
    assert reading.group == {"usage_s": 15987.446678439, "user_s": 11652.76, "system_s": 4334.67, "throttled_s": 0.0}
    assert reading.processes[1, 10] == Process("systemd", 78.53)
    rest = [line for line in lines("counted-cgroup2.txt") if "/sys/fs/cgroup" not in line]
    assert clock.parse_counters(rest, "eth0").cpu_s == (1153259 + 402070 + 27076) / 100


def test_what_only_some_hosts_have_is_counted_there_alone() -> None:
    assert counted(["/sys/fs/cgroup/cpu.stat:throttled_usec 2500000"])[1].group["throttled_s"] == 2.5
    assert counted(["/sys/class/net/eth0/carrier_changes:4"])[0].carrier_changes == 4  # Linux 3.15 and later
    link = (f"/run/file-share-lab.link:{row}" for row in ("usage_usec 1500000", "user_usec 500000"))  # of a local lab
    group = counted(link)[1].group
    assert (group["link_s"], group["usage_s"], group["user_s"]) == (1.5, 9.979091, 3.57307)
    kept = ("/proc/uptime", "/sys/class/net/eth0/statistics/tx_bytes", "/sys/class/net/eth0/statistics/rx_bytes")
    counters = clock.parse_counters([line for line in lines("counted-cgroup2.txt") if line.startswith(kept)], "eth0")
    assert (counters.cpu_s, counters.retransmits, counters.state) == (None, None, {})
    assert counters.reading == Reading(14599.25, {"tx_bytes": 896061054, "rx_bytes": 1395960031})


def test_ticks_are_what_cores_did_between_two_copies() -> None:
    process = subprocess.run(["sh", "-c", clock.COUNT_TICKS, "sh", "0.2"], capture_output=True, text=True, check=True)
    ticks = clock.parse_ticks_spent(process.stdout)
    assert len(ticks) == os.cpu_count()
    assert all(sum(core) >= 10 for core in ticks.values()), "hundredths of a second"
    busy = clock.parse_ticks_spent("cpu 9 0 0 9 0 0 0 0 0 0\ncpu0 1 0 2 3 9 0 0 0 0 0\n\ncpu0 5 0 2 60 8 0 0 1 0 0\n")
    assert busy == {"cpu0": Ticks(4, 0, 0, 57, 0, 0, 0, 1)}, "iowait may go back"
    for text in ("cpu0 1 2 3 4 5 6 7 8", "cpu0 1 2\n\n", "\n\ncpu0 a b c d e f g h"):
        with pytest.raises(ValueError, match=r"not printed twice|no line of a core|is not a count"):
            clock.parse_ticks_spent(text)


def test_parts_of_disks_are_not_counted_twice_and_names_of_processes_may_hold_anything() -> None:
    reading = reading_of(*(f"/proc/diskstats:{line}" for line in DISKS if re.search(clock.KEPT, line)))
    assert reading.disks["sda"] == Disk(51200, 102400, 1.5)
    assert sorted(reading.disks) == ["mmcblk0", "nvme0n1", "sas1", "sata1", "sda", "sdp", "usb1"]
    # two paths to one disk: old kernels count only the paths, new ones the disk too
    paths = [f"/proc/diskstats: 0 0 nvme0c{path}n1 9 0 2000 1 9 0 4000 1 0 1500 2" for path in (0, 1)]
    for told in ("0 0 0 0 0 0 0 0 0 0 0", "18 0 4000 2 18 0 8000 2 0 1500 4"):
        disks = reading_of(*paths, f"/proc/diskstats: 259 1 nvme0n1 {told}").disks
        assert sum(disk.read_bytes for disk in disks.values()) == 4000 * 512
        assert sum(disk.written_bytes for disk in disks.values()) == 8000 * 512
    row = ") S 1 9 9 0 -1 0 0 0 0 0 700 300 0 0 20 0 1 0 4711 0 0 0"
    hostile = [f"/proc/9/stat:9 (a) R 1\x1b[2J{row}", f"/proc/8/stat:8 ({'x' * 40}{row}", "/proc/7/stat:7 (cut"]
    processes = {(9, 4711): Process("a)?R?1?[2J", 10.0), (8, 4711): Process("x" * 15, 10.0)}
    assert reading_of(*hostile).processes == processes


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
        clock.parse_counters([broken, *rest], "eth0")
    with pytest.raises(ValueError, match="no interface eth1"):
        clock.parse_counters(lines("counted-cgroup2.txt"), "eth1")


def test_the_kernels_table_of_interfaces_is_kept_line_by_line_and_the_other_ones_are_counted() -> None:
    dev = """\
  eth0: 1296 15 0 0 0 0 0 0 2000 9 0 0 0 0 0 0
    lo: 77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0
 wlan0:123456789012 5 0 0 0 0 0 0 987 9 0 0 0 0 0 0
 wg-münchen: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0""".splitlines()
    others = counted(f"{clock.INTERFACES}:{line}" for line in dev)[0].others
    assert others == {"wlan0": Moved(987, 123456789012), "wg-m?nchen": Moved(6, 5)}
    assert all(re.search(clock.KEPT, line) for line in dev)
    table = Path(clock.INTERFACES).read_text(encoding="utf-8").splitlines()
    assert [line for line in table if re.search(clock.KEPT, line)] == table[2:]


# What the sampler writes, by hand; test_sampler.py reads what it writes on this system
SAMPLES = (LINUX_CAPTURES / "sampler.txt").read_text()


def test_samples_are_readings_unless_one_cannot_be_true() -> None:
    first, second = clock.parse_samples(SAMPLES + "@ 100.4", "eth0")
    assert (first.at_s, first.net) == (100.25, {"tx_bytes": 1000, "rx_bytes": 2000})
    cores, processes = {"cpu0": Ticks(10, 0, 5, 100, 0, 0, 0, 0)}, {(42, 900): Process("cp", 0.25)}
    assert (first.cores, first.processes) == (cores, processes)
    assert (first.connections[0].peer, first.connections[0].tcp.rtt_ms) == ("192.0.2.2:445", 0.5)
    assert second == Reading(100.35, {"tx_bytes": 5000, "rx_bytes": 2100})
    with pytest.raises(ValueError, match="count"):
        list(clock.parse_samples(SAMPLES.replace("5000", "-5"), "eth0"))


def test_what_ss_prints_by_version_and_addresses_as_it_takes_them() -> None:
    control, data = clock.parse_ss(lines("ss-6.15-sender.txt"))
    tcp = data.tcp
    assert (control.tcp.sent_bytes, control.tcp.busy_ms, control.tcp.retransmits) == (164, None, None)
    assert (data.local, data.peer, tcp.congestion) == ("10.99.0.1:37168", "10.99.0.2:5201", "bbr")
    assert (tcp.mss, tcp.pmtu, tcp.cwnd, tcp.ssthresh, tcp.window_bytes) == (1448, 1500, 194, 138, 3855360)
    assert (tcp.rtt_ms, tcp.min_rtt_ms, tcp.delivery_bytes_per_s) == (1.658, 0.002, 948356576 // 8)
    assert (tcp.sent_bytes, tcp.acked_bytes, tcp.received_bytes) == (239342269, 239146790, None)
    assert (tcp.busy_ms, tcp.rwnd_limited_ms, tcp.sndbuf_limited_ms, tcp.retransmits) == (2004, 4, 0, 0)
    assert (data.rcvbuf, data.sndbuf) == (131072, 2737152)
    _, data = clock.parse_ss(lines("ss-6.15-receiver.txt"))
    tcp = data.tcp
    assert (data.local, data.peer) == ("[::ffff:10.99.0.2]:5201", "[::ffff:10.99.0.1]:37168")
    assert (tcp.received_bytes, tcp.acked_bytes, data.rcvbuf, tcp.busy_ms) == (265734965, None, 6093586, None)
    assert data.moved_bytes == 265734965
    (data,) = clock.parse_ss(lines("ss-6.1-loopback.txt"))
    tcp = data.tcp
    assert clock.parse_ss(lines("ss-6.15-sender.txt")[:1]) == clock.parse_ss([]) == ()  # no connection, and no ss
    assert (tcp.retransmits, tcp.rwnd_limited_ms, tcp.mss, tcp.pmtu) == (10, 820, 65483, 65535)
    # Both files are what others published of iproute2 3 and 4, with other addresses.
    (data,) = clock.parse_ss(lines("ss-4.x.txt"))
    tcp = data.tcp
    assert (tcp.congestion, tcp.delivery_bytes_per_s, tcp.sent_bytes) == ("cubic", 975000, None)
    assert (tcp.acked_bytes, tcp.received_bytes, tcp.retransmits, tcp.busy_ms) == (222613, 2104, 1, 702)
    (data,) = clock.parse_ss(lines("ss-3.x.txt"))
    tcp = data.tcp
    assert (tcp.congestion, tcp.pmtu, tcp.min_rtt_ms, tcp.delivery_bytes_per_s) == ("cubic", None, None, None)
    assert (data.local, tcp.mss, data.sndbuf) == ("192.0.2.175:22", 1460, 87040)
    asked = {"192.0.2.1": "192.0.2.1", "nas.lan": "nas.lan", "fe80::1%eth0": "[fe80::1]"}
    assert {address: clock.as_filter(address) for address in asked} == asked
