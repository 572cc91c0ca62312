"""Whether a transfer spent its time waiting for replies on a long way: by elimination of everything else."""

from __future__ import annotations

from lab.stats.limit import KIB, NEAR, Numbers, percent
from lab.stats.trial_numbers import ROLES, WINDOW_FELT

BUSY_HOST = 0.25  # of the time ready to run without a core: then every other number is one of a busy machine
LONG_WAY_MS = 1.0  # a shorter round trip is hidden by what programs and disks take to answer a request
ROUND_TRIP_BYTES = 32 * KIB  # the least that these protocols ask for at once: with less on the way, latency is not why
FILE_ROUND_TRIPS = 16  # the most that a small file may take: to find, open, move and close it
LINK_IDLE = 0.5  # share of the ceiling: with more, bytes were under way most of the time, and not waiting
TCP_SPARE = 0.8  # share of what TCP allowed on the way: above it, TCP and not the protocol may have set the pace
RESENT = 0.01  # share of the bytes sent that were sent again: with more, losses set the pace
FEW_ROUND_TRIPS = 100  # a connection's start takes some 10 to 25: login, opening a file, TCP's slow start


def unfit_for_round_trips(medians: Numbers) -> str:
    """Why it cannot be said, nothing being near, that the time went into waiting for replies; empty where it can."""
    lacking = {
        "the link's ceiling": "link_share", "the client's CPU": "client_all_cores",
        "the server's CPU": "server_all_cores", "most of the TCP connection": "round_trip_bytes",
    }  # fmt: skip
    if missing := [what for what, name in lacking.items() if name not in medians]:
        return f"not observed: {', '.join(missing)}"
    if medians["link_share"] >= NEAR:
        return "the ceiling does not tell"
    if medians["link_share"] > LINK_IDLE:
        return "nothing was near its limit, and waiting for replies cannot explain most of the time"
    for role in ROLES:
        if (waited := medians.get(f"{role}_waited", 0.0)) >= BUSY_HOST:
            others = f" (others used {medians['others']:.1f} cores)" if "others" in medians else ""
            return f"the {role} waited for a free core {percent(waited)} of the time{others}"
    if medians["round_trips"] < FEW_ROUND_TRIPS:
        return f"it took only {medians['round_trips']:.0f} round trips, and a connection needs some to begin"
    if medians["resent"] >= RESENT:
        return f"{100 * medians['resent']:.1f} % of what was sent was sent again: losses may have set the pace"
    if medians["round_trip_bytes"] > TCP_SPARE * medians.get("allowed_bytes", 0.0):
        return "what TCP allowed on the way may have set the pace"
    if medians["rtt_ms"] < LONG_WAY_MS or medians["round_trip_bytes"] < _least_bytes(medians):
        rtt = f"a round trip of {medians['rtt_ms']:.2g} ms"
        return f"nothing was near its limit, and {rtt} is too short to explain the rate"
    return ""


def _least_bytes(medians: Numbers) -> float:
    """What a protocol that waits for every reply moves in a round trip at the least."""
    return min(ROUND_TRIP_BYTES, medians["file_bytes"] / FILE_ROUND_TRIPS)


def describe_round_trips(medians: Numbers) -> str:
    """How much each round trip moved, and that nothing else was near its limit."""
    moved, allowed = medians["round_trip_bytes"] / KIB, medians["allowed_bytes"] / KIB
    evidence = (
        f"protocol round trips: {moved:.0f} KiB per round trip of {medians['rtt_ms']:.2g} ms, where TCP allowed "
        f"{allowed:.0f} KiB; no resource was near its limit (link {percent(medians['link_share'])})"
    )
    if (felt := medians.get("window_felt", 0.0)) >= WINDOW_FELT:
        evidence += f"; the sender waited for the window {percent(felt)} of the time"
    return evidence
