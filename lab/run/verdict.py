"""What the record of a transfer says against it: asked in the run, and again by whoever verifies its record."""

from __future__ import annotations

from dataclasses import replace

from lab.design.case import Case
from lab.design.factors import Direction
from lab.results.observed import Observed
from lab.results.together import Together
from lab.run.in_effect import Buffers, States, not_in_effect
from lab.run.observation import not_cold
from lab.run.store_moved import not_from_devices

MOST_SKEW_S = 0.05  # in which clients may start, or …
SKEW_SHARE = 0.01  # … in this share of the shortest transfer


def contradiction(case: Case, states: States, observed: Observed, buffers: Buffers) -> str:
    """Why a transfer does not count, by what its hosts read back and counted; empty where nothing of that says so.

    What crossed the wire is looked at elsewhere (:mod:`lab.run.wire_proof`). Raises LabFailure where a host read back
    what cannot be read.
    """
    read_bytes = observed.server.disk_read_bytes if observed.server else None
    return (
        describe_skew(observed.together)
        or not_in_effect(case, states, buffers)
        or not_cold(ways_of(case, observed)[0], read_bytes)
        or not_from_devices(case, observed)
    )


def ways_of(case: Case, report: Observed) -> list[Case]:
    """The case as what it moved each way, its own direction first: a tool may read and write in one trial."""
    if case.is_of_names or not (requests := report.requests):
        return [case]
    moved = {Direction.READ: requests.read, Direction.WRITE: requests.write}
    ways = [replace(case, direction=way, size_bytes=of.bytes or 0) for way, of in moved.items() if of]
    return sorted(ways, key=lambda way: way.direction is not case.direction) or [case]


def describe_skew(together: Together | None) -> str:
    """Why the starts of several clients may lie too far apart; empty where they do not."""
    if together is None or not (rows := together.clients):
        return ""
    shortest_s = min((row.ended_s or 0.0) - (row.started_s or 0.0) for row in rows)
    skew_s, bound_s = together.skew_s or 0.0, together.skew_bound_s or 0.0
    if skew_s + bound_s <= max(MOST_SKEW_S, SKEW_SHARE * shortest_s):
        return ""
    late = max(rows, key=lambda row: row.started_s or 0.0)
    return (
        f"the clients did not start together: {late.name} started {skew_s:.3f} s after the first "
        f"(known to {bound_s:.3f} s), and the shortest transfer took {shortest_s:.2f} s"
    )
