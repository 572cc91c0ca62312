"""TCP connections as ``ss -tmin`` of iproute2 prints them. Old versions lack fields; the names are tcp_info's."""

import re
from collections.abc import Iterable

from lab.base.untrusted import count, quantity
from lab.platforms.readings import Connection

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
        delivery_bytes_per_s=round(quantity(rate[1]) * POWERS[rate[2]] / 8) if rate else None,
        busy_ms=milliseconds("busy"),
        rwnd_limited_ms=milliseconds("rwnd_limited"),
        sndbuf_limited_ms=milliseconds("sndbuf_limited"),
    )
    rcvbuf, sndbuf = (count(buffers[1]), count(buffers[2])) if buffers else (None, None)
    return Connection(local, peer, facts, rcvbuf, sndbuf)
