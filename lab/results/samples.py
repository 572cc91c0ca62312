"""A line of samples.jsonl as types, from which the reference and the JSON Schema follow."""

from typing import NotRequired, TypedDict


class ConnectionAtATime(TypedDict, total=False):
    """A connection between the hosts' data addresses, as one reading saw it."""

    rtt_ms: float | None  #: Round-trip time in milliseconds, smoothed.
    cwnd: int | None  #: Congestion window in segments.
    ssthresh: int | None  #: Slow start threshold in segments.
    window_bytes: int | None  #: The receiver's window in bytes.
    acked_bytes: int | None  #: Bytes that the receiver acknowledged, since the connection began.
    received_bytes: int | None  #: Bytes that were received, since the connection began.
    retransmits: int | None  #: Segments sent again, since the connection began.
    delivery_bytes_per_s: int | None  #: The kernel's latest estimate of the speed.
    rcvbuf: int | None  #: Receive buffer in bytes.
    sndbuf: int | None  #: Send buffer in bytes.


class Course(TypedDict, total=False):
    """The readings of one host as lists of one length; null where a reading lacks the number."""

    at_s: list[float]  #: Seconds since the first reading.
    tx_bytes: list[int | None]  #: Sent by the data interface, since the first reading.
    rx_bytes: list[int | None]  #: Received by the data interface, since the first reading.
    tx_packets: list[int | None]  #: Sent by the data interface, since the first reading.
    rx_packets: list[int | None]  #: Received by the data interface, since the first reading.
    tx_errors: list[int | None]  #: Packets that the data interface could not send, since the first reading; on macOS.
    rx_errors: list[int | None]
    """Packets that arrived damaged at the data interface, since the first reading; on macOS."""
    cpu_s: list[float | None]  #: CPU seconds of the host's control group, since the first reading.
    disk_read_bytes: list[int | None]  #: By all disks, in bytes since the first reading.
    disk_written_bytes: list[int | None]  #: By all disks, in bytes since the first reading.
    available_bytes: list[int | None]  #: Memory that programs could get.
    core_busy: dict[str, list[float | None]]
    """By core: the share of the time that it was busy, since the last reading that has it."""
    user: list[float | None]  #: Share of the time of all cores in programs, since the last reading of it.
    system: list[float | None]  #: Share of the time of all cores in the kernel, since the last reading of it.
    softirq: list[float | None]  #: Share of the time of all cores in interrupts, since the last reading of it.
    iowait: list[float | None]
    """Share of the time of all cores that was idle while a disk was waited for, since the last reading of it."""
    steal: list[float | None]
    """Share of the time of all cores that the hypervisor gave to another guest, since the last reading of it."""
    processes: list[tuple[float, dict[str, float]]]
    """`[at_s, {"name id": CPU seconds since the first reading}]`, where processes were looked at."""
    connections: list[tuple[float, str, ConnectionAtATime]]
    """`[at_s, "local peer", {…}]`, where connections were looked at."""


class SampleLine(TypedDict):
    """The course of one trial. No table rests on it."""

    trial_id: str  #: The trial's id in trials.jsonl.
    client: NotRequired[Course]  #: The readings of the client; the first and the last are those around the transfer.
    server: NotRequired[Course]  #: The readings of the server, likewise.
