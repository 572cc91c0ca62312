"""Where the time went that a transfer took beyond what the link needs by itself: the largest part of it held it back.

This is for transfers that brought nothing to its limit. The parts are of the whole time, and do not overlap.
"""

from __future__ import annotations

from lab.stats.limit import KIB, NEAR, ROUND_TRIPS, WINDOW, Limit, Numbers, grade, percent, store_limit
from lab.stats.trial_numbers import DISK_MOVED, ROLES
from lab.stats.utilization import KEPT_OFF, WINDOW_NEAR, ceiling_is_sure, window_bounds_ceiling

START_UP, ONE_REQUEST, PROGRAMS = "start-up", "one request at a time", "programs"
MOST = 0.5  # of the time lost: then no other part can be as large
SHORT_S = 2.0  # of a trial: to start a tool and to flush take some 0.1 to 0.4 s, a fifth of that


def largest_part(medians: Numbers) -> Limit | None:
    """What took most of the time lost; None where no part took half of it, or it is not known.

    What was in use of it is the link, of which the rest is what could be had without.

    It is certain where it explains nearly all of it, both hosts were seen to have cores to spare, and the ceiling is
    not in doubt.
    """
    link = _link_time(medians)
    if link is None or link >= NEAR:
        return None
    lost = 1 - link
    parts = [*_throttled(medians), *_start_up(medians), *_window(medians), *_disk(medians), *_turns(medians, link)]
    name, share, evidence = max(parts, key=lambda part: part[1], default=("", 0.0, ""))
    if share < MOST * lost:
        return None
    is_certain = (
        share >= NEAR * lost
        and name in (START_UP, ONE_REQUEST, ROUND_TRIPS)
        and all(f"{role}_all_cores" in medians and medians.get(f"{role}_waited", 0) < KEPT_OFF for role in ROLES)
        and ceiling_is_sure(medians)
    )
    sentence = f"{name}: {evidence}; the link by itself needs {percent(link)} of the time"
    return Limit(name, link, sentence, near=True, grade=grade(is_certain))


def _link_time(medians: Numbers) -> float | None:
    """The share of the time that the link needs by itself, at its best with any TCP buffers."""
    if "ceiling_best" in medians:
        return medians["bytes_per_s"] / medians["ceiling_best"]
    return medians.get("link_share")


Part = tuple[str, float, str]  # what, its share of the time, and that as a sentence


def _throttled(medians: Numbers) -> list[Part]:
    shares = {role: medians.get(f"{role}_throttled", 0.0) for role in ROLES}
    return [
        (f"{role} CPU", share, f"a quota kept it waiting {percent(share)} of the time")
        for role, share in shares.items()
    ]


def _start_up(medians: Numbers) -> list[Part]:
    """The start and the end, less what a disk or a quota took: a flush waits for the disk after the last byte."""
    if "startup" not in medians or _disk_unknown(medians):
        return []
    startup, elapsed_s = medians["startup"], medians["elapsed_s"]
    evidence = (
        f"{startup * elapsed_s:.2g} of {elapsed_s:.2g} s passed before the first byte and after the last one "
        f"({percent(startup)})"
    )
    others = sum(part for _, part, _ in (*_throttled(medians), *_disk(medians)))
    return [(START_UP, max(0.0, startup - others), evidence)]


def _disk_unknown(medians: Numbers) -> bool:
    """Whether the files were on a disk that may have taken any part of the time."""
    return "on_disk" in medians and "disk_share" not in medians


def _window(medians: Numbers) -> list[Part]:
    """Waiting for a window that was about full: one that was not is small because the receiving program is slow.

    A link that is full fills any window with its queue: so the window must have bound iperf3, too.
    """
    if medians.get("window_share", 0.0) < WINDOW_NEAR or not window_bounds_ceiling(medians):
        return []
    waited = medians.get("window_felt", 0.0) * medians.get("busy", 0.0)
    return [(WINDOW, waited, f"the sender waited for it {percent(waited)} of the time")]


def _disk(medians: Numbers) -> list[Part]:
    """Where link and disk took turns, nothing was on the way while the disk worked."""
    if medians.get("disk_moved", medians.get("flushed", 0.0)) < DISK_MOVED:
        return []
    share = min(medians.get("disk_share", 0.0), 1 - medians.get("busy", 1.0))
    return [(store_limit(medians), share, f"nothing was on the way while it worked, {percent(share)} of the time")]


def _turns(medians: Numbers, link: float) -> list[Part]:
    """Nothing was on the way, and neither start, quota nor disk was why: one side waited for the other, or a program.

    What a round trip adds to each request counts, too, as far as bytes were on the way for longer than the link needs.
    """
    if not {"busy", "requests"} <= medians.keys() or _disk_unknown(medians):
        return []
    others = sum(part for parts in (_throttled(medians), _start_up(medians), _disk(medians)) for _, part, _ in parts)
    idle, busy = 1 - medians["busy"], medians["busy"]
    own_idle = max(0.0, idle - others)
    requests = medians["requests"]
    if not medians["asks"] or not requests:
        evidence = f"nothing was on the way {percent(idle)} of the time, for they handed it on too slowly"
        return [(PROGRAMS, own_idle, evidence)]
    per_s = medians["elapsed_s"] / requests
    own_busy = max(0.0, busy - link - max(0.0, others - idle))
    travelling = min(medians["rtt_ms"] / 1000 / per_s, own_busy)
    evidence = (
        f"about {requests:.0f} requests of {medians['bytes_per_s'] * per_s / KIB:.0f} KiB, {1000 * per_s:.2g} ms each; "
        f"nothing was on the way {percent(idle)} of the time"
    )
    name = ROUND_TRIPS if travelling > own_idle else ONE_REQUEST
    return [(name, own_idle + travelling, evidence)]
