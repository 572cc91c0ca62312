"""What several clients did in one transfer: the key ``observed.together`` of a line of trials.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class ClientPart(JsonObject):
    """One of several clients in a transfer. Times are in seconds since the first of them started."""

    name: str | None = None
    """``client``, ``client.2``, …, as in the hosts file."""
    started_s: float | None = None
    """When it started."""
    ended_s: float | None = None
    """When it had ended, flush included; absent of one that failed."""
    size_bytes: int | None = None
    """Its payload."""
    written_by: str | None = None
    """The client that had written what it read; absent where the server had, and of a write."""
    flush_s: float | None = None
    """How much of its time the flush took; absent where it flushed nothing."""
    clock_bound_s: float | None = None
    """By how much its times may be wrong: its clock was compared with the controller's before and after."""
    tx_bytes: int | None = None
    """Bytes that its data interface sent."""
    rx_bytes: int | None = None
    """Bytes that its data interface received."""
    cpu_s: float | None = None
    """CPU seconds in use on it."""
    problem: str | None = None
    """Why it failed; absent where it did not."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class Together(JsonObject):
    """A transfer by several clients at once."""

    clients: tuple[ClientPart, ...] | None = None
    """Each of them, in the order of the hosts file."""
    skew_s: float | None = None
    """From the first start to the last."""
    skew_bound_s: float | None = None
    """By how much that may be wrong."""
    all_active_s: float | None = None
    """From the last start to the first end; absent where one ended before another had started."""
    all_active_bytes: int | None = None
    """Bytes that crossed the interfaces of all clients meanwhile in the direction of the payload, from the samples."""
    tail_s: float | None = None
    """From the first end to the last."""
    slowest_bytes_per_s: int | None = None
    """Of the slowest client: its payload over its own time."""
    median_bytes_per_s: int | None = None
    """The median of the clients' speeds."""
    fastest_bytes_per_s: int | None = None
    """Of the fastest client."""
    jain: float | None = None
    """Jain's index of fairness of these speeds: 1 where all are equal, 1/n where one of n has everything."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""
