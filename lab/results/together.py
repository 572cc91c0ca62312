"""What several clients did in one transfer: the key ``observed.together`` in trials.jsonl."""

from dataclasses import dataclass

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class ClientPart(JsonObject):
    """One of several clients in a transfer. Times are in seconds since the first of them started."""

    name: str | None = None  #: ``client``, ``client.2``, …, as in the hosts file.
    started_s: float | None = None  #: When it started.
    ended_s: float | None = None  #: When it had ended, flush included; absent if it failed.
    size_bytes: int | None = None  #: Its payload.
    written_by: str | None = None  #: The client that wrote what it read; absent if the server did, and for a write.
    flush_s: float | None = None  #: Seconds of its flush; absent if it flushed nothing.
    clock_bound_s: float | None = None
    """The largest error of its times: its clock was compared with the controller's before and after."""
    tx_bytes: int | None = None  #: Bytes that its data interface sent.
    rx_bytes: int | None = None  #: Bytes that its data interface received.
    cpu_s: float | None = None  #: CPU seconds in use on it.
    problem: str | None = None  #: Why it failed; absent if it did not.


@dataclass(frozen=True, kw_only=True)
class Together(JsonObject):
    """A transfer by several clients at once."""

    clients: tuple[ClientPart, ...] | None = None  #: The clients, in the order of the hosts file.
    skew_s: float | None = None  #: From the first start to the last.
    skew_bound_s: float | None = None  #: The largest error of that.
    all_active_s: float | None = None
    """From the last start to the first end; absent if one ended before another started."""
    all_active_bytes: int | None = None
    """Bytes through the interfaces of all clients meanwhile, in the payload's direction, from the samples."""
    tail_s: float | None = None  #: From the first end to the last.
    slowest_bytes_per_s: int | None = None  #: The speed of the slowest client: its payload over its own time.
    median_bytes_per_s: int | None = None  #: The median of the clients' speeds.
    fastest_bytes_per_s: int | None = None  #: The speed of the fastest client.
    jain: float | None = None
    """Jain's fairness index of these speeds: 1 if all are equal, 1/n if one of n has everything."""
