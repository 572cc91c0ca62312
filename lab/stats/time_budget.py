"""Where a transfer that filled no resource lost time beyond the link's own; the largest part is the bottleneck."""

from collections.abc import Sequence

from lab.stats.limit import (
    DISTURBED,
    KIB,
    LONG_WAY_MS,
    LOSSES,
    NEAR,
    RESENT,
    ROUND_TRIPS,
    WINDOW,
    Limit,
    Numbers,
    grade,
    percent,
    store_of,
)
from lab.stats.trial_numbers import DISK_MOVED, ROLES, WINDOW_FELT
from lab.stats.utilization import (
    KEPT_OFF,
    WINDOW_NEAR,
    ceiling_is_sure,
    disturbance,
    longest_wait,
    window_bounds_ceiling,
)

START_UP, ONE_REQUEST, PROGRAMS = "start-up", "one request at a time", "programs"
SMALL_REQUESTS = "small requests"
MOST = 0.5  # of the lost time: no other part can be as large
SHORT_S = 2.0  # of a trial: starting a tool and flushing take 0.1 to 0.4 s, up to a fifth
BUSY_HOST = 0.25  # of the time ready to run without a core: the busy machine spoils every other number
ROUND_TRIP_BYTES = 32 * KIB  # the least request of these protocols; with less on the way, latency is not the cause
SMALL_REQUEST_BYTES = 16 * KIB
FILE_ROUND_TRIPS = 16  # the most for a small file: to find, open, move and close it
LINK_IDLE = 0.5  # share of the ceiling: with more, bytes were on the way most of the time
TCP_SPARE = 0.8  # share of the bytes that TCP allowed on the way: with more, TCP may have set the pace
FEW_ROUND_TRIPS = 100  # a connection's start takes some 10 to 25: login, opening a file, TCP's slow start
ROUND_TRIPS_TO_BEGIN = 40  # the most that start and end of a transfer take: what lasts longer is something else
ADDS_UP = 0.05  # of the time: parts whose sum is further from it contradict each other


def largest_part(medians: Numbers) -> Limit | None:
    """The part that took most of the lost time; None if no part took half of it, or that is unknown.

    The limit's share is the link's time; the rest is the headroom. The answer is certain if the part explains nearly
    all lost time, both hosts had idle cores, and the ceiling is not in doubt.
    """
    link = medians.get("link_share")  # of the time, at the best ceiling with any TCP buffers
    if "ceiling_best" in medians:
        link = medians["bytes_per_s"] / medians["ceiling_best"]
    if link is None or link >= NEAR:
        return None
    lost = 1 - link
    parts = _parts(medians, link)
    name, share, evidence = max(parts, key=lambda part: part[1], default=("", 0.0, ""))
    if share < MOST * lost:
        return None
    is_certain = (
        share >= NEAR * lost
        and abs(link + sum(part for _, part, _ in parts) - 1) <= ADDS_UP
        and name in (START_UP, ONE_REQUEST, ROUND_TRIPS)
        and all(f"{role}_all_cores" in medians and medians.get(f"{role}_waited", 0) < KEPT_OFF for role in ROLES)
        and ceiling_is_sure(medians)
    )
    sentence = f"{name}: {evidence}; the link by itself needs {percent(link)} of the time"
    return Limit(name, link, sentence, near=True, grade=grade(is_certain))


Part = tuple[str, float, str]  # its name, its share of the time, and that as a sentence


def _parts(medians: Numbers, link: float) -> list[Part]:
    """Disjoint parts of the time beside the link's own; those with one name are added up."""
    waiting = [*_throttled(medians), *_waited(medians), *_start_up(medians), *_disk(medians)]
    while_busy = [*_window(medians), *_losses(medians, link)]
    parts: dict[str, Part] = {}
    for name, share, evidence in (*waiting, *while_busy, *_turns(medians, link, waiting, while_busy)):
        _, before, said = parts.get(name, (name, 0.0, ""))
        parts[name] = (name, before + share, "; ".join(filter(None, (said, evidence))))
    return list(parts.values())


def _waited(medians: Numbers) -> list[Part]:
    """Other programs had the cores."""
    evidence = disturbance(medians)
    return [(DISTURBED, longest_wait(medians)[1], evidence)] if evidence else []


def _losses(medians: Numbers, link: float) -> list[Part]:
    """Bytes were on the way for longer than the link needs, and some were sent again."""
    if (resent := medians.get("resent", 0.0)) < RESENT or "busy" not in medians:
        return []
    share = max(0.0, medians["busy"] - link - sum(part for _, part, _ in _window(medians)))
    return [(LOSSES, share, f"{100 * resent:.1f} % of what was sent was sent again, and TCP slows down each time")]


def _throttled(medians: Numbers) -> list[Part]:
    shares = [(role, medians.get(f"{role}_throttled", 0.0)) for role in ROLES]
    return [(f"{role} CPU", share, f"a quota kept it waiting {percent(share)} of the time") for role, share in shares]


def _start_up(medians: Numbers) -> list[Part]:
    """Start and end, less the time of a disk or a quota, because a flush after the last byte waits for the disk."""
    is_disk_unknown = "on_disk" in medians and "disk_share" not in medians  # it may have taken any part of the time
    if "startup" not in medians or is_disk_unknown:
        return []
    startup, elapsed_s = medians["startup"], medians["elapsed_s"]
    evidence = (
        f"{startup * elapsed_s:.2g} of {elapsed_s:.2g} s passed before the first byte and after the last one "
        f"({percent(startup)})"
    )
    others = sum(part for _, part, _ in (*_throttled(medians), *_disk(medians)))
    name, rtt_ms = START_UP, medians.get("rtt_ms", 0.0)
    if rtt_ms >= LONG_WAY_MS and (trips := startup * elapsed_s * 1000 / rtt_ms) <= ROUND_TRIPS_TO_BEGIN:
        name, evidence = ROUND_TRIPS, f"{evidence}, about {trips:.0f} round trips of {rtt_ms:.2g} ms"
    return [(name, max(0.0, startup - others), evidence)]


def _window(medians: Numbers) -> list[Part]:
    """Waiting for a full window; one that is not full is small because the receiving program is slow."""
    # the queue of a full link fills any window, so the window must have bound iperf3, too
    if medians.get("window_share", 0.0) < WINDOW_NEAR or not window_bounds_ceiling(medians):
        return []
    waited = medians.get("window_felt", 0.0) * medians.get("busy", 0.0)
    return [(WINDOW, waited, f"the sender waited for it {percent(waited)} of the time")]


def _disk(medians: Numbers) -> list[Part]:
    """The disk's turns, while nothing was on the way."""
    if medians.get("disk_moved", medians.get("flushed", 0.0)) < DISK_MOVED:
        return []
    share = min(medians.get("disk_share", 0.0), 1 - medians.get("busy", 1.0))
    return [(store_of(medians), share, f"nothing was on the way while it worked, {percent(share)} of the time")]


def _turns(medians: Numbers, link: float, waiting: Sequence[Part], while_busy: Sequence[Part]) -> list[Part]:
    """The rest of the time with nothing on the way: ``waiting`` for a reply or a program.

    A round trip's part of each request counts, too, as far as bytes were on the way for longer than the link and
    ``while_busy`` explain.
    """
    is_disk_unknown = "on_disk" in medians and "disk_share" not in medians
    if not {"busy", "requests"} <= medians.keys() or is_disk_unknown:
        return []
    others, held = (sum(part for _, part, _ in parts) for parts in (waiting, while_busy))
    idle, busy = 1 - medians["busy"], medians["busy"]
    own_idle = max(0.0, idle - others)
    requests = medians["requests"]
    if not medians["asks"] or not requests:
        evidence = f"nothing was on the way {percent(idle)} of the time, for they handed it on too slowly"
        return [(PROGRAMS, own_idle, evidence)]
    per_s = medians["elapsed_s"] / requests
    own_busy = max(0.0, busy - link - held - max(0.0, others - idle))
    travelling = min(medians["rtt_ms"] / 1000 / per_s, own_busy)
    evidence = (
        f"about {requests:.0f} requests of {medians['bytes_per_s'] * per_s / KIB:.0f} KiB, {1000 * per_s:.2g} ms each; "
        f"nothing was on the way {percent(idle)} of the time"
    )
    name = SMALL_REQUESTS if are_small(medians) else ROUND_TRIPS if travelling > own_idle else ONE_REQUEST
    return [(name, own_idle + travelling, evidence)]


def are_small(medians: Numbers) -> bool:
    """Whether the requests for parts of large files were smaller than those of nearly every client by default."""
    moved = medians["bytes_per_s"] * medians["elapsed_s"]
    small = bool(medians.get("asks")) and moved <= SMALL_REQUEST_BYTES * medians.get("requests", 0.0)
    return small and medians["file_bytes"] >= FEW_ROUND_TRIPS * SMALL_REQUEST_BYTES


def unfit_for_round_trips(medians: Numbers) -> str:
    """Why waiting for replies cannot be named as the bottleneck if nothing is near its limit; empty if it can."""
    lacking = {
        "the link's ceiling": "link_share", "the client's CPU": "client_all_cores",
        "the server's CPU": "server_all_cores", "most of the TCP connection": "round_trip_bytes",
    }  # fmt: skip
    if missing := [fact for fact, name in lacking.items() if name not in medians]:
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
    least_bytes = min(ROUND_TRIP_BYTES, medians["file_bytes"] / FILE_ROUND_TRIPS)
    if medians["rtt_ms"] < LONG_WAY_MS or medians["round_trip_bytes"] < least_bytes:
        rtt = f"a round trip of {medians['rtt_ms']:.2g} ms"
        return f"nothing was near its limit, and {rtt} is too short to explain the rate"
    return ""


def describe_round_trips(medians: Numbers) -> str:
    """The evidence for round trips."""
    moved, allowed = medians["round_trip_bytes"] / KIB, medians["allowed_bytes"] / KIB
    evidence = (
        f"protocol round trips: {moved:.0f} KiB per round trip of {medians['rtt_ms']:.2g} ms, where TCP allowed "
        f"{allowed:.0f} KiB; no resource was near its limit (link {percent(medians['link_share'])})"
    )
    if (felt := medians.get("window_felt", 0.0)) >= WINDOW_FELT:
        evidence += f"; the sender waited for the window {percent(felt)} of the time"
    return evidence
