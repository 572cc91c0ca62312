"""What both hosts counted during one transfer: the key ``observed`` in trials.jsonl. Uncounted keys are absent."""

from dataclasses import dataclass

from lab.results.json_object import JsonObject
from lab.results.together import Together


@dataclass(frozen=True, kw_only=True)
class HostUsage(JsonObject):
    """What one host counted from right before to right after the transfer. A share is from 0 to 1.

    Averages are exact: they follow from these two readings. Peaks and the least memory follow from samples between
    them. On macOS, shares count only seconds wholly within the transfer.
    """

    cores: int | None = None  #: Cores of the host.
    cpu_cores: float | None = None  #: Cores that the host's control group used on average.
    link_cores: float | None = None  #: Cores that carried the link of a local lab, if a process delays it.
    throttled_s: float | None = None  #: Seconds that a quota kept its processes off the cores.
    waited_s: float | None = None  #: Seconds that one of its processes was ready to run and got no core.
    user: float | None = None  #: Share of all cores' time in programs, nice ones included.
    system: float | None = None  #: Share of all cores' time in the kernel, on macOS with interrupts.
    softirq: float | None = None  #: Share of all cores' time in interrupts, mostly the network's.
    iowait: float | None = None  #: Share of all cores' time idle, waiting for a disk.
    steal: float | None = None  #: Share of all cores' time that the hypervisor gave to other guests.
    core_mean: float | None = None  #: Share of time that the busiest core was busy, on average.
    core_peak: float | None = None  #: The largest share of time that any core was busy, over at least 0.5 s.
    process: str | None = None  #: The process that used most CPU time.
    process_mean: float | None = None  #: Cores that it used while seen; 1.0 is one thread at its limit.
    tx_bytes: int | None = None  #: Bytes that left through the data interface.
    rx_bytes: int | None = None  #: Bytes that arrived through the data interface.
    tx_errors: int | None = None  #: Packets that the data interface could not send; on macOS.
    rx_errors: int | None = None  #: Packets that arrived damaged at the data interface; on macOS.
    peak_bytes_per_s: int | None = None
    """Most bytes per second through the data interface, in the busier direction, over at least 0.5 s."""
    disk_read_bytes: int | None = None  #: Bytes read from all disks of the host.
    disk_written_bytes: int | None = None  #: Bytes written to all disks of the host.
    disk_busy: float | None = None  #: Share of time that the busiest disk was busy.
    memory_least_bytes: int | None = None  #: The least memory that programs could still get.
    swapped_bytes: int | None = None  #: Bytes written to swap; on macOS.
    samples: int | None = None  #: Readings between the first and the last one.
    wifi_bits_per_s: int | None = None  #: If the data link is Wi-Fi: the rate of its radio right after the transfer.
    wifi_signal_dbm: int | None = None  #: Its signal then, in dBm.
    wifi_noise_dbm: int | None = None  #: Its noise then, in dBm.
    tool_cpu_s: float | None = None  #: On the client: CPU seconds of the tool and all that it started.


@dataclass(frozen=True, kw_only=True)
class TcpFacts(JsonObject):
    """The connection that carried the payload, as its sender last saw it. Counts are of this transfer only."""

    age_s: float | None = None  #: Seconds before the end when it was last seen.
    congestion: str | None = None  #: Congestion control, such as ``cubic``.
    mss: int | None = None  #: Most bytes of a segment, without headers.
    pmtu: int | None = None  #: MTU of the path in bytes, as the sender knows it.
    rtt_ms: float | None = None  #: Round-trip time in milliseconds, smoothed.
    min_rtt_ms: float | None = None  #: Least round-trip time in milliseconds.
    rtt_median_ms: float | None = None
    """Median of ``rtt_ms`` over all samples: the round trip under this transfer's own load."""
    cwnd: int | None = None  #: Congestion window in segments.
    ssthresh: int | None = None  #: Slow start threshold in segments.
    window_bytes: int | None = None  #: The receiver's window in bytes.
    sent_bytes: int | None = None  #: Bytes sent, those that were sent again included.
    acked_bytes: int | None = None  #: Bytes that the receiver acknowledged.
    retransmits: int | None = None  #: Segments sent again.
    data_segs_in: int | None = None
    """Segments with data against the payload's direction: at least one for each request for a part of a file, or each
    reply."""
    data_segs_out: int | None = None  #: Segments with data that were sent.
    delivery_bytes_per_s: int | None = None  #: The kernel's latest estimate of the speed.
    busy_ms: int | None = None  #: Time with something to send.
    rwnd_limited_ms: int | None = None  #: The part of ``busy_ms`` spent waiting for the receiver's window.
    sndbuf_limited_ms: int | None = None  #: The part of ``busy_ms`` spent waiting for room in the sender's buffer.
    received_bytes: int | None = None  #: Bytes that the receiver got.
    out_of_order: int | None = None  #: Segments that the receiver got before an earlier one: that was lost, or late.


@dataclass(frozen=True, kw_only=True)
class WireFacts(JsonObject):
    """Bytes on the wire compared with the payload, and bytes sent compared with bytes received."""

    overhead: float | None = None  #: Bytes on the wire / payload − 1, in the payload's direction.
    lost_bytes: int | None = None  #: Bytes sent less bytes received, in the payload's direction.
    reverse_lost_bytes: int | None = None  #: The same in the other direction.
    least_overhead: float | None = None
    """The overhead of the [headers of TCP, IP and Ethernet](../explanation/methods.md#wire-bytes) alone."""
    before_first_byte_s: float | None = None
    """Seconds from the start of the tool to the payload's first byte on the wire, by the client's samples."""
    after_last_byte_s: float | None = None
    """Seconds from the payload's last byte on the wire to the end, flush included."""


@dataclass(frozen=True, kw_only=True)
class RateStep(JsonObject):
    """A part of the transfer with a clearly different rate on the wire."""

    begin_s: float | None = None  #: Seconds from the start of the tool to its begin.
    end_s: float | None = None  #: Seconds from the start of the tool to its end.
    bytes_per_s: int | None = None  #: The rate in it.
    else_bytes_per_s: int | None = None  #: The rate in the rest of the transfer.
    changed: tuple[str, ...] | None = None  #: What else differed meanwhile on the client and the server.


@dataclass(frozen=True, kw_only=True)
class RequestsOneWay(JsonObject):
    """The reads or the writes of a tool that times each request, from submission to completion.

    Requests of the tool ``metadata`` are its calls: one per file, or in the phase ``list`` one per folder.
    """

    requests: int | None = None  #: Their number.
    bytes: int | None = None  #: Bytes that they moved; absent for calls.
    runtime_s: float | None = None
    """Seconds from the first to the last by the tool's clock, without its start and the flush."""
    iops: float | None = None  #: Requests per second of ``runtime_s``.
    bytes_per_s: int | None = None  #: Bytes per second of ``runtime_s``; absent for calls.
    p50_ms: float | None = None  #: Median of their times in milliseconds.
    p95_ms: float | None = None  #: 95 % of them took no longer.
    p99_ms: float | None = None  #: 99 % of them took no longer.
    p999_ms: float | None = None  #: 99.9 % of them took no longer.
    longest_ms: float | None = None  #: The longest time.


@dataclass(frozen=True, kw_only=True)
class Requests(JsonObject):
    """The requests of a tool that times each. Listing names is a read; all other calls are writes."""

    read: RequestsOneWay | None = None  #: Its reads; absent if there were none.
    write: RequestsOneWay | None = None  #: Its writes; absent if there were none.


@dataclass(frozen=True, kw_only=True)
class FrameFacts(JsonObject):
    """The frames of video that were played or captured."""

    streams: int | None = None  #: Streams at once.
    frames: int | None = None  #: Frames of all streams.
    late: int | None = None
    """Frames that were not finished before the next one's turn: a player without read-ahead drops them."""
    worst_late_s: float | None = None  #: Seconds that the worst one was late, which a player has to read ahead.
    most_streams: int | None = None
    """In a search for it, the highest number of streams without a late frame; 0: not even one."""
    tried: tuple[str, ...] | None = None
    """The numbers of streams that were tried, in order, each with its late frames: ``8: 0 of 400 late``."""


@dataclass(frozen=True, kw_only=True)
class BonnieTest(JsonObject):
    """One test of bonnie++. A test that was too short has no rate."""

    bytes_per_s: int | None = None  #: Bytes per second, in a test that moves bytes.
    per_s: float | None = None  #: Seeks or files per second, in any other test.
    cpu: float | None = None  #: Share of one core's time; more than 1 is several processes.
    longest_ms: float | None = None  #: Its longest operation, in milliseconds.
    too_short: bool | None = None
    """True if bonnie++ prints `+++++`: it ended within half a second, too soon for a rate."""


@dataclass(frozen=True, kw_only=True)
class Bonnie(JsonObject):
    """All that bonnie++ reports of a store. A test that was not run is absent."""

    version: str | None = None  #: The version of bonnie++, such as ``2.00a``.
    file_bytes: int | None = None  #: Bytes of the file of its first six tests.
    cached: bool | None = None
    """Whether that is less than twice the server's memory: then the tests measure memory, too."""
    files: int | None = None  #: Empty files of the other six tests.
    write_char: BonnieTest | None = None  #: Written byte by byte.
    write_block: BonnieTest | None = None  #: Written in blocks of 8 KiB.
    rewrite: BonnieTest | None = None  #: Read, changed and written back, block by block.
    read_char: BonnieTest | None = None  #: Read byte by byte.
    read_block: BonnieTest | None = None  #: Read in blocks of 8 KiB.
    seeks: BonnieTest | None = None  #: Blocks read at random places by five processes; a tenth is written back.
    create: BonnieTest | None = None  #: Files made in the order of their names.
    stat: BonnieTest | None = None  #: The same looked at.
    delete: BonnieTest | None = None  #: The same removed.
    random_create: BonnieTest | None = None  #: Files made in random order.
    random_stat: BonnieTest | None = None  #: The same looked at.
    random_delete: BonnieTest | None = None  #: The same removed.
    line: str | None = None  #: The line as bonnie++ printed it.


@dataclass(frozen=True, kw_only=True)
class Observed(JsonObject):
    """What both hosts counted during one transfer."""

    client: HostUsage | None = None  #: What the client counted; the first one of several.
    server: HostUsage | None = None  #: What the server counted.
    tcp: TcpFacts | None = None  #: The connection that carried the payload; empty if none was seen.
    wire: WireFacts | None = None  #: The wire against the payload.
    rate_step: RateStep | None = None
    """A step in the rate; absent if there was none, or the transfer took less than 4 s."""
    requests: Requests | None = None  #: With the tools ``fio`` and ``metadata``: their requests.
    bonnie: Bonnie | None = None  #: In a row of the store by itself with ``bonnie++``: its tests.
    frames: FrameFacts | None = None  #: With the tool ``frames``: its frames.
    together: Together | None = None  #: With several clients: their parts.
    remarks: tuple[str, ...] | None = None  #: Sentences about oddities that do not void the trial.
    flush_s: float | None = None
    """The part of ``elapsed_s`` for the flush after the tool ended, in seconds; absent without a flush, and in older
    runs."""
    mount_tries: int | None = None  #: How often the lab tried to mount the share, if not once.
    carrier_changes: int | None = None  #: How often links of the hosts went up or down during the transfer, if any did.
    store_capacity_bytes: int | None = None  #: Room in the empty file system that the lab made for the trial, in bytes.
    store_read_bytes: int | None = None
    """Bytes that this file system read from its devices, if it counts them (``zfs``); next to none on a warm server."""
    store_written_bytes: int | None = None
    """Bytes that it wrote to its devices, also after the end; includes parity, copies, padding and its own records."""
    store_ceiling_bytes_per_s: int | None = None
    """With store ``disk`` or a file system that the lab made: the [store's
    ceiling](../explanation/methods.md#ceilings) in this direction, at the levels of its own options, the median of the
    shots of its block."""
    store_ceiling_spread: float | None = None  #: The fastest less the slowest of these shots, as a share of the median.
    store_ceiling_size_bytes: int | None = None
    """Bytes of one of these shots; absent in older runs, where it is the payload."""
    store_ceiling_disk_bytes: int | None = None  #: Bytes that the server's disks moved in the median shot.

    def of(self, role: str) -> HostUsage | None:
        """What the host of this role counted."""
        return {"client": self.client, "server": self.server}[role]
