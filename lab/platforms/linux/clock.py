"""The clock and the counters of a Linux host: ss, the files of /proc and /sys, and their parser (proc(5), cgroups(7)).

grep, the stopwatch and the sampler print every line as ``PATH:line``, so one parser reads all three. Old versions of
ss lack fields; the names are tcp_info's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lab.base.scripts import read_script
from lab.base.untrusted import count, quantity, word
from lab.platforms.clock import Clock, by_source, split_samples
from lab.platforms.readings import Connection, Disk, Process, Reading, Ticks, ticks_spent
from lab.platforms.timing import Counters, Moved

ENDS = re.compile(r"[A-Z][A-Z0-9-]* +[0-9]+ +[0-9]+ +([!-~]{1,80}:[0-9]+) +([!-~]{1,80}:[0-9]+)(\s|$)")
BUFFERS = re.compile(r"skmem:\(r[0-9]+,rb([0-9]+),t[0-9]+,tb([0-9]+)[,)]")
CONGESTION = re.compile(r"(?:^|\s)([a-z][a-z0-9_-]{1,15}) (?:wscale|rto|rtt):")
RATE = re.compile(r"\sdelivery_rate ([0-9.]{1,20})([KMG]?)bps")
POWERS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def as_filter(address: str) -> str:
    """A host as a filter of ss takes it: there IPv6 stands in brackets, without the interface that it is local to."""
    return f"[{address.partition('%')[0]}]" if ":" in address else address


def parse_ss(lines: Iterable[str]) -> tuple[Connection, ...]:
    """Every connection in what ``ss -tmin`` printed, with or without a heading. Raises ValueError."""
    connections: list[Connection] = []
    ends: re.Match[str] | None = None
    for line in lines:
        if line[:1].isspace():
            if ends is not None:
                connections.append(_connection(ends[1], ends[2], line))
            ends = None
        else:
            ends = ENDS.match(line)
    return tuple(connections)


def _connection(local: str, peer: str, line: str) -> Connection:
    """A connection between two ends, of the second line about it. Old versions of ss lack fields."""
    from lab.results.observed import TcpFacts  # all of lab.results takes long to import, and a plan needs none of it

    values = {name: value for name, _, value in (token.partition(":") for token in line.split()) if value}
    congestion, buffers, rate = CONGESTION.search(line), BUFFERS.search(line), RATE.search(line)
    # tcp_info has counted these since Linux 4.9; ss leaves out what is zero, and says ``busy`` of none that never sent
    zero = 0 if "busy" in values else None

    def whole(name: str) -> int | None:
        return count(values[name]) if name in values else None

    def milliseconds(name: str) -> int | None:
        return count(values[name].partition("ms")[0]) if name in values else zero

    facts = TcpFacts(
        congestion=congestion[1] if congestion else None,
        mss=whole("mss"),
        pmtu=whole("pmtu"),
        rtt_ms=quantity(values["rtt"].partition("/")[0]) if "rtt" in values else None,
        min_rtt_ms=quantity(values["minrtt"]) if "minrtt" in values else None,
        cwnd=whole("cwnd"),
        ssthresh=whole("ssthresh"),
        window_bytes=whole("snd_wnd"),
        sent_bytes=whole("bytes_sent"),
        acked_bytes=whole("bytes_acked"),
        received_bytes=whole("bytes_received"),
        retransmits=count(values["retrans"].rpartition("/")[2]) if "retrans" in values else zero,
        data_segs_in=whole("data_segs_in") if "data_segs_in" in values else zero,
        data_segs_out=whole("data_segs_out") if "data_segs_out" in values else zero,
        out_of_order=whole("rcv_ooopack"),
        delivery_bytes_per_s=round(quantity(rate[1]) * POWERS[rate[2]] / 8) if rate else None,
        busy_ms=milliseconds("busy"),
        rwnd_limited_ms=milliseconds("rwnd_limited"),
        sndbuf_limited_ms=milliseconds("sndbuf_limited"),
    )
    rcvbuf, sndbuf = (count(buffers[1]), count(buffers[2])) if buffers else (None, None)
    return Connection(local, peer, facts, rcvbuf, sndbuf)


TICKS_PER_S = 100  # the kernel's USER_HZ, whatever its own clock does
SECTOR_BYTES = 512  # of /proc/diskstats, whatever the disk's are
STATE = ("/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem")
UPTIME, STAT, DISKS, MEMORY, SNMP = "/proc/uptime", "/proc/stat", "/proc/diskstats", "/proc/meminfo", "/proc/net/snmp"
INTERFACES = "/proc/net/dev"
# A host is a control group of its own, or the root of them all. Version 2, and where version 1 is mounted by habit
GROUP, PRESSURE = "/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu.pressure"
LINK = "/run/file-share-lab.link"  # in a local lab: cpu.stat of the control group of what carries the link
OLD_USAGE, OLD_SPLIT = "/sys/fs/cgroup/cpuacct/cpuacct.usage", "/sys/fs/cgroup/cpuacct/cpuacct.stat"
OLD_THROTTLED = "/sys/fs/cgroup/cpu/cpu.stat"
SAMPLED = (STAT, GROUP, LINK, OLD_USAGE, OLD_SPLIT, OLD_THROTTLED, DISKS, MEMORY)
NET = ("tx_bytes", "rx_bytes", "tx_packets", "rx_packets")
MTU, CARRIER = "/sys/class/net/{}/mtu", "/sys/class/net/{}/carrier_changes"
# The lines to read, as a pattern for grep -E and perl: processor, memory, TCP, control group, disks, interfaces.
# Only disks that are hardware, or look like hardware; a Synology NAS calls them sata1, sas1 and usb1. In
# /proc/net/dev of old kernels, such as 2.6.32, a large number follows its colon at once.
KEPT = (
    "^(cpu[0-9 ]|MemAvailable:|Tcp:|(usage|user|system|throttled)_usec |(user|system|throttled_time|some) |[0-9]"
    "| +[0-9]+ +[0-9]+ (sd|hd|vd|xvd|ubd|nvme|mmcblk|dasd|pmem|nbd|rbd|sata|sas|usb)| *[^ :]+: *[0-9]+( +[0-9]+){15}$)"
)
PROCESS = re.compile(r"([0-9]+) \((.*)\) \S (?:\S+ ){10}([0-9]+) ([0-9]+) (?:\S+ ){6}([0-9]+)", re.DOTALL)


def list_sampled_files(interface: str) -> tuple[str, ...]:
    """The files that change while bytes move; the byte counters come first."""
    return (*(f"/sys/class/net/{interface}/statistics/{name}" for name in NET), *SAMPLED)


def list_counted_files(interface: str) -> tuple[str, ...]:
    """Every file that is read before and after a transfer."""
    rest = (PRESSURE, SNMP, INTERFACES, *STATE, MTU.format(interface), CARRIER.format(interface))
    return (UPTIME, *list_sampled_files(interface), *rest)


def parse_counters(lines: Iterable[str], interface: str) -> Counters:
    """The counters of a host, from the lines of the files of :func:`list_counted_files`. Raises ValueError."""
    files = by_source(lines)
    reading = _reading(files, interface, quantity(_only(files, UPTIME).split(" ")[0]))
    for name in ("tx_bytes", "rx_bytes"):
        if name not in reading.net:
            raise ValueError(f"no interface {interface}")
    state = {path.rpartition("/")[2]: path for path in (*STATE, MTU.format(interface)) if path in files}
    carrier = CARRIER.format(interface)
    return Counters(
        tx_bytes=reading.net["tx_bytes"],
        rx_bytes=reading.net["rx_bytes"],
        cpu_s=_cpu_s(reading, files),
        retransmits=_retransmits(files),
        state={name: word(_only(files, path), r"[\t -~]{1,200}") for name, path in state.items()},
        reading=reading,
        others=dict(_others(files.get(INTERFACES, ()), interface)),
        carrier_changes=count(_only(files, carrier)) if carrier in files else None,
    )


def parse_ticks_spent(text: str) -> dict[str, Ticks]:
    """What each core did between two copies of /proc/stat, which an empty line parts. Raises ValueError."""
    copies = [dict(_cores(copy.splitlines())) for copy in text.split("\n\n")]
    if len(copies) != 2:
        raise ValueError("/proc/stat was not printed twice")
    return ticks_spent(*copies)


def parse_samples(text: str, interface: str) -> Iterator[Reading]:
    """The readings in the sampler's lines ``N:line`` of file N of :func:`list_sampled_files`. Raises ValueError."""
    paths = list_sampled_files(interface)
    for at_s, block in split_samples(text):
        rows = (line.partition(":") for line in block)
        lines = (
            f"{paths[int(number)] if number.isdecimal() and int(number) < len(paths) else number}:{line}"
            for number, _, line in rows
        )
        yield _reading(by_source(lines), interface, at_s)


def _only(files: Mapping[str, Sequence[str]], path: str) -> str:
    if path not in files:
        raise ValueError(f"no {path}")
    return files[path][0]


def _reading(files: Mapping[str, Sequence[str]], interface: str, at_s: float) -> Reading:
    net = {name: f"/sys/class/net/{interface}/statistics/{name}" for name in NET}
    available = re.search("^MemAvailable: +([0-9]+) kB$", "\n".join(files.get(MEMORY, ())), re.MULTILINE)
    return Reading(
        at_s=at_s,
        net={name: count(_only(files, path)) for name, path in net.items() if path in files},
        cores=dict(_cores(files.get(STAT, ()))),
        group=_group(files),
        disks=_disks(files.get(DISKS, ())),
        available_bytes=count(available[1]) * 1024 if available else None,
        processes=dict(_processes(files)),
        connections=parse_ss(files.get("ss", ())),
    )


def _cores(lines: Iterable[str]) -> Iterator[tuple[str, Ticks]]:
    for line in lines:
        name, *numbers = line.split()
        if re.fullmatch("cpu[0-9]{1,5}", name):
            if len(numbers) < len(Ticks._fields):
                raise ValueError(f"{line!r:.60} is no line of a core")
            yield name, Ticks(*map(count, numbers[: len(Ticks._fields)]))


def _group(files: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """CPU seconds of the control group: version 2 has microseconds, version 1 nanoseconds, and ticks of its parts."""
    seconds: dict[str, float] = {}
    for line in files.get(LINK, ()):
        if line.startswith("usage_usec "):
            seconds["link_s"] = count(line.split(" ", 1)[1]) / 1e6
    for line in files.get(PRESSURE, ()):
        if total := re.search(" total=([0-9]+)$", line):
            seconds["waited_s"] = count(total[1]) / 1e6
    if GROUP in files:
        rows = dict(line.split(" ", 1) for line in files[GROUP])
        return seconds | {f"{key.removesuffix('_usec')}_s": count(value) / 1e6 for key, value in rows.items()}
    if OLD_USAGE in files:
        seconds["usage_s"] = count(_only(files, OLD_USAGE)) / 1e9
    for line in files.get(OLD_SPLIT, ()):
        name, value = line.split(" ", 1)
        seconds[f"{name}_s"] = count(value) / TICKS_PER_S
    for line in files.get(OLD_THROTTLED, ()):
        if line.startswith("throttled_time "):
            seconds["throttled_s"] = count(line.split(" ", 1)[1]) / 1e9
    return seconds


def _disks(lines: Iterable[str]) -> dict[str, Disk]:
    """Whole disks: the table has their partitions too, named after them (sda1, nvme0n1p1).

    NVMe with several paths has each path as nvme0c1n1; the disk itself, nvme0n1, counts too in new kernels alone.
    """
    rows = {fields[2]: fields for fields in map(str.split, lines) if len(fields) >= 13}
    for name in [name for name in rows if re.fullmatch("nvme[0-9]+c[0-9]+n[0-9]+", name)]:
        disk = rows.get(re.sub("c[0-9]+", "", name))
        if disk and any(number != "0" for number in disk[3:13]):
            del rows[name]
    return {
        name: Disk(count(fields[5]) * SECTOR_BYTES, count(fields[9]) * SECTOR_BYTES, count(fields[12]) / 1000)
        for name, fields in rows.items()
        if rows.keys().isdisjoint({name.rstrip("0123456789"), re.sub("p[0-9]+$", "", name)} - {name})
    }


def _processes(files: Mapping[str, Sequence[str]]) -> Iterator[tuple[tuple[int, int], Process]]:
    """Processes by id and start. A name may contain anything; a process with a line end in its name is left out."""
    for path, lines in files.items():
        if (path == "stat" or re.fullmatch("/proc/[0-9]+/stat", path)) and path != STAT:
            for row in map(PROCESS.match, lines):
                if row:
                    cpu_s = (count(row[3]) + count(row[4])) / TICKS_PER_S
                    yield (count(row[1]), count(row[5])), Process(re.sub(r"[^!-~]", "?", row[2])[:15], cpu_s)


def _cpu_s(reading: Reading, files: Mapping[str, Sequence[str]]) -> float | None:
    """CPU seconds of this host's control group, which is the whole machine at its root; else the kernel's ticks."""
    if "usage_s" in reading.group:
        return reading.group["usage_s"]
    for line in files.get(STAT, ()):
        if line.startswith("cpu "):
            user, nice, system, _, _, irq, softirq, *_ = map(count, line.split()[1:])
            return (user + nice + system + irq + softirq) / TICKS_PER_S
    return None


def _others(lines: Iterable[str], interface: str) -> Iterator[tuple[str, Moved]]:
    """What each other interface has sent and received: numbers 9 and 1 (proc_net(5)). Not ASCII becomes ``?``."""
    for line in lines:
        name, _, numbers = line.partition(":")
        counts = numbers.split()
        if len(counts) >= 9 and (interface_name := name.strip()) not in ("lo", interface):
            yield word(re.sub("[^!-~]", "?", interface_name), "[!-~]{1,15}"), Moved(count(counts[8]), count(counts[0]))


def _retransmits(files: Mapping[str, Sequence[str]]) -> int | None:
    """TCP segments sent again: one line has the names, the next the numbers."""
    names, values = ([line.split() for line in files.get(SNMP, ())] + [[], []])[:2]
    retransmits = dict(zip(names, values, strict=False)).get("RetransSegs")
    return None if retransmits is None else count(retransmits)


# $1 which lines, $2 the peer, then the files. One command, because it runs right before and right after a transfer
COUNTS = r"""
kept=$1 peer=$2; shift 2
ss -tmin dst "$peer" 2>/dev/null | sed 's/^/ss:/'
grep -sE "$kept" /proc/[0-9]*/stat "$@"; :
"""
# Both copies come from one command: on a slow host a second one took 0.25 s to start, which looked like load
COUNT_TICKS = 'cat /proc/stat && echo && sleep "$1" && cat /proc/stat'


class LinuxClock(Clock):
    """Times and counts on a Linux host."""

    watches = True
    counts = read_script(__file__, "counts.pl")
    sampler = read_script(__file__, "sampler.pl")
    sampler_ready = '[ -s "$1" ]'  # its first sample is written at once
    parse_counters = staticmethod(parse_counters)
    parse_samples = staticmethod(parse_samples)

    def watch(self, peer: str) -> None:
        super().watch(as_filter(peer))

    def install(self, directory: str, interface: str, peer: str) -> None:
        super().install(directory, interface, peer)
        lines = "\n".join((KEPT, self.peer, *list_counted_files(interface)))
        self.host.shell('umask 077; cat > "$1/counted"', directory, given=f"{lines}\n")

    def counters(self, interface: str) -> Counters:
        """Without the stopwatch, whose perl takes ten times as long to start."""
        result = self.host.shell(COUNTS, KEPT, self.peer, *list_counted_files(interface))
        return self.parse(lambda text: self.parse_counters(text.splitlines(), interface), result)

    def count_ticks(self, seconds: int) -> Mapping[str, Ticks]:
        return self.parse(parse_ticks_spent, self.host.shell(COUNT_TICKS, str(seconds)))

    def sampler_words(self, interface: str) -> tuple[str, ...]:
        return (self.peer, KEPT, *list_sampled_files(interface))
