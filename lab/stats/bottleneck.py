"""What limited each case, with the evidence and the headroom; ``unclear`` where the evidence does not carry.

docs/explanation/bottlenecks.md has the rules and what they rest on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from lab.base.untrusted import first_line, from_json
from lab.design.factors import COLUMNS, NETWORK
from lab.results.trial import CEILINGS, RunJson
from lab.stats import utilization
from lab.stats.factors import Level, Row
from lab.stats.utilization import KIB, LINK, ROLES, ROUND_TRIPS, UNCLEAR, WINDOW, Limit, Numbers

DISTURBED = 0.25  # of the time ready to run without a core: then every other number is one of a busy machine
LONG_WAY_MS = 1.0  # a shorter round trip is hidden by what programs and disks take to answer a request
ROUND_TRIP_BYTES = 32 * KIB  # the least that these protocols ask for at once: with less on the way, latency is not why
FILE_ROUND_TRIPS = 16  # the most that a small file may take: to find, open, move and close it
LINK_IDLE = 0.5  # share of the ceiling: with more, bytes were under way most of the time, and not waiting
IDLE = 0.75  # a sender that had something on the way for less of the time was kept waiting by a program
TCP_SPARE = 0.8  # share of what TCP allowed on the way: above it, TCP and not the protocol may have set the pace
RESENT = 0.01  # share of the bytes sent that were sent again: with more, losses set the pace
FEW_ROUND_TRIPS = 100  # a connection's start takes some 10 to 25: login, opening a file, TCP's slow start
CASE = (*COLUMNS, "options")
NUMBERS = (
    "bytes_per_s", "link_share", "disk_share", "window_share", "window_bytes", "window_felt", "rtt_ms",
    "round_trip_bytes", "busy", *(f"{role}_{name}" for role in ROLES for name in ("one_core", "all_cores", "throttled",
    "waited")),
)  # fmt: skip
REMEDY = {
    LINK: "only a faster link, or less overhead on it, would help",
    "client CPU": "a faster client, or less work on it (another tool, cipher or kind of mount), would help",
    "server CPU": "a faster server, or less work on it (another protocol or cipher, more of its quota), would help",
    utilization.DISK: "only faster storage in the server would help",
    utilization.FLUSH: "faster storage in the server, or a server or client that does not wait for it, would help",
    WINDOW: "larger TCP buffers, several connections, or less latency would help",
    ROUND_TRIPS: "more at once (larger requests, several files or connections), or less latency would help",
}


def verdicts(trials: pd.DataFrame) -> pd.DataFrame:
    """One row a case: what it was limited by, from the medians of its ok trials; anchors and ceilings are left out.

    Columns: CASE, case_id, n, limited_by, utilisation (0 to 1, of what limited), headroom (what is left of it; for
    round trips, of the link; NaN where unclear), evidence (a sentence) and NUMBERS (shares 0 to 1, bytes, seconds, NaN
    where not observed). ``trials`` is the frame of :func:`lab.results.run_folder.load`.
    """
    run = trials.attrs.get("run", {})
    counted = trials[(trials["status"] == "ok") & ~trials["anchor"] & ~trials["protocol"].isin(CEILINGS)]
    ceilings = _ceilings(trials)
    rows = [_row(case_id, group, run, ceilings) for case_id, group in counted.groupby("case_id", sort=False)]
    dtypes = dict.fromkeys(("utilisation", "headroom", *NUMBERS), "float64")
    columns = [*CASE, "case_id", "n", "limited_by", "utilisation", "headroom", "evidence", *NUMBERS]
    return pd.DataFrame(rows, columns=columns).astype(dtypes)


def _ceilings(trials: pd.DataFrame) -> dict[tuple[Level, ...], float]:
    """By direction, MTU and TCP buffer, the ceiling as a share of the best with any TCP buffer; of several only."""
    links = trials[(trials["protocol"] == "link") & (trials["status"] == "ok")]
    levels = links.groupby(["direction", *NETWORK])["bytes_per_s"].median()
    several = levels.groupby(["direction", "mtu"]).transform("size") > 1
    shares = (levels / levels.groupby(["direction", "mtu"]).transform("max"))[several]
    return dict(zip(shares.index.to_list(), shares.to_list(), strict=True))


def _row(case_id: object, group: pd.DataFrame, run: RunJson, ceilings: Mapping[tuple[Level, ...], float]) -> Row:
    shared = run.get("instance") is not None
    rows = group.assign(observed=group["observed"].map(from_json)).to_dict("records")
    trials = [{str(name): value for name, value in row.items()} for row in rows]
    numbers = pd.DataFrame([utilization.numbers(trial, shared) for trial in trials])
    medians = {str(name): float(value) for name, value in numbers.median().items()}
    at = tuple(trials[0][name] for name in ("direction", *NETWORK))
    if at in ceilings:
        medians["ceiling_share"] = ceilings[at]
    names = {role: name for role in ROLES if (name := _busiest(trials, role))}
    case = {name: trials[0][name] for name in CASE} | {"case_id": case_id, "n": len(trials)}
    observed = any(trial["observed"] for trial in trials)
    return {**case, **{name: medians.get(name) for name in NUMBERS}, **verdict(medians, names, observed)}


def _busiest(trials: Sequence[Row], role: str) -> str:
    """The process that was a role's busiest in most trials; empty where none is known."""
    sides = [trial["observed"].get(role) for trial in trials]
    names = [first_line(str(side["process"])) for side in sides if isinstance(side, dict) and "process" in side]
    return max(names, key=names.count, default="")


def verdict(medians: Numbers, names: Mapping[str, str], observed: bool = True) -> Row:
    """``limited_by``, ``utilisation``, ``headroom`` and ``evidence``, of the medians of a case."""
    limits = utilization.limits(medians, names)
    if not observed:
        return _unclear("not observed", limits, medians)
    near = _prefer([limit for limit in limits if limit.near])
    if near:
        first, *rest = near
        also = [limit.evidence for limit in rest if limit.name != first.name]
        evidence = "; also near: ".join(filter(None, (first.evidence, ", ".join(also))))
        return _verdict(first.name, first.share, 1 - first.share, evidence)
    if problem := _unfit_for_round_trips(medians):
        return _unclear(problem, limits, medians)
    return _verdict(ROUND_TRIPS, None, 1 - medians["link_share"], _round_trips(medians))


def _prefer(near: list[Limit]) -> list[Limit]:
    """What explains the rate, the fullest first.

    A small window, or a quota, pulls the ceiling itself down: then it is no news that the ceiling was reached.
    """
    bounded = any(limit.bounds_the_ceiling for limit in near)
    return sorted((limit for limit in near if limit.name != LINK or not bounded), key=lambda limit: -limit.share)


def _unfit_for_round_trips(medians: Numbers) -> str:
    """Why it cannot be said, nothing being near, that the time went into waiting for replies; empty where it can."""
    lacking = {
        "the link's ceiling": "link_share", "the client's CPU": "client_all_cores",
        "the server's CPU": "server_all_cores", "most of the TCP connection": "round_trip_bytes",
    }  # fmt: skip
    if missing := [what for what, name in lacking.items() if name not in medians]:
        return f"not observed: {', '.join(missing)}"
    if medians["link_share"] >= utilization.NEAR:
        return "the ceiling does not tell"
    if medians["link_share"] > LINK_IDLE:
        return "nothing was near its limit, and waiting for replies cannot explain most of the time"
    for role in ROLES:
        if (waited := medians.get(f"{role}_waited", 0.0)) >= DISTURBED:
            others = f" (others used {medians['others']:.1f} cores)" if "others" in medians else ""
            return f"the {role} waited for a free core {waited:.0%} of the time{others}"
    if medians["round_trips"] < FEW_ROUND_TRIPS:
        return f"it took only {medians['round_trips']:.0f} round trips, and a connection needs some to begin"
    if medians["resent"] >= RESENT:
        return f"{medians['resent']:.1%} of what was sent was sent again: losses may have set the pace"
    if medians["round_trip_bytes"] > TCP_SPARE * medians.get("allowed_bytes", 0.0):
        return "what TCP allowed on the way may have set the pace"
    if medians["rtt_ms"] < LONG_WAY_MS or medians["round_trip_bytes"] < _least_bytes(medians):
        rtt = f"a round trip of {medians['rtt_ms']:.2g} ms"
        return f"nothing was near its limit, and {rtt} is too short to explain the rate"
    return ""


def _least_bytes(medians: Numbers) -> float:
    """What a protocol that waits for every reply moves in a round trip at the least."""
    return min(ROUND_TRIP_BYTES, medians["file_bytes"] / FILE_ROUND_TRIPS)


def _round_trips(medians: Numbers) -> str:
    moved, allowed = medians["round_trip_bytes"] / KIB, medians["allowed_bytes"] / KIB
    evidence = (
        f"protocol round trips: {moved:.0f} KiB per round trip of {medians['rtt_ms']:.2g} ms, where TCP allowed "
        f"{allowed:.0f} KiB; no resource was near its limit (link {medians['link_share']:.0%})"
    )
    if (felt := medians.get("window_felt", 0.0)) >= utilization.WINDOW_FELT:
        evidence += f"; the sender waited for the window {felt:.0%} of the time"
    return evidence


def _unclear(problem: str, limits: Sequence[Limit], medians: Numbers) -> Row:
    """Why nothing can be named, and the fullest of each thing that is known."""
    parts = [problem]
    if (busy := medians.get("busy", 1.0)) < IDLE:
        parts.append(f"nothing was on the way {1 - busy:.0%} of the time")
    fullest = {limit.name: limit for limit in sorted(limits, key=lambda limit: limit.share)}
    parts += [limit.evidence for limit in sorted(fullest.values(), key=lambda limit: -limit.share)]
    return _verdict(UNCLEAR, None, None, "; ".join(parts))


def _verdict(name: str, share: float | None, headroom: float | None, evidence: str) -> Row:
    return {"limited_by": name, "utilisation": share, "headroom": headroom, "evidence": evidence}
