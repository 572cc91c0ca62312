"""The clock and the counters of a Mac: tables of netstat, ps, vm_stat, iostat and sysctl, as lines ``COMMAND:line``."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lab.base.scripts import read_script
from lab.base.untrusted import count, first_line, quantity
from lab.platforms.clock import Clock, by_source, split_samples
from lab.platforms.macos.parsers import parse_memory, parse_sizes
from lab.platforms.macos.settings import SPACES
from lab.platforms.readings import ALL_CORES, Process, Reading, Ticks
from lab.platforms.timing import Counters, MountServer, Moved, Timing, grown

NET = {"tx_bytes": "Obytes", "rx_bytes": "Ibytes", "tx_packets": "Opkts", "rx_packets": "Ipkts",
       "tx_errors": "Oerrs", "rx_errors": "Ierrs"}  # fmt: skip
NAME_LENGTH = 64  # macOS keeps 16 bytes, newer versions 32
Tables = Mapping[str, Sequence[str]]


def parse_counters(lines: Iterable[str], interface: str) -> Counters:
    """The counters in the stopwatch's lines. Raises ValueError. No command prints the ticks of the processor."""
    tables = by_source(lines)
    if "clock" not in tables:
        raise ValueError("no clock")
    reading = _add_memory(_reading(tables, interface, quantity(tables["clock"][0].strip())), tables)
    if not reading.net:
        raise ValueError(f"no interface {interface}")
    spaces = parse_sizes("\n".join(tables.get("sysctl", ())), SPACES)
    mtu = next(count(line.split()[1]) for line in tables["netstat"] if "<Link#" in line)
    return Counters(
        tx_bytes=reading.net["tx_bytes"], rx_bytes=reading.net["rx_bytes"], cpu_s=None, retransmits=None,
        state={name.rpartition(".")[2]: str(spaces[name]) for name in SPACES} | {"mtu": str(mtu)},
        reading=reading, others=_others(tables, interface),
    )  # fmt: skip


def parse_samples(text: str, interface: str) -> Iterator[Reading]:
    """The readings in what the sampler wrote, as lines ``COMMAND:line``. Raises ValueError.

    A row of iostat is in percent of the time since the row before; the rows add up to ticks. Memory comes with a row
    of iostat: a reading between two rows has neither cores nor memory.
    """
    spent = Ticks(*[0] * len(Ticks._fields))
    for at_s, block in split_samples(text):
        tables = by_source(block)
        reading = _reading(tables, interface, at_s)
        if "iostat" in tables or "netstat" not in tables:
            user, system, idle = _shares(tables)
            spent = spent._replace(user=spent.user + user, system=spent.system + system, idle=spent.idle + idle)
            reading = replace(_add_memory(reading, tables), cores={ALL_CORES: spent})
        yield reading


def parse_resent(text: str) -> int | None:
    """TCP segments sent again, of ``netstat -s -p tcp``; None where it counts nothing, as it may unless root asks."""
    sent = re.search(r"^\s*([0-9]{1,19}) packets? sent$", text, re.MULTILINE)
    resent = re.search(r"^\s*([0-9]{1,19}) data packets? \([0-9]+ bytes?\) retransmitted$", text, re.MULTILINE)
    return count(resent[1]) if sent and resent and count(sent[1]) else None


def _reading(tables: Tables, interface: str, at_s: float) -> Reading:
    row = next((row for _, row in _rows(tables.get("netstat", ()))), None)
    net = {name: count(row[column]) for name, column in NET.items()} if row else {}
    return Reading(at_s=at_s, net=net, processes=_processes(tables))


def _add_memory(reading: Reading, tables: Tables) -> Reading:
    memory = parse_memory("\n".join(tables.get("vm_stat", ())))
    return replace(reading, available_bytes=memory.available_bytes, swapped_bytes=memory.swapped_bytes)


def _processes(tables: Tables) -> dict[tuple[int, int], Process]:
    """CPU time of each process in rows ``PID MINUTES:SECONDS NAME`` of ps, which leaves out the kernel's own.

    Their starts are taken as one: macOS gives a number again only after all others up to 99999. What is no such row
    belongs to a name with a line break in it.
    """
    rows = (
        re.fullmatch(r" *([0-9]{1,10}) +([0-9]{1,9}):([0-9]{2}\.[0-9]{2}) +(\S.*)", line)
        for line in tables.get("ps", ())
    )
    return {
        (count(row[1]), 0): Process(first_line(row[4], NAME_LENGTH), 60 * count(row[2]) + quantity(row[3]))
        for row in rows
        if row
    }


def _rows(lines: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each interface and its row <Link#N> by columns, counted from the right: the address may be missing."""
    head, *rows = [line.split() for line in lines] or [[]]
    for fields in rows:
        if any(re.fullmatch("<Link#[0-9]+>", field) for field in fields):
            row = dict(zip(reversed(head), reversed(fields), strict=False))
            if not row.keys() >= set(NET.values()):
                raise ValueError(f"no counts in what netstat printed: {' '.join(fields)!r:.80}")
            yield fields[0].removesuffix("*"), row


def _others(tables: Tables, interface: str) -> dict[str, Moved]:
    """What each other interface has sent and received; 10.6 to 10.9 cut names at 5 characters."""
    return {
        name: Moved(count(row["Obytes"]), count(row["Ibytes"]))
        for name, row in _rows(tables.get("interfaces", ()))
        if name not in ("lo0", interface, interface[:5])
    }


def _shares(tables: Tables) -> tuple[int, int, int]:
    """Percent of the time of programs, of the kernel and of nothing, of a row of iostat: between disks and loads."""
    fields = " ".join(tables.get("iostat", ())).split()
    if len(fields) < 6:
        raise ValueError("no row of iostat")
    user, system, idle = map(count, fields[-6:-3])
    return user, system, idle


COUNT_TCP = ("netstat", "-s", "-p", "tcp")


class MacClock(Clock):
    """Times and counts on a Mac. One of the sampler's four readings a second has the cores, by iostat."""

    counts = read_script(__file__, "counts.pl")
    sampler = read_script(__file__, "sampler.pl")
    parse_counters = staticmethod(parse_counters)
    parse_samples = staticmethod(parse_samples)

    def counters(self, interface: str) -> Counters:
        """Retransmits are read as root, because macOS tells nobody else."""
        return replace(super().counters(interface), retransmits=self._count_resent())

    def time_transfer(
        self, interface: str, flush: str, argv: Sequence[str], deadline_s: float, server: MountServer | None = None
    ) -> Timing:
        """Retransmits are read as root, but the transfer does not run as root."""
        before = self._count_resent()
        timing = super().time_transfer(interface, flush, argv, deadline_s, server)
        return replace(timing, counted=replace(timing.counted, retransmits=grown(self._count_resent(), before)))

    def _count_resent(self) -> int | None:
        return parse_resent(self.host.run(*COUNT_TCP, root=True).stdout)
