"""The data link between two hosts, or from each of several to a switch: veth pairs, shaped with tbf, delayed with netem
or by a relay."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lab.base.errors import BadInput, LabFailure
from lab.base.present import present
from lab.local import syscalls
from lab.local.names import split_word
from lab.local.state import DATA_INTERFACE, HOSTS
from lab.local.subprocesses import check, run, run_inside

# With offloads off, frames are as long as the MTU says, as on a real link
OFFLOADS = ("tso", "off", "gso", "off", "gro", "off")
SWITCH = Path(__file__).with_name("switch.sh")
DEFAULT_RATE = "1gbit"
PORT_MTU = 65521  # the largest of a TAP: hosts decide how long frames are


class End(NamedTuple):
    """One end of a link: a device in the network of the process ``pid``."""

    pid: int
    device: str = DATA_INTERFACE


class Shape(NamedTuple):
    """What the way between two hosts is like: the rate of each host's link, as tc takes it, and the delay each way."""

    rates: Mapping[str, str]
    delay_s: float

    @property
    def delay_of_link_s(self) -> float:
        """That of one link, of which there are two on the way where there is a switch."""
        return self.delay_s if len(self.rates) == len(HOSTS) else self.delay_s / 2


def check_rate(rate: str) -> str:
    """``rate`` as tc takes it, or ``none``. Raises :class:`BadInput`."""
    if rate != "none" and not re.fullmatch(r"[1-9]\d*(\.\d+)?[kmg]?bit", rate):
        raise BadInput(f"--rate {rate!r} is no rate", "give one such as 1gbit, 940mbit or 100mbit, or none")
    return rate


def delay_seconds(delay: str) -> float:
    """Seconds of ``none``, ``500us`` or ``1ms``: the delay of one direction. Raises :class:`BadInput`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", delay)
    if delay != "none" and match is None:
        raise BadInput(
            f"--delay {delay!r} is no delay", "give that of one direction, such as 500us, 1ms or 0.1s, or none"
        )
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[match[2]] if match else 0.0


def parse_rates(words: Sequence[str], hosts: Sequence[str], default: str) -> dict[str, str]:
    """The rate of each of these hosts' links, of words such as ``1gbit`` and ``server=10gbit``. Raises BadInput."""
    rates = dict.fromkeys(hosts, default)
    for word in words:
        host, rate = split_word("--rate", word, hosts)
        rates |= dict.fromkeys([host] if host else hosts, check_rate(rate))
    return rates


def connect(pids: Mapping[str, int], shape: Shape) -> list[subprocess.Popen[bytes]]:
    """Make the link between two hosts, or from each of several to a switch.

    Returns its processes: the switch, and the relays that delay links, where the kernel has no netem.
    """
    if len(pids) == len(HOSTS):
        return _link(End(pids["client"]), End(pids["server"]), shape.delay_of_link_s)
    switch = _start(["unshare", "--net", "--", "/bin/sh", str(SWITCH)], "the switch between its hosts")
    processes = [switch]
    for number, (host, pid) in enumerate(pids.items(), 1):
        port = End(switch.pid, f"port-{number}")
        processes += _link(End(pid), port, shape.delay_of_link_s)
        command = ("ip", "link", "set", "dev", port.device, "mtu", str(PORT_MTU), "master", "switch", "up")
        check(run_inside(port.pid, *command))
        shape_end(port, shape.rates[host], shape.delay_of_link_s)
    return processes


def _link(one: End, other: End, delay_s: float) -> list[subprocess.Popen[bytes]]:
    """Make a link; returns the relay that delays it, where the kernel has no netem."""
    if delay_s > 0 and not _has_netem(one.pid):
        words = [sys.executable, "-m", "lab.local.delay_relay", str(one.pid), one.device, str(other.pid), other.device]
        return [
            _start([*words, repr(delay_s)], "the relay that delays the link", "it needs /dev/net/tun: `modprobe tun`")
        ]
    peer = ["peer", "name", other.device, "netns", str(other.pid)]
    command = ["ip", "link", "add", one.device, "type", "veth", *peer]
    check(run("nsenter", "--target", str(one.pid), "--net", *command))
    return []


def shape_end(end: End, rate: str, delay_s: float) -> None:
    """Give an end of a link its rate and delay; without offloads."""
    run_inside(end.pid, "ethtool", "-K", end.device, *OFFLOADS)  # fails on a TAP, which has none
    netem_delay_s = delay_s if delay_s > 0 and _has_netem(end.pid) else 0.0
    add = ["tc", "qdisc", "add", "dev", end.device]
    if netem_delay_s > 0:
        netem = ["netem", "delay", f"{netem_delay_s * 1e6:.0f}us", "limit", "20000"]
        check(run_inside(end.pid, *add, "root", "handle", "1:", *netem))
    if rate != "none":
        parent = ["parent", "1:"] if netem_delay_s > 0 else ["root"]
        check(run_inside(end.pid, *add, *parent, "tbf", "rate", rate, "burst", "256kb", "latency", "20ms"))


def move(network: int, pid: int) -> None:
    """Move a host's end of the link, as a card is moved, from a network (a descriptor of it) to that of ``pid``.

    The far end keeps its settings, and sees no more than that the link was down.
    """
    command = ("ip", "link", "set", "dev", DATA_INTERFACE, "netns", str(pid))
    check(run("nsenter", f"--net=/proc/self/fd/{network}", *command, descriptors=(network,)))


def _has_netem(pid: int) -> bool:
    probe = run_inside(pid, "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1us")
    if probe.returncode == 0:
        check(run_inside(pid, "tc", "qdisc", "del", "dev", "lo", "root"))
    return probe.returncode == 0


def _start(command: Sequence[str], what: str, remedy: str = "") -> subprocess.Popen[bytes]:
    """A process that lives as long as this one, and has said that it is ready. Raises LabFailure."""
    process = subprocess.Popen(  # noqa: S603 – this Python or a script of the lab's, with numbers and names of devices
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=partial(syscalls.die_with_parent, os.getpid()),
    )  # fmt: skip
    if present(process.stdout).readline() != b"ready\n":
        raise LabFailure(f"local lab: {what} did not start", remedy)
    return process
