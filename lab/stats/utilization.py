"""How near each thing that can limit a transfer came to its limit: the numbers of one trial, and what they say.

Nothing here knows of hosts or files. A number that was not observed is missing, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.base.units import LARGEST
from lab.stats.factors import Row

ROLES = ("client", "server")
BUSY = ("user", "system", "softirq", "steal")
UNCLEAR, LINK, WINDOW, ROUND_TRIPS = "unclear", "link", "latency × window", "protocol round trips"
DISK, FLUSH = "disk", "flush to disk"

NEAR = 0.85  # share of a ceiling: that scatters, for it took seconds; and at start and flush a transfer fills no link
FAR_ABOVE = 1.15  # of a ceiling, by the same scatter: a faster transfer came from a cache
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


def numbers(trial: Row, shared: bool) -> dict[str, float]:
    """What one good trial tells, by name; ``shared`` where both hosts are on one machine, as in a local lab."""
    sides = {role: _facts(trial, role) for role in ROLES}
    values = {"bytes_per_s": trial["size_bytes"] / trial["elapsed_s"]}
    values["file_bytes"] = trial["size_bytes"] / max(1, trial["files"])
    values |= _quotient("link_share", values["bytes_per_s"], trial["ceiling_bytes_per_s"])
    if trial["tcp_space"] != "default":
        values["pinned"] = 1.0
    for role, usage in sides.items():
        side = _cpu(usage, shared) | _kept_waiting(usage, trial["elapsed_s"])
        values |= {f"{role}_{name}": value for name, value in side.items()}
    if shared:
        values |= _machine(sides)
    return values | _tcp(trial, values["bytes_per_s"]) | _disk(trial, sides["server"], values["bytes_per_s"])


def _facts(trial: Row, part: str) -> dict[str, float]:
    """The numbers in one part of what was observed; anything else that may stand in a file is none."""
    facts = trial["observed"].get(part)
    return _clean(facts) if isinstance(facts, dict) else {}


def _clean(facts: Row) -> dict[str, float]:
    return {name: value for name, value in facts.items() if type(value) in (int, float) and 0 <= value < LARGEST}


def _quotient(name: str, amount: float, per: float | None) -> dict[str, float]:
    return {name: amount / per} if per and per > 0 else {}


def _cpu(usage: Numbers, shared: bool) -> dict[str, float]:
    """How much of one core and of all was in use. On a shared machine only group and processes are a host's own."""
    values = {name: usage[name] for name in ("cpu_cores", "cores") if usage.get(name)}
    if not shared and all(name in usage for name in ("cores", *BUSY)):
        values["all_cores"] = min(1.0, sum(usage[name] for name in BUSY))
    elif shared and len(values) == 2:
        values["all_cores"] = min(1.0, values["cpu_cores"] / values["cores"])
    one_core = [usage["process_mean"]] if usage.get("process_mean", ONE_THREAD + 1) <= ONE_THREAD else []
    if not shared and usage.get("softirq", 0) * usage.get("cores", 0) >= SOFTIRQ_CORE and "core_mean" in usage:
        one_core.append(usage["core_mean"])
    return values | ({"one_core": min(1.0, max(one_core))} if one_core else {})


def _kept_waiting(usage: Numbers, elapsed_s: float) -> dict[str, float]:
    """The shares of the time that something was ready to run but other programs, or a quota, kept it from it."""
    values = {"waited": min(1.0, usage["waited_s"] / elapsed_s)} if "waited_s" in usage else {}
    if "throttled_s" in usage and "cpu_cores" in usage:
        throttled = min(1.0, usage["throttled_s"] / elapsed_s)
        values |= {"throttled": throttled, "quota": min(1.0, usage["cpu_cores"] + throttled)}
    return values


def _machine(sides: Mapping[str, Numbers]) -> dict[str, float]:
    """The machine that both hosts are on: how full it was, and how many cores others used."""
    usage, used = sides["client"], [side["cpu_cores"] for side in sides.values() if "cpu_cores" in side]
    if len(used) < len(ROLES) or not all(name in usage for name in ("cores", *BUSY)):
        return {}
    full = min(1.0, sum(usage[name] for name in BUSY))
    return {"machine": full, "others": max(0.0, full * usage["cores"] - sum(used))}


def _tcp(trial: Row, rate: float) -> dict[str, float]:
    """The connection, where it was seen for most of the payload.

    A receiver's window is about half of its buffer (tcp(7), tcp_adv_win_scale). One that is smaller is one that the
    receiving program has not emptied; so the larger of the two counts.
    """
    tcp, effective = _facts(trial, "tcp"), _clean(trial["effective"])
    rtt_s, sent = tcp.get("min_rtt_ms", 0) / 1000, max(tcp.get("sent_bytes", 0), tcp.get("acked_bytes", 0))
    if not rtt_s or not sent or sent < SEEN_BYTES * trial["size_bytes"]:
        return {}
    values = {"rtt_ms": rtt_s * 1000, "round_trip_bytes": rate * rtt_s, "round_trips": trial["elapsed_s"] / rtt_s}
    values["resent"] = tcp.get("retransmits", 0) * tcp.get("mss", 0) / sent
    seen_s = max(trial["elapsed_s"] - tcp.get("age_s", 0), rtt_s)
    if "busy_ms" in tcp:
        values["busy"] = min(1.0, tcp["busy_ms"] / 1000 / seen_s)
    receiver = "server" if trial["direction"] == "write" else "client"
    window = max(tcp.get("window_bytes", 0), effective.get(f"{receiver}_rcvbuf", 0) / 2)
    allowed = [limit for limit in (window, tcp.get("cwnd", 0) * tcp.get("mss", 0)) if limit]
    if allowed:
        values["allowed_bytes"] = min(allowed)
    values |= _window(tcp, window, min(rate, sent / seen_s) * rtt_s)  # there may be several connections
    if "window_bytes" in values and trial["ceiling_bytes_per_s"]:
        values["window_of_ceiling"] = trial["ceiling_bytes_per_s"] * rtt_s / values["window_bytes"]
    return values


def _window(tcp: Numbers, window: float, on_the_way: float) -> dict[str, float]:
    """How full the window was, and how long the sender waited for it; the sender's buffer is one, where that was it.

    Goodput is at most window / RTT (RFC 7323, section 1.1: a window of one bandwidth-delay product fills a path).
    """
    values: dict[str, float] = {}
    if busy_ms := tcp.get("busy_ms"):
        received, own = (tcp.get(name, 0) / busy_ms for name in ("rwnd_limited_ms", "sndbuf_limited_ms"))
        values["window_felt"] = min(1.0, received + own)
        if own >= WINDOW_FELT and own > received and tcp.get("sndbuf"):
            window = tcp["sndbuf"] / 2
    return values | ({"window_bytes": window, "window_share": min(1.0, on_the_way / window)} if window else {})


def _disk(trial: Row, server: Numbers, rate: float) -> dict[str, float]:
    """The server's store against what it takes by itself; what its disks moved only where they are counted."""
    observed, size = _clean(trial["observed"]), trial["size_bytes"]
    if trial["store"] != DISK:
        return {}
    values = _quotient("disk_share", rate, observed.get("store_ceiling_bytes_per_s"))
    if trial["direction"] == "write":
        effective = trial["effective"]
        values["flushed"] = float(effective.get("flushed") != "none" and effective.get("server_sync") != "async")
    counted = observed.get("store_ceiling_disk_bytes", 0) >= DISK_MOVED * size
    moved = server.get("disk_written_bytes" if trial["direction"] == "write" else "disk_read_bytes")
    return values | ({"disk_moved": moved / size} if counted and moved is not None else {})


def limits(medians: Numbers, names: Mapping[str, str]) -> list[Limit]:
    """Each thing that can be told of, from the medians of a case; ``names`` are each role's busiest process."""
    candidates = [_link(medians), _disk_limit(medians), _flush_limit(medians), _window_limit(medians)]
    for role in ROLES:
        candidates += [
            _quota(role, medians),
            _one_core(role, medians, names.get(role, "a process")),
            _all_cores(role, medians),
        ]
    return [limit for limit in candidates if limit]


def _link(medians: Numbers) -> Limit | None:
    if "link_share" not in medians:
        return None
    share, evidence = medians["link_share"], f"link: {medians['link_share']:.0%} of the ceiling"
    if share > FAR_ABOVE:
        return Limit(LINK, 1.0, f"{evidence}, which was measured too low", near=False)
    if _ceiling_in_doubt(medians):
        return Limit(LINK, share, f"{evidence}, which the TCP buffers may have lowered", near=False)
    return Limit(LINK, min(1.0, share), evidence, share >= NEAR)


def _ceiling_in_doubt(medians: Numbers) -> bool:
    """Whether nothing tells if the window or the link bound the ceiling: no other TCP buffers were measured."""
    if "window_share" in medians:
        return _window_full(medians) and not _window_bounds_ceiling(medians) and "ceiling_share" not in medians
    return "pinned" in medians and medians.get("ceiling_share", 0.0) < NEAR


def _window_full(medians: Numbers) -> bool:
    if "window_felt" not in medians:
        return medians["window_share"] >= NEAR
    return medians["window_share"] >= WINDOW_NEAR and medians["window_felt"] >= WINDOW_FELT


def _window_bounds_ceiling(medians: Numbers) -> bool:
    """Whether iperf3, too, was bound by the window: with other TCP buffers it was faster, or else no queue arose."""
    if "ceiling_share" in medians:
        return medians["ceiling_share"] < NEAR
    return medians.get("window_of_ceiling", 1.0) >= WINDOW_OF_CEILING


def _disk_limit(medians: Numbers) -> Limit | None:
    if "disk_share" not in medians:
        return None
    share, evidence = medians["disk_share"], f"disk: {medians['disk_share']:.0%} of what the store itself takes"
    moved = medians.get("disk_moved", medians.get("flushed", 1.0))
    if "disk_moved" in medians and moved < DISK_MOVED:
        evidence += f", but only {moved:.0%} of the payload went to or from it"
    elif moved < DISK_MOVED:
        evidence += ", but no flush is known to have been waited for"
    return Limit(DISK, min(1.0, share), evidence, NEAR <= share <= FAR_ABOVE and moved >= DISK_MOVED)


def _flush_limit(medians: Numbers) -> Limit | None:
    """Link and disk took turns: the server had a write in its memory, and then all waited for its disk."""
    if "flushed" not in medians or not {"disk_share", "link_share", "busy"} <= medians.keys():
        return None
    disk, link, idle = medians["disk_share"], medians["link_share"], 1 - medians["busy"]
    both_needed = max(disk, link) < NEAR <= disk + link <= FAR_ABOVE
    if not both_needed or idle < FLUSH_IDLE * disk or medians.get("disk_moved", 1.0) < DISK_MOVED:
        return None
    evidence = (
        f"flush to disk: {link:.0%} of the link and {disk:.0%} of the store itself, which took turns, for nothing was "
        f"on the way {idle:.0%} of the time"
    )
    return Limit(FLUSH, min(1.0, disk + link), evidence, near=True)


def _window_limit(medians: Numbers) -> Limit | None:
    if "window_share" not in medians:
        return _lowered_ceiling(medians)
    if medians["window_share"] < WINDOW_TINY:
        return None
    window, rtt_ms, share = medians["window_bytes"], medians["rtt_ms"], medians["window_share"]
    most = window / rtt_ms / 1000
    evidence = f"window: {window / KIB:.0f} KiB per {rtt_ms:.2g} ms is {most:.3g} MB/s; {share:.0%} of it was reached"
    if "window_felt" in medians:
        evidence += f", and the sender waited for it {medians['window_felt']:.0%} of the time"
    near = _window_full(medians) and _window_bounds_ceiling(medians)
    return Limit(WINDOW, share, evidence, near, bounds_the_ceiling=True)


def _lowered_ceiling(medians: Numbers) -> Limit | None:
    """What TCP buffers did to the ceiling, where no window was observed."""
    share, lowered = medians.get("link_share", 0.0), medians.get("ceiling_share", 1.0)
    if "pinned" not in medians or lowered >= LOWERED or not NEAR <= share <= FAR_ABOVE:
        return None
    evidence = f"window: {share:.0%} of a ceiling that is itself {lowered:.0%} of that with other TCP buffers"
    return Limit(WINDOW, min(1.0, share), evidence, near=True, bounds_the_ceiling=True)


def _quota(role: str, medians: Numbers) -> Limit | None:
    if medians.get(f"{role}_throttled", 0.0) < THROTTLED:
        return None
    cores, throttled = medians[f"{role}_cpu_cores"], medians[f"{role}_throttled"]
    evidence = f"{role} CPU: a quota kept it waiting {throttled:.0%} of the time; it used {cores:.2f} of a core"
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
        return Limit(f"{role} CPU", share, f"{role} CPU: {share:.0%} of its {cores:.0f} cores", share >= NEAR)
    other = ROLES[role == "client"]
    used, others_used = (medians[f"{host}_cpu_cores"] for host in (role, other))
    full = medians["machine"] >= SHARED_FULL and medians["others"] <= OTHERS * cores
    evidence = (
        f"{role} CPU: {used:.2f} of {cores:.0f} cores, {medians['machine']:.0%} busy, which it shares with the {other}"
    )
    if full and used >= DOMINANT * others_used:
        return Limit(f"{role} CPU", medians["machine"], evidence, True)
    return Limit(f"{role} CPU", share, evidence, share >= NEAR)
