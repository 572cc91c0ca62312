"""The data link between two hosts, or hosts and a switch: veth pairs, shaped by tbf, delayed by netem or a relay."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.base.errors import BadInput, LabFailure
from lab.base.own_python import PYTHON
from lab.base.present import present
from lab.local import syscalls
from lab.local.names import split_word
from lab.local.state import DATA_INTERFACE, HOSTS
from lab.local.subprocesses import check, run, run_inside

# Without offloads frames have the length of the MTU, as on a real link
OFFLOADS = ("tso", "off", "gso", "off", "gro", "off")
SWITCH = Path(__file__).with_name("switch.sh")
DEFAULT_RATE = "1gbit"
PORT_MTU = 65521  # the largest MTU of a TAP: hosts decide the length of frames
RATE = re.compile(r"([1-9]\d*(?:\.\d+)?)([kmg]?)bit")
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}  # of a rate's bit/s
# Bytes of a frame on Ethernet besides header and content: preamble 8, check sequence 4, gap 12 (IEEE 802.3)
ETHERNET_OVERHEAD_BYTES = 24
# The second bucket of tbf lets frames follow each other at this multiple of the rate. Delays of its timer beyond
# SLACK_S are lost, so with 1.0 the link would always be slower than its rate.
PEAK = 1.05
SLACK_S = 20e-6
LARGEST_FRAME_BYTES = 9216 + 14 + ETHERNET_OVERHEAD_BYTES  # the usual limit of switches: MTU 9216


class End(NamedTuple):
    """One end of a link: a device in the network of the process ``pid``."""

    pid: int
    device: str = DATA_INTERFACE


class Shape(NamedTuple):
    """The rate of each host's link, as tc takes it, and the delay each way between two hosts."""

    rates: Mapping[str, str]
    delay_s: float

    @property
    def delay_of_link_s(self) -> float:
        """The delay of one link; with a switch there are two links between two hosts."""
        return self.delay_s if len(self.rates) == len(HOSTS) else self.delay_s / 2


def bits_per_second(rate: str) -> float:
    """A rate in bit/s; 0.0 for ``none``, which is no limit."""
    match = RATE.fullmatch(rate)
    return float(match[1]) * UNITS[match[2]] if match else 0.0


def delay_seconds(delay: str) -> float:
    """Seconds of ``none``, ``500us`` or ``1ms``: the delay of one direction. Raises :class:`BadInput`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", delay)
    if delay != "none" and match is None:
        problem = f"--delay {delay!r} is no delay"
        raise BadInput(problem, "give that of one direction, such as 500us, 1ms or 0.1s, or none")
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[match[2]] if match else 0.0


def parse_rates(words: Sequence[str], hosts: Sequence[str], default: str) -> dict[str, str]:
    """The rate of each host's link from words such as ``1gbit`` and ``server=10gbit``. Raises BadInput."""
    rates = dict.fromkeys(hosts, default)
    for word in words:
        host, rate = split_word("--rate", word, hosts)
        if rate != "none" and not RATE.fullmatch(rate):
            raise BadInput(f"--rate {rate!r} is no rate", "give one such as 1gbit, 940mbit or 100mbit, or none")
        rates |= dict.fromkeys([host] if host else hosts, rate)
    return rates


def connect(pids: Mapping[str, int], shape: Shape, group: Path | None) -> list[subprocess.Popen[bytes]]:
    """Make the link between two hosts, or links to a switch; returns its processes, relays in ``group``."""
    if len(pids) == len(HOSTS):
        rates = shape.rates["client"], shape.rates["server"]
        return _link(End(pids["client"]), End(pids["server"]), rates, shape.delay_of_link_s, group)
    switch = _start(["unshare", "--net", "--", "/bin/sh", str(SWITCH)], "the switch between its hosts")
    processes = [switch]
    for number, (host, pid) in enumerate(pids.items(), 1):
        port = End(switch.pid, f"port-{number}")
        processes += _link(End(pid), port, (shape.rates[host], shape.rates[host]), shape.delay_of_link_s, group)
        command = ("ip", "link", "set", "dev", port.device, "mtu", str(PORT_MTU), "master", "switch", "up")
        check(run_inside(port.pid, *command))
        shape_end(port, shape.rates[host], shape.delay_of_link_s)
    return processes


def _link(
    near: End, far: End, rates: tuple[str, str], delay_s: float, group: Path | None
) -> list[subprocess.Popen[bytes]]:
    """Make a link whose ends send at these rates; returns the relay that delays it if the kernel has no netem."""
    if delay_s > 0 and not _has_netem(near.pid):
        ends = [str(near.pid), near.device, str(far.pid), far.device]
        times = [repr(delay_s), *(repr(bits_per_second(rate)) for rate in rates)]
        words = [*PYTHON, "-m", "lab.local.delay_relay", *ends, *times]
        return [_start(words, "the relay that delays the link", "it needs /dev/net/tun: `modprobe tun`", group)]
    command = ["ip", "link", "add", near.device, "type", "veth", "peer", "name", far.device, "netns", str(far.pid)]
    check(run("nsenter", "--target", str(near.pid), "--net", *command))
    return []


def shape_end(end: End, rate: str, delay_s: float) -> None:
    """Set rate and delay of an end of a link, and switch offloads off."""
    run_inside(end.pid, "ethtool", "-K", end.device, *OFFLOADS)  # fails on a TAP, which has none
    netem = delay_s > 0 and _has_netem(end.pid)
    add = ["tc", "qdisc", "add", "dev", end.device]
    if netem:
        words = ["netem", "delay", f"{delay_s * 1e6:.0f}us", "limit", "20000"]
        check(run_inside(end.pid, *add, "root", "handle", "1:", *words))
    if rate != "none":
        parent = ["parent", "1:"] if netem else ["root"]
        check(run_inside(end.pid, *add, *parent, *token_bucket(rate, relayed=delay_s > 0 and not netem)))


def token_bucket(rate: str, relayed: bool) -> list[str]:
    """The tbf of one end of a link, in the words of tc.

    A bucket of 256 kB keeps the rate although its timer is sometimes late, but after a pause it lets 256 kB pass at
    once. So a second, small bucket spaces the frames (``peakrate``), unless a relay does so.
    """
    words = ["tbf", "rate", rate, "burst", "256kb", "latency", "20ms", "overhead", str(ETHERNET_OVERHEAD_BYTES)]
    if relayed:
        return words
    peak = PEAK * bits_per_second(rate)
    return [*words, "peakrate", f"{peak:.0f}bit", "minburst", f"{LARGEST_FRAME_BYTES + peak / 8 * SLACK_S:.0f}"]


def move(network: int, pid: int) -> None:
    """Move a host's end of the link to another network; the far end keeps its settings and only sees it go down."""
    command = ("ip", "link", "set", "dev", DATA_INTERFACE, "netns", str(pid))
    check(run("nsenter", f"--net=/proc/self/fd/{network}", *command, descriptors=(network,)))


def _has_netem(pid: int) -> bool:
    probe = run_inside(pid, "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1us")
    if probe.returncode == 0:
        check(run_inside(pid, "tc", "qdisc", "del", "dev", "lo", "root"))
    return probe.returncode == 0


def _start(command: Sequence[str], title: str, remedy: str = "", group: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a process that ends with this one, and wait until it is ready. Raises LabFailure."""
    parent = os.getpid()

    def before_exec() -> None:
        syscalls.die_with_parent(parent)
        if group is not None:
            (group / "cgroup.procs").write_text("0")

    process = subprocess.Popen(  # noqa: S603 – this Python or a script of the lab's, with numbers and names of devices
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=before_exec
    )
    if present(process.stdout).readline() != b"ready\n":
        raise LabFailure(f"local lab: {title} did not start", remedy)
    return process
