"""When the payload of one transfer was on the wire, from the byte counts that were sampled meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from lab.platforms import Reading

EDGE_SHARE = 0.01  # of the payload: less may be a login, or what a tool asks for beforehand


def payload_edges(readings: Sequence[Reading], count: str, size_bytes: int) -> tuple[float | None, float | None]:
    """Seconds before the payload began to cross the interface, and after it had; None where samples do not tell.

    ``count`` is the counter of the payload's direction, ``readings`` are from right before to right after, oldest
    first. Between two samples the first and the last bytes are taken to have moved as fast as in the next stretch, so
    that an edge lies closer than samples do.
    """
    moved = [(reading.at_s, reading.net[count]) for reading in readings if count in reading.net]
    if len(moved) < 3 or moved[-1][1] - moved[0][1] < size_bytes or size_bytes <= 0:
        return None, None
    begin = _first_edge(moved, EDGE_SHARE * size_bytes) - moved[0][0]
    backwards = [(-at_s, -value) for at_s, value in reversed(moved)]
    end = _first_edge(backwards, EDGE_SHARE * size_bytes) - backwards[0][0]
    return round(begin, 3), round(end, 3)


def _first_edge(moved: Sequence[tuple[float, float]], least: float) -> float:
    """When bytes began to flow, of (time, bytes so far): in the stretch where ``least`` of them have moved."""
    start = moved[0][1]
    at = next(place for place, (_, value) in enumerate(moved) if value - start >= least)
    (before_s, before), (after_s, after) = moved[at - 1], moved[at]
    if at + 1 == len(moved):
        return before_s
    next_s, following = moved[at + 1]
    rate = max(following - after, 0) / (next_s - after_s) if next_s > after_s else 0.0
    return max(before_s, after_s - (after - before) / rate) if rate else before_s
