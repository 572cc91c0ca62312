"""What both hosts counted during one transfer: the key ``observed`` of a line of trials.jsonl.

A key is absent where a host does not count it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class HostUsage(JsonObject):
    """What one host did from the first reading of its counters to the last one.

    Averages are of these two alone, so they are exact; peaks and the least memory rest on the samples between them.
    """

    cores: int | None = None
    """Cores of the host."""
    cpu_cores: float | None = None
    """CPU seconds of the host's control group a second: how many cores were in use on average."""
    throttled_s: float | None = None
    """Seconds that a quota kept the host's control group off the CPU."""
    waited_s: float | None = None
    """Seconds that something in the control group was ready to run while every core was taken."""
    user: float | None = None
    """Share (0 to 1) of the time of all cores that went to programs."""
    system: float | None = None
    """Share (0 to 1) of the time of all cores that went to the kernel."""
    softirq: float | None = None
    """Share (0 to 1) of the time of all cores that went to interrupts, most of all those of the network."""
    iowait: float | None = None
    """Share (0 to 1) of the time of all cores that was idle while a disk was waited for."""
    steal: float | None = None
    """Share (0 to 1) of the time of all cores that the hypervisor gave to another guest."""
    core_mean: float | None = None
    """Share (0 to 1) of its time that the busiest core was busy, over the whole transfer."""
    core_peak: float | None = None
    """Share (0 to 1) of its time that any core was busy at most, over at least 0.5 s."""
    process: str | None = None
    """Name of the process that used most CPU time."""
    process_mean: float | None = None
    """CPU seconds a second of that process: how many cores it used while it was seen."""
    tx_bytes: int | None = None
    """Bytes that left through the data interface."""
    rx_bytes: int | None = None
    """Bytes that arrived through the data interface."""
    tx_errors: int | None = None
    """Packets that the data interface could not send."""
    rx_errors: int | None = None
    """Packets that arrived damaged at the data interface."""
    peak_bytes_per_s: int | None = None
    """Bytes a second through the data interface at most, of the busier direction, over at least 0.5 s."""
    disk_read_bytes: int | None = None
    """Bytes read from all disks of the host."""
    disk_written_bytes: int | None = None
    """Bytes written to all disks of the host."""
    disk_busy: float | None = None
    """Share (0 to 1) of the time that the busiest disk had something to do."""
    memory_least_bytes: int | None = None
    """Bytes of memory that were available at the least."""
    swapped_bytes: int | None = None
    """Bytes written to swap."""
    samples: int | None = None
    """Readings between the first and the last one."""
    tool_cpu_s: float | None = None
    """CPU seconds of the tool and all that it started; on the client only."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class TcpFacts(JsonObject):
    """The connection that carried the payload, as its sender saw it last; counts are of this transfer alone."""

    age_s: float | None = None
    """Seconds before the end of the transfer that the connection was seen last."""
    congestion: str | None = None
    """Name of the congestion control, such as ``cubic``."""
    mss: int | None = None
    """Bytes of a segment without headers, at most."""
    pmtu: int | None = None
    """MTU of the path in bytes, as the sender knows it."""
    rtt_ms: float | None = None
    """Round-trip time in milliseconds, smoothed."""
    min_rtt_ms: float | None = None
    """Least round-trip time in milliseconds."""
    cwnd: int | None = None
    """Congestion window in segments."""
    ssthresh: int | None = None
    """Slow start threshold in segments."""
    window_bytes: int | None = None
    """Bytes that the receiver will take at once: its window."""
    sent_bytes: int | None = None
    """Bytes sent, those that were sent again included."""
    acked_bytes: int | None = None
    """Bytes that the receiver acknowledged."""
    retransmits: int | None = None
    """Segments sent again."""
    delivery_bytes_per_s: int | None = None
    """Bytes a second that arrived last, as the sender estimates it."""
    busy_ms: int | None = None
    """Milliseconds that there was something to send."""
    rwnd_limited_ms: int | None = None
    """Milliseconds of ``busy_ms`` that the sender waited for the receiver's window."""
    sndbuf_limited_ms: int | None = None
    """Milliseconds of ``busy_ms`` that the sender waited for room in its own buffer."""
    received_bytes: int | None = None
    """Bytes that the receiver got."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class WireFacts(JsonObject):
    """Bytes on the wire against the payload, and what one host sent against what the other one received."""

    overhead: float | None = None
    """Bytes on the wire in the payload's direction over the payload, less one."""
    lost_bytes: int | None = None
    """Bytes sent less bytes received, in the payload's direction."""
    reverse_lost_bytes: int | None = None
    """Bytes sent less bytes received, in the other direction."""
    least_overhead: float | None = None
    """What ``overhead`` would be if headers of TCP, IP and Ethernet were all that is added."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class Observed(JsonObject):
    """What both hosts counted during one transfer."""

    client: HostUsage | None = None
    """What the client did."""
    server: HostUsage | None = None
    """What the server did."""
    tcp: TcpFacts | None = None
    """The connection that carried the payload; empty where none was seen."""
    wire: WireFacts | None = None
    """Bytes on the wire against the payload."""
    remarks: tuple[str, ...] | None = None
    """What was odd but does not void the trial: a sentence each."""
    store_ceiling_bytes_per_s: int | None = None
    """Bytes a second that the server's disk took or gave by itself, measured in the same block."""
    store_ceiling_disk_bytes: int | None = None
    """Bytes that the server's disks moved while that was measured."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""

    def of(self, role: str) -> HostUsage | None:
        """What the host of this role did."""
        return {"client": self.client, "server": self.server}[role]
