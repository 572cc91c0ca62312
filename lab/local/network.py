"""The data link between the two hosts: a veth pair, shaped with tbf, delayed with netem or by a relay."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial

from lab.base.errors import BadInput, LabFailure
from lab.base.present import present
from lab.local import syscalls
from lab.local.state import DATA_INTERFACE
from lab.local.subprocesses import check, run, run_inside

# With offloads off, frames are as long as the MTU says, as on a real link
OFFLOADS = ("tso", "off", "gso", "off", "gro", "off")


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


def connect(pids: Mapping[str, int], delay_s: float) -> list[subprocess.Popen[bytes]]:
    """Make the link; returns its processes: the relay that delays it, where the kernel has no netem."""
    if delay_s > 0 and not _has_netem(pids["client"]):
        return [_start_delay_relay(pids, delay_s)]
    peer = ["peer", "name", DATA_INTERFACE, "netns", str(pids["server"])]
    command = ["ip", "link", "add", DATA_INTERFACE, "type", "veth", *peer]
    check(run("nsenter", "--target", str(pids["client"]), "--net", *command))
    return []


def shape(pid: int, rate: str, delay_s: float) -> None:
    """Give an end of the link its rate and delay; without offloads."""
    run_inside(pid, "ethtool", "-K", DATA_INTERFACE, *OFFLOADS)  # fails on a TAP, which has none
    netem_delay_s = delay_s if delay_s > 0 and _has_netem(pid) else 0.0
    add = ["tc", "qdisc", "add", "dev", DATA_INTERFACE]
    if netem_delay_s > 0:
        check(
            run_inside(
                pid, *add, "root", "handle", "1:", "netem", "delay", f"{netem_delay_s * 1e6:.0f}us", "limit", "20000"
            )
        )
    if rate != "none":
        parent = ["parent", "1:"] if netem_delay_s > 0 else ["root"]
        check(run_inside(pid, *add, *parent, "tbf", "rate", rate, "burst", "256kb", "latency", "20ms"))


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


def _start_delay_relay(pids: Mapping[str, int], delay_s: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lab.local.delay_relay", str(pids["client"]), str(pids["server"]), repr(delay_s)]
    process = subprocess.Popen(  # noqa: S603 – this Python, with numbers
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=partial(syscalls.die_with_parent, os.getpid()),
    )  # fmt: skip
    if present(process.stdout).readline() != b"ready\n":
        raise LabFailure(
            "local lab: the relay that delays the link did not start", "it needs /dev/net/tun: `modprobe tun`"
        )
    return process
