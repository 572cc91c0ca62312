"""TCP connections as ``ss -tmin`` of iproute2 prints them. Old versions lack fields; the names are tcp_info's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from lab.base.untrusted import count, quantity
from lab.platforms.readings import Connection

ENDS = re.compile(r"[A-Z][A-Z0-9-]* +[0-9]+ +[0-9]+ +([!-~]{1,80}:[0-9]+) +([!-~]{1,80}:[0-9]+)(\s|$)")
BUFFERS = re.compile(r"skmem:\(r[0-9]+,rb([0-9]+),t[0-9]+,tb([0-9]+)[,)]")
CONGESTION = re.compile(r"(?:^|\s)([a-z][a-z0-9_-]{1,15}) (?:wscale|rto|rtt):")
RATE = re.compile(r"\sdelivery_rate ([0-9.]{1,20})([KMG]?)bps")
POWERS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def _milliseconds(value: str) -> int:
    return count(value.partition("ms")[0])


# of ss, what it is here, and what reads it
FIELDS: dict[str, tuple[str, Callable[[str], float]]] = {
    "mss": ("mss", count),
    "pmtu": ("pmtu", count),
    "rtt": ("rtt_ms", lambda value: quantity(value.partition("/")[0])),
    "minrtt": ("min_rtt_ms", quantity),
    "cwnd": ("cwnd", count),
    "ssthresh": ("ssthresh", count),
    "snd_wnd": ("window_bytes", count),
    "bytes_sent": ("sent_bytes", count),
    "bytes_acked": ("acked_bytes", count),
    "bytes_received": ("received_bytes", count),
    "retrans": ("retransmits", lambda value: count(value.rpartition("/")[2])),
    "busy": ("busy_ms", _milliseconds),
    "rwnd_limited": ("rwnd_limited_ms", _milliseconds),
    "sndbuf_limited": ("sndbuf_limited_ms", _milliseconds),
}
# tcp_info has counted these since Linux 4.9; ss leaves out what is zero, and says ``busy`` of none that never sent
ZERO_IF_BUSY = ("rwnd_limited_ms", "sndbuf_limited_ms", "retransmits")


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
                connections.append(Connection(ends[1], ends[2], **_facts(line)))
            ends = None
        else:
            ends = ENDS.match(line)
    return tuple(connections)


def _facts(line: str) -> dict[str, Any]:
    """What the second line about a connection says of it."""
    facts: dict[str, Any] = {}
    for token in line.split():
        key, _, value = token.partition(":")
        if key in FIELDS and value:
            name, read = FIELDS[key]
            facts[name] = read(value)
    if buffers := BUFFERS.search(line):
        facts["rcvbuf"], facts["sndbuf"] = count(buffers[1]), count(buffers[2])
    if congestion := CONGESTION.search(line):
        facts["congestion"] = congestion[1]
    if rate := RATE.search(line):
        facts["delivery_bytes_per_s"] = round(quantity(rate[1]) * POWERS[rate[2]] / 8)
    if "busy_ms" in facts:
        facts = dict.fromkeys(ZERO_IF_BUSY, 0) | facts
    return facts
