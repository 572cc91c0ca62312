"""What limited each case, with the evidence and the headroom; ``unclear`` where the evidence does not carry.

docs/explanation/bottlenecks.md has the rules and what they rest on.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from lab.base.untrusted import first_line
from lab.design.factors import COLUMNS, label_of
from lab.results.one_sided import is_one_sided, link_of
from lab.results.run_keys import load_by_block
from lab.stats import client_alone, time_budget, utilization
from lab.stats.better_levels import BetterLevel, better_levels
from lab.stats.client_alone import Seen
from lab.stats.encoding import Trials, encode, some_of_each_case
from lab.stats.factors import Level, Row, level_label, rows_of
from lab.stats.limit import (
    CERTAIN,
    DISK,
    DISTURBED,
    FILE_SYSTEM,
    FLUSH,
    LINK,
    LOSSES,
    NEAR,
    PROBABLE,
    ROUND_TRIPS,
    SERVER,
    UNCLEAR,
    WINDOW,
    Limit,
    Numbers,
    grade,
    percent,
)  # fmt: skip
from lab.stats.link_ceilings import SETTING, compare_ceilings
from lab.stats.trial_numbers import ROLES, foreign_share, numbers_of

IDLE = 0.75  # a sender that had something on the way for less of the time was kept waiting by a program
CASE = (*COLUMNS, "options")
NUMBERS = (
    "bytes_per_s", "link_share", "disk_share", "window_share", "window_bytes", "window_felt", "rtt_ms",
    "round_trip_bytes", "busy", *(f"{role}_{name}" for role in ROLES for name in ("one_core", "all_cores", "throttled",
    "waited")), "foreign", "startup", "requests", "elapsed_s",
)  # fmt: skip
VERDICT = ("limited_by", "grade", "utilisation", "headroom", "evidence")
REMEDY = {
    LINK: "only a faster link, or less overhead on it, would help",
    "client CPU": "a faster client, or less work on it (another tool, cipher or kind of mount), would help",
    "server CPU": "a faster server, or less work on it (another protocol or cipher, more of its quota), would help",
    DISK: "only faster storage in the server would help",
    FILE_SYSTEM: "another file system, other options of it, or a faster disk below it would help",
    FLUSH: "faster storage in the server, or a server or client that does not wait for it, would help",
    WINDOW: "larger TCP buffers, several connections, or less latency would help",
    ROUND_TRIPS: "more at once (larger requests, several files or connections), or less latency would help",
    time_budget.ONE_REQUEST: "several files or connections at once, larger requests, or a client that reads ahead "
    "would help",
    time_budget.START_UP: "larger files would be faster: what a transfer starts and ends with takes as long for any "
    "size",
    time_budget.PROGRAMS: "another tool, or several at once, would help",
    DISTURBED: "measure again on quiet machines",
    LOSSES: "another cable, port or switch would help",
    SERVER: "a login on the server would tell which of them it is",
    client_alone.HALF_DUPLEX: "a cable and ports that negotiate full duplex would help",
    client_alone.WIFI: "a cable would help",
    client_alone.SYNC: "a mount without that option would help, if a crash may lose the last seconds",
    client_alone.SIGNING: "a faster client, or no signing where the network can be trusted, would help",
    client_alone.ENCRYPTION: "a faster client, or no encryption where the network can be trusted, would help",
}
FASTER = "the level named in the evidence was faster"


@dataclass(frozen=True)
class Known:
    """What is known of one case: medians, the busiest process of each role, and which other levels were faster.

    ``seen`` is what else the client knows, of a run that saw nothing of its server.
    """

    medians: Numbers
    processes: Mapping[str, str]
    observed: bool = True
    better: Sequence[BetterLevel] = ()
    seen: Seen | None = None


def remedy(limited_by: str) -> str:
    """What would help against a limit; empty for UNCLEAR."""
    return "" if limited_by == UNCLEAR else REMEDY.get(limited_by, FASTER)


def verdicts(trials: Trials, some: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a case: what it was limited by, from the medians of its ok trials; anchors are left out.

    Columns: CASE, case_id, n; limited_by (a limit, the label of a factor, such as ``MTU``, of which another level was
    faster, DISTURBED or UNCLEAR), grade (``certain``, ``probable`` or ``unclear``), utilisation (0 to 1, of what
    limited; of a factor, of the speed with the other level), headroom (what is left of it; for time lost, of the
    link; NaN where unclear), evidence (a sentence); and NUMBERS (shares 0 to 1, bytes, seconds, NaN where not
    observed). ``trials`` is a whole run: the link's own trials say what a ceiling means, and other cases what helps.
    ``some`` is what :func:`lab.stats.encoding.some_of_each_case` made of it, where that was done already.
    """
    encoded = encode(trials)
    run = encoded.frame.attrs.get("run", {})
    loads = load_by_block(run)
    cases = _by_case(some_of_each_case(encoded) if some is None else some)
    link = link_of(run) if is_one_sided(run) else None
    numbers = pd.DataFrame(
        [
            foreign_share(trial, loads) | numbers_of(trial, run.get("instance") is not None, link)
            for trials_of in cases.values()
            for trial in trials_of
        ]
    )
    case_ids = pd.Series([case_id for case_id, trials_of in cases.items() for _ in trials_of])
    medians = numbers.groupby(case_ids).median() if len(numbers) else numbers
    medians_of = dict(zip(medians.index, rows_of(medians), strict=True))
    grid, ceilings = encoded.grid, compare_ceilings(encoded.frame)
    better = better_levels(grid)
    rows = [
        _row(
            trials_of,
            medians_of[case_id],
            ceilings,
            better.get(tuple(trials_of[0][name] for name in grid.factors), ()),
            Seen(link, trials_of[0]["direction"], trials_of[0]["effective"]) if link else None,
        )
        for case_id, trials_of in cases.items()
    ]
    dtypes = dict.fromkeys(("utilisation", "headroom", *NUMBERS), "float64")
    return pd.DataFrame(rows, columns=[*CASE, "case_id", "n", *VERDICT, *NUMBERS]).astype(dtypes)


def _by_case(trials: pd.DataFrame) -> dict[str, list[Row]]:
    """The trials of each case as plain rows: pandas would take a thousand cases one by one for many seconds."""
    cases: dict[str, list[Row]] = {}
    for row in rows_of(trials):
        cases.setdefault(row["case_id"], []).append(row)
    return cases


def _row(
    trials: Sequence[Row],
    numbers: Mapping[Hashable, float],
    ceilings: Mapping[tuple[Level, ...], Mapping[str, float]],
    better: Sequence[BetterLevel],
    seen: Seen | None,
) -> Row:
    """What one case was limited by; ``numbers`` are the medians of its trials, NaN where none has it."""
    medians = {str(name): value for name, value in numbers.items() if not math.isnan(value)}
    medians |= ceilings.get(tuple(trials[0][name] for name in SETTING), {})
    names = {role: name for role in ROLES if (name := _busiest(trials, role))}
    case = {name: trials[0][name] for name in (*CASE, "case_id")} | {"n": len(trials)}
    known = Known(medians, names, any(trial["observed"] for trial in trials), better, seen)
    return {**case, **{name: medians.get(name) for name in NUMBERS}, **judge(known)}


def _busiest(trials: Sequence[Row], role: str) -> str:
    """The process that was a role's busiest in most trials; empty where none is known."""
    sides = [trial["observed"].get(role) for trial in trials]
    names = [first_line(str(side["process"])) for side in sides if isinstance(side, dict) and "process" in side]
    return max(names, key=names.count, default="")


def judge(known: Known) -> Row:
    """VERDICT of one case.

    Other programs come first: then every number is one of a busy machine. Among limits, what is proven
    to be at its end comes before what another level of a factor changed, and that before what is only likely: whoever
    raised one thing and saw the speed rise need not argue from counters.
    """
    limits = utilization.limits(known.medians, known.processes)
    if known.seen:
        limits = client_alone.limits(known.seen, known.medians, limits)
    near = _prefer([limit for limit in limits if limit.near]) if known.observed else []
    if disturbed := utilization.disturbance(known.medians):
        return _verdict(DISTURBED, CERTAIN, None, None, "; ".join([disturbed, *(limit.evidence for limit in near)]))
    if known.better and (not near or near[0].name in (LINK, WINDOW) or near[0].grade == PROBABLE):
        return _caused(known.better, near)
    if near:
        return _limited(near, known.better)
    if not known.observed:
        return _unclear("not observed", limits, known.medians)
    if known.seen:
        rest = client_alone.left_over(known.seen, known.medians)
        return _limited([rest], known.better) if rest.near else _unclear(rest.evidence, limits, known.medians)
    part, problem = time_budget.largest_part(known.medians), time_budget.unfit_for_round_trips(known.medians)
    if part and (problem or part.name not in (time_budget.ONE_REQUEST, time_budget.PROGRAMS, ROUND_TRIPS)):
        return _limited([part], known.better)
    if problem:
        return _unclear(problem, limits, known.medians)
    evidence = "; ".join([time_budget.describe_round_trips(known.medians), *([part.evidence] if part else [])])
    return _verdict(ROUND_TRIPS, part.grade if part else PROBABLE, None, 1 - known.medians["link_share"], evidence)


def _prefer(near: list[Limit]) -> list[Limit]:
    """What explains the rate, the fullest first.

    A small window, or a quota, pulls the ceiling itself down: then it is no news that the ceiling was reached.
    """
    bounded = any(limit.bounds_the_ceiling for limit in near)
    return sorted((limit for limit in near if limit.name != LINK or not bounded), key=lambda limit: -limit.share)


def _caused(better: Sequence[BetterLevel], near: Sequence[Limit]) -> Row:
    """The factor of which another level made it faster; certain where even the low end of the interval matters."""
    first = better[0]
    is_disk = (first.factor, first.own, first.level) == ("store", "disk", "ram")
    name = DISK if is_disk else label_of(first.factor)
    also = [_describe(other) for other in better[1:]] + [f"near its limit: {limit.evidence}" for limit in near]
    evidence = "; ".join([_describe(first), *also])
    return _verdict(name, grade(first.low > 1 / NEAR), 1 / first.ratio, 1 - 1 / first.ratio, evidence)


def _describe(better: BetterLevel) -> str:
    """What another level changed, and how sure that is."""
    change, low, high = (f"{100 * (ratio - 1):.0f}" for ratio in (better.ratio, better.low, better.high))
    own, level = (level_label(better.factor, level) for level in (better.own, better.level))
    return (
        f"{label_of(better.factor)}: {level} in place of {own}, all else alike, made it {change} % faster "
        f"({low} to {high} %, {better.blocks} blocks)"
    )


def _limited(near: Sequence[Limit], better: Sequence[BetterLevel]) -> Row:
    """The fullest limit, which is certain only where no other one is near as well."""
    first, *rest = near
    also = [limit.evidence for limit in rest if limit.name != first.name]
    evidence = "; also near: ".join(filter(None, (first.evidence, ", ".join(also))))
    certainty = grade(first.grade == CERTAIN and not also)
    return _verdict(first.name, certainty, first.share, 1 - first.share, "; ".join([evidence, *map(_describe, better)]))


def _unclear(problem: str, limits: Sequence[Limit], medians: Numbers) -> Row:
    """Why nothing can be named, and the fullest of each thing that is known."""
    parts = [problem]
    if (busy := medians.get("busy", 1.0)) < IDLE:
        parts.append(f"nothing was on the way {percent(1 - busy)} of the time")
    fullest = {limit.name: limit for limit in sorted(limits, key=lambda limit: limit.share)}
    parts += [limit.evidence for limit in sorted(fullest.values(), key=lambda limit: -limit.share)]
    return _verdict(UNCLEAR, UNCLEAR, None, None, "; ".join(parts))


def _verdict(name: str, certainty: str, share: float | None, headroom: float | None, evidence: str) -> Row:
    return dict(zip(VERDICT, (name, certainty, share, headroom, evidence), strict=True))
