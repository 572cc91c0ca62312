"""How near each thing that can limit a transfer came to its limit: the numbers of one trial, and what they say.

Nothing here knows of hosts or files. A number that was not observed is missing, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.base.units import LARGEST

ROLES = ("client", "server")
BUSY = ("user", "system", "softirq", "steal")
UNCLEAR, LINK, WINDOW, ROUND_TRIPS = "unclear", "link", "latency × window", "protocol round trips"
DISK, FLUSH = "disk", "flush to disk"

NEAR = 0.85  # a ceiling is a measurement of seconds and scatters; a transfer has a start and a flush that nothing fills
FAR_ABOVE = 1.15  # by the same scatter: what is faster than that was not bound to it, but came from a cache
ONE_THREAD = 1.1  # cores; a process with more has several busy threads, and no single core held it back
SOFTIRQ_CORE = 0.5  # of a core: below that, interrupts are not why a core was busy
THROTTLED = 0.1  # of the time: a quota that was felt less costs less than the scatter
KEPT_WAITING = 0.5  # of the time by a quota: whatever else there was, without it the transfer would be far faster
WINDOW_NEAR = 0.5  # a request that is a little larger than the window takes two round trips instead of one
WINDOW_OF_CEILING = 0.75  # a link that is full builds a queue, which adds to the RTT: then the ceiling fills less
LOWERED = 0.7  # of the ceiling with other TCP buffers: that is more than blocks scatter by
WINDOW_TINY = 0.01  # a window of which less was in use says nothing
WINDOW_FELT = 0.1  # of the time that there was something to send; without a small window it is 0 or next to it
SEEN_BYTES = 0.5  # of the payload: a connection seen last before that has told about its start only
DISK_MOVED = 0.5  # of the payload: with less, the file was in memory
FLUSH_IDLE = 0.75  # of the time that the disk takes: where nothing was on the way meanwhile, all waited for it
SHARED_FULL = 0.9  # of the cores that both hosts share
OTHERS = 0.2  # of all cores: with more in use by nobody of the lab's, the two hosts did not fill the machine
DOMINANT = 1.5  # one host used so many times what the other did, or neither is named
KIB = 1024


@dataclass(frozen=True)
class Limit:
    """One thing that may limit, how much of it was in use (0 to 1), and that as a sentence.

    ``near`` says whether it was so near its limit that it explains the rate; one that ``bounds_the_ceiling`` slows
    iperf3 down as well.
    """

    name: str
    share: float
    evidence: str
    near: bool
    bounds_the_ceiling: bool = False


Numbers = Mapping[str, float]


def numbers(trial: Mapping[str, Any], shared: bool) -> dict[str, float]:
    """What one good trial tells, by name; ``shared`` where both hosts are on one machine, as in a local lab."""
    sides = {role: _facts(trial, role) for role in ROLES}
    found = {"bytes_per_s": trial["size_bytes"] / trial["elapsed_s"]}
    found["file_bytes"] = trial["size_bytes"] / max(1, trial["files"])
    found |= _quotient("link_share", found["bytes_per_s"], trial["ceiling_bytes_per_s"])
    if trial["tcp_space"] != "default":
        found["pinned"] = 1.0
    for role, usage in sides.items():
        side = _cpu(usage, shared) | _kept_waiting(usage, trial["elapsed_s"])
        found |= {f"{role}_{name}": value for name, value in side.items()}
    if shared:
        found |= _machine(sides)
    return found | _tcp(trial, found["bytes_per_s"]) | _disk(trial, sides["server"], found["bytes_per_s"])


def _facts(trial: Mapping[str, Any], part: str) -> dict[str, float]:
    """The numbers in one part of what was observed; anything else that may stand in a file is none."""
    facts = trial["observed"].get(part)
    return _clean(facts) if isinstance(facts, dict) else {}


def _clean(facts: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in facts.items() if type(value) in (int, float) and 0 <= value < LARGEST}


def _quotient(name: str, amount: float, per: float | None) -> dict[str, float]:
    return {name: amount / per} if per and per > 0 else {}


def _cpu(usage: Numbers, shared: bool) -> dict[str, float]:
    """How much of one core and of all was in use. On a shared machine only group and processes are a host's own."""
    found = {name: usage[name] for name in ("cpu_cores", "cores") if usage.get(name)}
    if not shared and all(name in usage for name in ("cores", *BUSY)):
        found["all_cores"] = min(1.0, sum(usage[name] for name in BUSY))
    elif shared and len(found) == 2:
        found["all_cores"] = min(1.0, found["cpu_cores"] / found["cores"])
    one_core = [usage["process_mean"]] if usage.get("process_mean", ONE_THREAD + 1) <= ONE_THREAD else []
    if not shared and usage.get("softirq", 0) * usage.get("cores", 0) >= SOFTIRQ_CORE and "core_mean" in usage:
        one_core.append(usage["core_mean"])
    return found | ({"one_core": min(1.0, max(one_core))} if one_core else {})


def _kept_waiting(usage: Numbers, elapsed_s: float) -> dict[str, float]:
    """The shares of the time that something was ready to run but other programs, or a quota, kept it from it."""
    found = {"waited": min(1.0, usage["waited_s"] / elapsed_s)} if "waited_s" in usage else {}
    if "throttled_s" in usage and "cpu_cores" in usage:
        throttled = min(1.0, usage["throttled_s"] / elapsed_s)
        found |= {"throttled": throttled, "quota": min(1.0, usage["cpu_cores"] + throttled)}
    return found


def _machine(sides: Mapping[str, Numbers]) -> dict[str, float]:
    """The machine that both hosts are on: how full it was, and how many cores others used."""
    usage, used = sides["client"], [side["cpu_cores"] for side in sides.values() if "cpu_cores" in side]
    if len(used) < len(ROLES) or not all(name in usage for name in ("cores", *BUSY)):
        return {}
    full = min(1.0, sum(usage[name] for name in BUSY))
    return {"machine": full, "others": max(0.0, full * usage["cores"] - sum(used))}


def _tcp(trial: Mapping[str, Any], rate: float) -> dict[str, float]:
    """The connection, where it was seen for most of the payload.

    A receiver's window is about half of its buffer (tcp(7), tcp_adv_win_scale). One that is smaller is one that the
    receiving program has not emptied; so the larger of the two counts.
    """
    tcp, effective = _facts(trial, "tcp"), _clean(trial["effective"])
    rtt_s, sent = tcp.get("min_rtt_ms", 0) / 1000, max(tcp.get("sent_bytes", 0), tcp.get("acked_bytes", 0))
    if not rtt_s or not sent or sent < SEEN_BYTES * trial["size_bytes"]:
        return {}
    found = {"rtt_ms": rtt_s * 1000, "round_trip_bytes": rate * rtt_s, "round_trips": trial["elapsed_s"] / rtt_s}
    found["resent"] = tcp.get("retransmits", 0) * tcp.get("mss", 0) / sent
    seen_s = max(trial["elapsed_s"] - tcp.get("age_s", 0), rtt_s)
    if "busy_ms" in tcp:
        found["busy"] = min(1.0, tcp["busy_ms"] / 1000 / seen_s)
    receiver = "server" if trial["direction"] == "write" else "client"
    window = max(tcp.get("window_bytes", 0), effective.get(f"{receiver}_rcvbuf", 0) / 2)
    allowed = [limit for limit in (window, tcp.get("cwnd", 0) * tcp.get("mss", 0)) if limit]
    if allowed:
        found["allowed_bytes"] = min(allowed)
    found |= _window(tcp, window, min(rate, sent / seen_s) * rtt_s)  # there may be several connections
    if "window_bytes" in found and trial["ceiling_bytes_per_s"]:
        found["window_of_ceiling"] = trial["ceiling_bytes_per_s"] * rtt_s / found["window_bytes"]
    return found


def _window(tcp: Numbers, window: float, on_the_way: float) -> dict[str, float]:
    """How full the window was, and how long the sender waited for it; the sender's buffer is one, where that was it.

    Goodput is at most window / RTT (RFC 7323, section 1.1: a window of one bandwidth-delay product fills a path).
    """
    found: dict[str, float] = {}
    if busy_ms := tcp.get("busy_ms"):
        received, own = (tcp.get(name, 0) / busy_ms for name in ("rwnd_limited_ms", "sndbuf_limited_ms"))
        found["window_felt"] = min(1.0, received + own)
        if own >= WINDOW_FELT and own > received and tcp.get("sndbuf"):
            window = tcp["sndbuf"] / 2
    return found | ({"window_bytes": window, "window_share": min(1.0, on_the_way / window)} if window else {})


def _disk(trial: Mapping[str, Any], server: Numbers, rate: float) -> dict[str, float]:
    """The server's store against what it takes by itself; what its disks moved only where they are counted."""
    observed, size = _clean(trial["observed"]), trial["size_bytes"]
    if trial["store"] != DISK:
        return {}
    found = _quotient("disk_share", rate, observed.get("store_ceiling_bytes_per_s"))
    if trial["direction"] == "write":
        effective = trial["effective"]
        found["flushed"] = float(effective.get("flushed") != "none" and effective.get("server_sync") != "async")
    counted = observed.get("store_ceiling_disk_bytes", 0) >= DISK_MOVED * size
    moved = server.get("disk_written_bytes" if trial["direction"] == "write" else "disk_read_bytes")
    return found | ({"disk_moved": moved / size} if counted and moved is not None else {})


def limits(found: Numbers, names: Mapping[str, str]) -> list[Limit]:
    """Each thing that can be told of, from the medians of a case; ``names`` are each role's busiest process."""
    known = [_link(found), _disk_limit(found), _flush_limit(found), _window_limit(found)]
    for role in ROLES:
        known += [_quota(role, found), _one_core(role, found, names.get(role, "a process")), _all_cores(role, found)]
    return [limit for limit in known if limit]


def _link(found: Numbers) -> Limit | None:
    if "link_share" not in found:
        return None
    share, said = found["link_share"], f"link: {found['link_share']:.0%} of the ceiling"
    if share > FAR_ABOVE:
        return Limit(LINK, 1.0, f"{said}, which was measured too low", near=False)
    if _ceiling_in_doubt(found):
        return Limit(LINK, share, f"{said}, which the TCP buffers may have lowered", near=False)
    return Limit(LINK, min(1.0, share), said, share >= NEAR)


def _ceiling_in_doubt(found: Numbers) -> bool:
    """Whether nothing tells if the window or the link bound the ceiling: no other TCP buffers were measured."""
    if "window_share" in found:
        return _window_full(found) and not _window_bounds_ceiling(found) and "ceiling_share" not in found
    return "pinned" in found and found.get("ceiling_share", 0.0) < NEAR


def _window_full(found: Numbers) -> bool:
    if "window_felt" not in found:
        return found["window_share"] >= NEAR
    return found["window_share"] >= WINDOW_NEAR and found["window_felt"] >= WINDOW_FELT


def _window_bounds_ceiling(found: Numbers) -> bool:
    """Whether iperf3, too, was bound by the window: with other TCP buffers it was faster, or else no queue arose."""
    if "ceiling_share" in found:
        return found["ceiling_share"] < NEAR
    return found.get("window_of_ceiling", 1.0) >= WINDOW_OF_CEILING


def _disk_limit(found: Numbers) -> Limit | None:
    if "disk_share" not in found:
        return None
    share, said = found["disk_share"], f"disk: {found['disk_share']:.0%} of what the store itself takes"
    moved = found.get("disk_moved", found.get("flushed", 1.0))
    if "disk_moved" in found and moved < DISK_MOVED:
        said += f", but only {moved:.0%} of the payload went to or from it"
    elif moved < DISK_MOVED:
        said += ", but no flush is known to have been waited for"
    return Limit(DISK, min(1.0, share), said, NEAR <= share <= FAR_ABOVE and moved >= DISK_MOVED)


def _flush_limit(found: Numbers) -> Limit | None:
    """Link and disk took turns: the server had a write in its memory, and then all waited for its disk."""
    if "flushed" not in found or not {"disk_share", "link_share", "busy"} <= found.keys():
        return None
    disk, link, idle = found["disk_share"], found["link_share"], 1 - found["busy"]
    both_needed = max(disk, link) < NEAR <= disk + link <= FAR_ABOVE
    if not both_needed or idle < FLUSH_IDLE * disk or found.get("disk_moved", 1.0) < DISK_MOVED:
        return None
    said = (
        f"flush to disk: {link:.0%} of the link and {disk:.0%} of the store itself, which took turns, for nothing was "
        f"on the way {idle:.0%} of the time"
    )
    return Limit(FLUSH, min(1.0, disk + link), said, near=True)


def _window_limit(found: Numbers) -> Limit | None:
    if "window_share" not in found:
        return _lowered_ceiling(found)
    if found["window_share"] < WINDOW_TINY:
        return None
    window, rtt_ms, share = found["window_bytes"], found["rtt_ms"], found["window_share"]
    most = window / rtt_ms / 1000
    said = f"window: {window / KIB:.0f} KiB per {rtt_ms:.2g} ms is {most:.3g} MB/s; {share:.0%} of it was reached"
    if "window_felt" in found:
        said += f", and the sender waited for it {found['window_felt']:.0%} of the time"
    near = _window_full(found) and _window_bounds_ceiling(found)
    return Limit(WINDOW, share, said, near, bounds_the_ceiling=True)


def _lowered_ceiling(found: Numbers) -> Limit | None:
    """What TCP buffers did to the ceiling, where no window was observed."""
    share, lowered = found.get("link_share", 0.0), found.get("ceiling_share", 1.0)
    if "pinned" not in found or lowered >= LOWERED or not NEAR <= share <= FAR_ABOVE:
        return None
    said = f"window: {share:.0%} of a ceiling that is itself {lowered:.0%} of that with other TCP buffers"
    return Limit(WINDOW, min(1.0, share), said, near=True, bounds_the_ceiling=True)


def _quota(role: str, found: Numbers) -> Limit | None:
    if found.get(f"{role}_throttled", 0.0) < THROTTLED:
        return None
    cores, throttled = found[f"{role}_cpu_cores"], found[f"{role}_throttled"]
    said = f"{role} CPU: a quota kept it waiting {throttled:.0%} of the time; it used {cores:.2f} of a core"
    share = found[f"{role}_quota"]
    near = share >= NEAR or throttled >= KEPT_WAITING
    return Limit(f"{role} CPU", share, said, near, bounds_the_ceiling=True)


def _one_core(role: str, found: Numbers, process: str) -> Limit | None:
    if f"{role}_one_core" not in found:
        return None
    share = found[f"{role}_one_core"]
    return Limit(f"{role} CPU", share, f"{role} CPU: {process} used {share:.2f} of one core", share >= NEAR)


def _all_cores(role: str, found: Numbers) -> Limit | None:
    if f"{role}_all_cores" not in found:
        return None
    share, cores = found[f"{role}_all_cores"], found[f"{role}_cores"]
    if "machine" not in found:
        return Limit(f"{role} CPU", share, f"{role} CPU: {share:.0%} of its {cores:.0f} cores", share >= NEAR)
    other = ROLES[role == "client"]
    used, others_used = (found[f"{each}_cpu_cores"] for each in (role, other))
    full = found["machine"] >= SHARED_FULL and found["others"] <= OTHERS * cores
    said = f"{role} CPU: {used:.2f} of {cores:.0f} cores, {found['machine']:.0%} busy, which it shares with the {other}"
    if full and used >= DOMINANT * others_used:
        return Limit(f"{role} CPU", found["machine"], said, True)
    return Limit(f"{role} CPU", share, said, share >= NEAR)
