"""What both hosts counted during one transfer: the key ``observed`` of a line of trials.jsonl.

A key is absent where a host does not count it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.results.bonnie import Bonnie
from lab.results.json_object import JsonObject
from lab.results.together import Together


@dataclass(frozen=True, kw_only=True)
class HostUsage(JsonObject):
    """What one host counted from right before to right after the transfer. A share is from 0 to 1.

    Averages are of these two readings alone, so they are exact; peaks and the least memory rest on the samples between
    them. On macOS shares are of the seconds that lie wholly within the transfer.
    """

    cores: int | None = None
    """Cores of the host."""
    cpu_cores: float | None = None
    """Cores that the host's control group used on average."""
    link_cores: float | None = None
    """Cores that carried the link of a local lab, where a process delays that."""
    throttled_s: float | None = None
    """Seconds that a quota kept its processes off the cores."""
    waited_s: float | None = None
    """Seconds that something of it was ready to run and got no core."""
    user: float | None = None
    """Share of all cores' time in programs, nice ones included."""
    system: float | None = None
    """Share of all cores' time in the kernel, on macOS with interrupts."""
    softirq: float | None = None
    """Share of all cores' time in interrupts, most of all those of the network."""
    iowait: float | None = None
    """Share of all cores' time that was idle while a disk was waited for."""
    steal: float | None = None
    """Share of all cores' time that the hypervisor gave to another guest."""
    core_mean: float | None = None
    """Share of its time that the busiest core was not free, on average."""
    core_peak: float | None = None
    """Share of its time that any core was not free at most, over at least 0.5 s."""
    process: str | None = None
    """Name of the process that used most CPU time."""
    process_mean: float | None = None
    """Cores that it used while it was seen; 1.0 is a program of one thread that could do no more."""
    tx_bytes: int | None = None
    """Bytes that left through the data interface."""
    rx_bytes: int | None = None
    """Bytes that arrived through the data interface."""
    tx_errors: int | None = None
    """Packets that the data interface could not send; on macOS."""
    rx_errors: int | None = None
    """Packets that arrived damaged at the data interface; on macOS."""
    peak_bytes_per_s: int | None = None
    """Bytes a second through the data interface at most, in the busier direction, over at least 0.5 s."""
    disk_read_bytes: int | None = None
    """Bytes read from all disks of the host."""
    disk_written_bytes: int | None = None
    """Bytes written to all disks of the host."""
    disk_busy: float | None = None
    """Share of the time that the busiest disk had something to do."""
    memory_least_bytes: int | None = None
    """The least memory that programs could still get."""
    swapped_bytes: int | None = None
    """Bytes written to swap; on macOS."""
    samples: int | None = None
    """Readings between the first and the last one."""
    wifi_bits_per_s: int | None = None
    """Where the data link is Wi-Fi: the rate at which its radio sent right after the transfer."""
    wifi_signal_dbm: int | None = None
    """Strength of what it received then, in dBm."""
    wifi_noise_dbm: int | None = None
    """Noise that it received then, in dBm."""
    tool_cpu_s: float | None = None
    """Of the client: CPU seconds of the tool and all that it started."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class TcpFacts(JsonObject):
    """The connection that carried the payload, as its sender saw it last; counts are of this transfer alone."""

    age_s: float | None = None
    """How many seconds before the end it was seen last."""
    congestion: str | None = None
    """Congestion control, such as ``cubic``."""
    mss: int | None = None
    """Most bytes of a segment, without headers."""
    pmtu: int | None = None
    """MTU of the path in bytes, as the sender knows it."""
    rtt_ms: float | None = None
    """Round-trip time in milliseconds, smoothed."""
    min_rtt_ms: float | None = None
    """Least round-trip time in milliseconds."""
    rtt_median_ms: float | None = None
    """Median of ``rtt_ms`` over all samples: the round trip under this transfer's own load."""
    cwnd: int | None = None
    """Congestion window in segments."""
    ssthresh: int | None = None
    """Slow start threshold in segments."""
    window_bytes: int | None = None
    """The receiver's window in bytes."""
    sent_bytes: int | None = None
    """Bytes sent, those that were sent again included."""
    acked_bytes: int | None = None
    """Bytes that the receiver acknowledged."""
    retransmits: int | None = None
    """Segments sent again."""
    data_segs_in: int | None = None
    """Segments with data that came against the payload: each request for a part of a file, or each reply, is at least
    one."""
    data_segs_out: int | None = None
    """Segments with data that were sent."""
    delivery_bytes_per_s: int | None = None
    """The kernel's latest estimate of the speed."""
    busy_ms: int | None = None
    """Time with something to send."""
    rwnd_limited_ms: int | None = None
    """Of ``busy_ms``: waiting for the receiver's window."""
    sndbuf_limited_ms: int | None = None
    """Of ``busy_ms``: waiting for room in the sender's buffer."""
    received_bytes: int | None = None
    """Bytes that the receiver got."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class WireFacts(JsonObject):
    """Bytes on the wire against the payload, and what one host sent against what the other one received."""

    overhead: float | None = None
    """Bytes on the wire / payload − 1, in the payload's direction."""
    lost_bytes: int | None = None
    """Bytes sent less bytes received, in the payload's direction."""
    reverse_lost_bytes: int | None = None
    """The same in the other direction."""
    least_overhead: float | None = None
    """What the [headers of TCP, IP and Ethernet](../explanation/methods.md#wire-bytes) alone come to."""
    before_first_byte_s: float | None = None
    """Seconds from the start of the tool to the first byte of the payload on the wire, as the client's samples tell."""
    after_last_byte_s: float | None = None
    """Seconds from the last byte of the payload on the wire to the end, flush included."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class RateStep(JsonObject):
    """A stretch of the transfer in which the rate on the wire was clearly another one than before and after it."""

    begin_s: float | None = None
    """Seconds from the start of the tool to its begin."""
    end_s: float | None = None
    """Seconds from the start of the tool to its end."""
    bytes_per_s: int | None = None
    """The rate in it."""
    else_bytes_per_s: int | None = None
    """The rate outside of it, while the payload was on the wire."""
    changed: tuple[str, ...] | None = None
    """What else was different meanwhile on the client and on the server."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class RequestsOneWay(JsonObject):
    """The reads, or the writes, of a tool that times each request by itself: from submission to completion.

    Those of the tool ``metadata`` are its calls, one a file or, of the phase ``list``, one a folder.
    """

    requests: int | None = None
    """How many there were."""
    bytes: int | None = None
    """Bytes that they moved; absent of calls, which move none."""
    runtime_s: float | None = None
    """Seconds from the first to the last, by the tool's own clock: without its start, and without the flush."""
    iops: float | None = None
    """Requests per second of ``runtime_s``."""
    bytes_per_s: int | None = None
    """Bytes per second of ``runtime_s``; absent of calls."""
    p50_ms: float | None = None
    """Median of their times in milliseconds."""
    p95_ms: float | None = None
    """95 % of them took no longer."""
    p99_ms: float | None = None
    """99 % of them took no longer."""
    p999_ms: float | None = None
    """99.9 % of them took no longer."""
    longest_ms: float | None = None
    """What the longest took."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class Requests(JsonObject):
    """The requests of a tool that times each by itself; names that are listed are read, and all others written."""

    read: RequestsOneWay | None = None
    """Its reads; absent where there were none."""
    write: RequestsOneWay | None = None
    """Its writes; absent where there were none."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class FrameFacts(JsonObject):
    """What became of the frames of video that were played or captured at their time."""

    streams: int | None = None
    """How many streams played at once."""
    frames: int | None = None
    """The frames of all streams."""
    late: int | None = None
    """Those that were not there before the turn of the next: dropped by a player that reads nothing ahead."""
    worst_late_s: float | None = None
    """By how many seconds the worst of them was late: what a player would have to read ahead."""
    most_streams: int | None = None
    """Where that was looked for, the highest number of streams without a late frame; 0: not even one."""
    tried: tuple[str, ...] | None = None
    """The numbers of streams that were tried for it, in order, each with its late frames: ``8: 0 of 400 late``."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class Observed(JsonObject):
    """What both hosts counted during one transfer."""

    client: HostUsage | None = None
    """What the client counted; of several, the first."""
    server: HostUsage | None = None
    """What the server counted."""
    tcp: TcpFacts | None = None
    """The connection that carried the payload; empty where none was seen."""
    wire: WireFacts | None = None
    """The wire against the payload."""
    rate_step: RateStep | None = None
    """A step in the rate inside the transfer; absent where there was none, or the transfer took less than 4 s."""
    requests: Requests | None = None
    """With the tools ``fio`` and ``metadata``: their requests."""
    bonnie: Bonnie | None = None
    """Of the store by itself with the tool ``bonnie++``: its tests."""
    frames: FrameFacts | None = None
    """With the tool ``frames``: its frames."""
    together: Together | None = None
    """With several clients: their parts."""
    remarks: tuple[str, ...] | None = None
    """Sentences on what is odd and does not void the trial."""
    flush_s: float | None = None
    """Of ``elapsed_s``: seconds that the client took, after the tool had ended, to flush what it wrote; absent where it
    flushed nothing, and in older runs."""
    mount_tries: int | None = None
    """How often the share was mounted until it stood, or was given up; where once was not enough."""
    carrier_changes: int | None = None
    """How often the link of a host went up or down during the transfer, of all hosts; where one did."""
    store_capacity_bytes: int | None = None
    """Of a file system that the lab made for the trial: bytes that it had room for while it was empty."""
    store_read_bytes: int | None = None
    """Of such a file system that counts it (``zfs``): bytes that it read from its devices; next to none from a warm
    server."""
    store_written_bytes: int | None = None
    """Of the same: bytes that it wrote to its devices, with what it wrote after the end: parity, copies, padding and
    its own records included."""
    store_ceiling_bytes_per_s: int | None = None
    """With store ``disk`` or a file system that the lab made: the [store's
    ceiling](../explanation/methods.md#ceilings) in this direction, at the levels of its own options, the median of the
    shots of its block."""
    store_ceiling_spread: float | None = None
    """How far the fastest and the slowest of these shots lie apart, as a share of the median."""
    store_ceiling_size_bytes: int | None = None
    """Bytes of one of these shots; absent in older runs: those of the payload."""
    store_ceiling_disk_bytes: int | None = None
    """Bytes that the server's disks moved in the shot that is the median."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""

    def of(self, role: str) -> HostUsage | None:
        """What the host of this role did."""
        return {"client": self.client, "server": self.server}[role]
