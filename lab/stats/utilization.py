"""How near each resource that can limit a transfer came to its limit, from the medians of a case."""

from collections.abc import Mapping

from lab.stats.limit import (
    BESIDE,
    FAR_ABOVE,
    FLUSH,
    LINK,
    NEAR,
    PROBABLE,
    WINDOW,
    Limit,
    Numbers,
    grade,
    percent,
    speed_label,
    store_of,
)
from lab.stats.trial_numbers import DISK_MOVED, ROLES, WINDOW_FELT

THROTTLED = 0.1  # of the time: less throttling by a quota is lost in the scatter
KEPT_WAITING = 0.5  # of the time for one resource: without it the transfer would be far faster
WINDOW_NEAR = 0.5  # a request slightly larger than the window takes two round trips
WINDOW_OF_CEILING = 0.75  # on a full link the queue adds to the RTT, so the ceiling fills less of the window
MOSTLY_FELT, WINDOW_SMALL = 0.75, 64 * 1024  # of the sender's busy time; bytes: the least request of most clients
WINDOW_TINY = 0.01  # a window that was used less says nothing
LOWERED = 0.7  # of the ceiling with other TCP buffers: twice as far below it as blocks may scatter
KEPT_OFF = 1 - NEAR  # of the time without a core: costs as much as NEAR leaves to any limit
FLUSH_IDLE = 0.75  # of the disk's time with nothing on the way: everything waited for the disk
SHARED_FULL = 0.9  # of the cores that both hosts share
OTHERS = 0.2  # of all cores: with more used by other programs, the two hosts did not fill the machine
# Share of all cores used by others. In quiet blocks of a demo the kernel and the controller took 0.29 of two cores at
# most; with one busy program it was 0.41 to 0.6
DISTURBING = 1 / 3
# A case that waited longer than any case of an undisturbed run (0.27 of the time at most) needs fewer others
WAITED_LONG, DISTURBING_IF_LONG = 0.3, 0.25
BESIDE_FELT = 0.25  # of all bytes on the link: with less of others' bytes there, they cost little
QUEUED, QUEUE_MS = 3.0, 1.0  # a queue multiplies the round trip by 3 and adds 1 ms at least; a server adds less
ALWAYS_BUSY = 0.9  # of the time the sender had something on the way
LINE_NEAR = 0.9  # of the link's payload rate: start and end of a transfer take the rest
DOMINANT = 1.5  # a host is named if it used so many times the cores of the other


def limits(medians: Numbers, names: Mapping[str, str]) -> list[Limit]:
    """The limits that the medians of a case tell of; ``names`` has each role's busiest process."""
    candidates = [_link(medians), _beside(medians), _store_limit(medians), _flush_limit(medians)]
    candidates += [_window_limit(medians), _lowered_ceiling(medians)]
    for role in ROLES:
        one_core = _one_core(role, medians, names.get(role, "a process"))
        candidates += [_quota(role, medians), one_core, _all_cores(role, medians)]
    return [limit for limit in candidates if limit]


def _link(medians: Numbers) -> Limit | None:
    if "link_share" not in medians:
        return None
    if "line_bits_per_s" in medians:
        return _line(medians)
    share, evidence = medians["link_share"], f"link: {percent(medians['link_share'])} of the ceiling"
    if share > FAR_ABOVE:
        return Limit(LINK, 1.0, f"{evidence}, which was measured too low", near=False)
    if (lowered := medians.get("ceiling_share", 1.0)) < NEAR:
        return Limit(LINK, share, f"{evidence}, itself {percent(lowered)} of that with other TCP buffers", near=False)
    if (spread := medians.get("ceiling_spread", 1.0)) > FAR_ABOVE:
        evidence += f"; ceilings disagree: by a factor of {spread:.2f} between blocks"
        return Limit(LINK, share, evidence, near=False)
    if _ceiling_in_doubt(medians):
        return Limit(LINK, share, f"{evidence}, which the TCP buffers may have lowered", near=False)
    return Limit(LINK, min(1.0, share), evidence, share >= NEAR, grade=grade(ceiling_is_sure(medians)))


def _line(medians: Numbers) -> Limit | None:
    """The link by the negotiated speed of the interface, if iperf3 measured nothing; not for Wi-Fi."""
    if "wifi" in medians:
        return None
    share, speed = medians["link_share"], speed_label(medians["line_bits_per_s"])
    evidence = f"link: {percent(share)} of what {speed} carries"
    if share > FAR_ABOVE:
        return Limit(LINK, 1.0, f"{evidence}: some of it did not cross the link", near=False)
    return Limit(LINK, min(1.0, share), evidence, share >= LINE_NEAR)


def _beside(medians: Numbers) -> Limit | None:
    """The link was full, in good part of other people's bytes, which make any ceiling measured beside them lower."""
    others, own = medians.get("beside_bytes_per_s", 0.0), medians["bytes_per_s"]
    if others < BESIDE_FELT * (others + own):
        return None
    ceiling = medians.get("ceiling_best") or medians.get("line_bytes_per_s")
    is_full = others + own >= NEAR * ceiling if ceiling else medians.get("busy", 0.0) >= ALWAYS_BUSY
    evidence = f"{BESIDE}: they moved {others / 1e6:.3g} MB/s beside the {own / 1e6:.3g} MB/s of the transfer"
    share = min(1.0, medians.get("link_share", 1.0))
    return Limit(BESIDE, share, evidence, is_full, bounds_the_ceiling=True, grade=PROBABLE)


def ceiling_is_sure(medians: Numbers) -> bool:
    """Whether several shots of the ceiling agree; a single one may have met a bad moment."""
    ratios = [medians["ceiling_spread"]] if "ceiling_spread" in medians else []
    ratios += [1 / medians["lower_shot"]] if "lower_shot" in medians else []
    return bool(ratios) and max(ratios) <= FAR_ABOVE


def _ceiling_in_doubt(medians: Numbers) -> bool:
    """Whether window or link may have bound the ceiling, because no other TCP buffers were measured."""
    if "window_share" in medians:
        return _window_full(medians) and not window_bounds_ceiling(medians) and "ceiling_share" not in medians
    return "pinned" in medians and medians.get("ceiling_share", 0.0) < NEAR


def _window_full(medians: Numbers) -> bool:
    if "window_felt" not in medians:
        return medians["window_share"] >= NEAR
    if medians["window_felt"] >= MOSTLY_FELT and medians["window_bytes"] <= WINDOW_SMALL:
        return True  # an estimate of the round trip says less than the kernel's own count of waiting
    return medians["window_share"] >= WINDOW_NEAR and medians["window_felt"] >= WINDOW_FELT


def window_bounds_ceiling(medians: Numbers) -> bool:
    """Whether the window bound iperf3, too: it was faster with other TCP buffers, or else no queue arose."""
    if "ceiling_share" in medians:
        return medians["ceiling_share"] < NEAR
    if "line_bits_per_s" in medians:  # no iperf3: the interface's speed is the ceiling, whatever the window
        return medians["link_share"] < NEAR and not is_queued(medians)
    return medians.get("window_of_ceiling", 1.0) >= WINDOW_OF_CEILING


def is_queued(medians: Numbers) -> bool:
    """Whether the round trip grew so much under the transfer's load that bytes queued on the way."""
    least = medians["rtt_ms"]
    return medians["loaded_rtt_ms"] >= max(QUEUED * least, least + QUEUE_MS)


def _store_limit(medians: Numbers) -> Limit | None:
    if "disk_share" not in medians:
        return None
    name, share = store_of(medians), medians["disk_share"]
    evidence = f"{name}: {percent(share)} of what the store itself takes"
    moved = medians.get("disk_moved", medians.get("flushed", 1 - medians.get("in_memory", 0.0)))
    if "disk_moved" in medians and moved < DISK_MOVED:
        evidence += f", but only {percent(moved)} of the payload went to or from it"
    elif moved < DISK_MOVED and "in_memory" in medians:
        evidence += ", but the server had just read it into its memory"
    elif moved < DISK_MOVED:
        evidence += ", but no flush is known to have been waited for"
    near = NEAR <= share <= FAR_ABOVE and moved >= DISK_MOVED
    return Limit(name, min(1.0, share), evidence, near, grade=grade("disk_moved" in medians))


def _flush_limit(medians: Numbers) -> Limit | None:
    """Link and disk took turns: the server took a write into its memory, then all waited for its disk."""
    if "flushed" not in medians or not {"disk_share", "link_share", "busy"} <= medians.keys():
        return None
    disk, link, idle = medians["disk_share"], medians["link_share"], 1 - medians["busy"]
    both_needed = max(disk, link) < NEAR <= disk + link <= FAR_ABOVE
    if not both_needed or idle < FLUSH_IDLE * disk or medians.get("disk_moved", 1.0) < DISK_MOVED:
        return None
    evidence = (
        f"flush to disk: {percent(link)} of the link and {percent(disk)} of the store itself, which took turns, for "
        f"nothing was on the way {percent(idle)} of the time"
    )
    return Limit(FLUSH, min(1.0, disk + link), evidence, near=True, grade=grade("disk_moved" in medians))


def _window_limit(medians: Numbers) -> Limit | None:
    if medians.get("window_share", 0.0) < WINDOW_TINY:
        return None
    window, rtt_ms, share = medians["window_bytes"], medians["loaded_rtt_ms"], medians["window_share"]
    most = window / rtt_ms / 1000
    evidence = (
        f"window: {window / 1024:.0f} KiB per {rtt_ms:.3g} ms is {most:.3g} MB/s; {percent(share)} of it was reached"
    )
    if "window_felt" in medians:
        evidence += f", and the sender waited for it {percent(medians['window_felt'])} of the time"
    near = _window_full(medians) and window_bounds_ceiling(medians)
    is_certain = medians.get("window_felt", 0.0) >= KEPT_WAITING
    return Limit(WINDOW, share, evidence, near, bounds_the_ceiling=True, grade=grade(is_certain))


def _lowered_ceiling(medians: Numbers) -> Limit | None:
    """A transfer that reached a ceiling which its TCP buffers had lowered."""
    share, lowered = medians.get("link_share", 0.0), medians.get("ceiling_share", 1.0)
    if lowered >= NEAR or not NEAR <= share <= FAR_ABOVE:
        return None
    evidence = f"window: {percent(share)} of a ceiling that is itself {percent(lowered)} of that with other TCP buffers"
    return Limit(WINDOW, min(1.0, share), evidence, near=True, bounds_the_ceiling=True, grade=grade(lowered < LOWERED))


def _quota(role: str, medians: Numbers) -> Limit | None:
    if medians.get(f"{role}_throttled", 0.0) < THROTTLED:
        return None
    cores, throttled = medians[f"{role}_cpu_cores"], medians[f"{role}_throttled"]
    evidence = f"{role} CPU: a quota kept it waiting {percent(throttled)} of the time; it used {cores:.2f} of a core"
    share = medians[f"{role}_quota"]
    near = share >= NEAR or throttled >= KEPT_WAITING
    return Limit(f"{role} CPU", share, evidence, near, bounds_the_ceiling=True)


def _one_core(role: str, medians: Numbers, process: str) -> Limit | None:
    if f"{role}_one_core" not in medians:
        return None
    share = medians[f"{role}_one_core"]
    return Limit(f"{role} CPU", share, f"{role} CPU: {process} used {share:.2f} of one core", share >= NEAR)


def _all_cores(role: str, medians: Numbers) -> Limit | None:
    if f"{role}_all_cores" not in medians:
        return None
    share, cores = medians[f"{role}_all_cores"], medians[f"{role}_cores"]
    if "machine" not in medians:
        return Limit(f"{role} CPU", share, f"{role} CPU: {percent(share)} of its {cores:.0f} cores", share >= NEAR)
    other = ROLES[role == "client"]
    used, others_used = (medians[f"{host}_cpu_cores"] for host in (role, other))
    full = medians["machine"] >= SHARED_FULL and medians["others"] <= OTHERS * cores
    evidence = (
        f"{role} CPU: {used:.2f} of {cores:.0f} cores, {percent(medians['machine'])} busy, which it shares with the "
        f"{other}"
    )
    if full and used >= DOMINANT * others_used:
        return Limit(f"{role} CPU", medians["machine"], evidence, True, grade=grade(is_certain=False))
    return Limit(f"{role} CPU", share, evidence, share >= NEAR)


def longest_wait(medians: Numbers) -> tuple[str, float]:
    """The host that waited longer for a core, and the share of the time; an empty name if that is not known."""
    waits = [(role, medians[f"{role}_waited"]) for role in ROLES if f"{role}_waited" in medians]
    return max(waits, key=lambda wait: wait[1], default=("", 0.0))


def disturbance(medians: Numbers) -> str:
    """How other programs disturbed the case; empty unless they were busy and the case waited for a core."""
    (role, waited), foreign = longest_wait(medians), medians.get("foreign", 0.0)
    if waited < KEPT_OFF or foreign < (DISTURBING if waited < WAITED_LONG else DISTURBING_IF_LONG):
        return ""
    return f"others used {percent(foreign)} of the cores, and the {role} waited for one {percent(waited)} of the time"
