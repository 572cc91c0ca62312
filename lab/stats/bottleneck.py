"""The bottleneck of each case with evidence and headroom; docs/explanation/bottlenecks.md has the rules and sources."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab.base.untrusted import first_line
from lab.design.factors import COLUMNS, label_of
from lab.design.stopping import INTERVAL_BLOCKS
from lab.results.one_sided import is_one_sided, link_of
from lab.results.run_keys import load_by_block
from lab.stats import client_alone, time_budget, utilization
from lab.stats.client_alone import ClientFacts
from lab.stats.effect_ratios import adjustable_factors
from lab.stats.encoding import Trials, encode, some_of_each_case
from lab.stats.factors import Level, Row, level_label, rows_of
from lab.stats.intervals import t_means
from lab.stats.limit import (
    BESIDE,
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
from lab.stats.speed_matrix import Grid
from lab.stats.trial_numbers import ROLES, foreign_share, numbers_of

FULL = 0.95  # of the link: what starts and ends a transfer takes the rest
IDLE = 0.75  # of the time with data on the way; with less, the sender waited for a program
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
    BESIDE: "the transfer would be faster while nobody else uses the link",
    time_budget.SMALL_REQUESTS: "larger requests (`rsize` and `wsize` of a mount, the block size of a tool) would help",
    SERVER: "a login on the server would tell which of them it is",
    client_alone.HALF_DUPLEX: "a cable and ports that negotiate full duplex would help",
    client_alone.WIFI: "a cable would help",
    client_alone.SYNC: "a mount without that option would help, if a crash may lose the last seconds",
    client_alone.SIGNING: "a faster client, or no signing where the network can be trusted, would help",
    client_alone.ENCRYPTION: "a faster client, or no encryption where the network can be trusted, would help",
}
NO_CAUSE = ("placebo", "workload")  # a placebo changes nothing, and another payload is another task


@dataclass(frozen=True)
class BetterLevel:
    """Another ``level`` of ``factor``: how many times as fast it was, with the ends of the 95 % interval."""

    factor: str
    own: Level
    level: Level
    ratio: float
    low: float
    high: float
    blocks: int


@dataclass(frozen=True)
class Known:
    """Facts about one case; ``client``: what else the client knows, if the run saw nothing of its server."""

    medians: Numbers
    processes: Mapping[str, str]
    observed: bool = True
    better: Sequence[BetterLevel] = ()
    client: ClientFacts | None = None


def remedy(limited_by: str) -> str:
    """Advice against a limit; empty for UNCLEAR."""
    return "" if limited_by == UNCLEAR else REMEDY.get(limited_by, "the level named in the evidence was faster")


def verdicts(trials: Trials, some: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a case: its bottleneck, from the medians of its ok trials without anchors.

    Columns: CASE, case_id, n. limited_by: a limit, DISTURBED, UNCLEAR, or the label of a factor with a faster level,
    such as ``MTU``. grade: ``certain``, ``probable``, ``unclear``. utilisation: 0 to 1, of the limit or of the speed
    with the other level. headroom: the rest; for lost time, the link's; NaN if unclear. evidence: a sentence. NUMBERS:
    shares 0 to 1, bytes, seconds, NaN if not observed. ``trials`` is a whole run, because the link's own trials and
    other cases are evidence, too. ``some``: the result of :func:`lab.stats.encoding.some_of_each_case` if it is there
    already.
    """
    encoded = encode(trials)
    run = encoded.frame.attrs.get("run", {})
    loads, is_local = load_by_block(run), run.get("instance") is not None
    link = link_of(run) if is_one_sided(run) else None
    some = some_of_each_case(encoded) if some is None else some
    cases: dict[str, list[Row]] = {}
    every = rows_of(some)
    for trial in every:
        cases.setdefault(trial["case_id"], []).append(trial)
    numbers = pd.DataFrame([foreign_share(trial, loads) | numbers_of(trial, is_local, link) for trial in every])
    medians = numbers.groupby(pd.Series([trial["case_id"] for trial in every])).median() if every else numbers
    medians_of = dict(zip(medians.index, rows_of(medians), strict=True))
    grid, ceilings = encoded.grid, compare_ceilings(encoded.frame)
    better, rows = better_levels(grid), []
    for case_id, of_case in cases.items():
        first = of_case[0]
        client = ClientFacts(link, first["direction"], first["effective"]) if link else None
        faster = better.get(tuple(first[name] for name in grid.factors), ())
        rows.append(_row(of_case, medians_of[case_id], ceilings, faster, client))
    dtypes = dict.fromkeys(("utilisation", "headroom", *NUMBERS), "float64")
    return pd.DataFrame(rows, columns=[*CASE, "case_id", "n", *VERDICT, *NUMBERS]).astype(dtypes)


def _row(
    trials: Sequence[Row],
    numbers: Mapping[Hashable, float],
    ceilings: Mapping[tuple[Level, ...], Mapping[str, float]],
    better: Sequence[BetterLevel],
    client: ClientFacts | None,
) -> Row:
    """The bottleneck of one case; ``numbers`` are the medians of its trials, NaN where no trial has the number."""
    medians = {str(name): value for name, value in numbers.items() if not math.isnan(value)}
    medians |= ceilings.get(tuple(trials[0][name] for name in SETTING), {})
    names = {role: name for role in ROLES if (name := _busiest(trials, role))}
    case = {name: trials[0][name] for name in (*CASE, "case_id")} | {"n": len(trials)}
    known = Known(medians, names, any(trial["observed"] for trial in trials), better, client)
    return {**case, **{name: medians.get(name) for name in NUMBERS}, **judge(known)}


def _busiest(trials: Sequence[Row], role: str) -> str:
    """The process that was busiest in most trials on the host of a role; empty if none is known."""
    sides = [trial["observed"].get(role) for trial in trials]
    names = [first_line(str(side["process"])) for side in sides if isinstance(side, dict) and "process" in side]
    return max(names, key=names.count, default="")


def judge(known: Known) -> Row:
    """VERDICT of one case; nothing is certain where other programs disturbed it."""
    verdict, disturbed = _judge_if_quiet(known), utilization.disturbance(known.medians)
    if not disturbed or verdict["limited_by"] == DISTURBED:
        return verdict
    if verdict["grade"] == UNCLEAR and utilization.longest_wait(known.medians)[1] >= time_budget.MOST:
        return _verdict(DISTURBED, PROBABLE, None, None, f"{disturbed}; {verdict['evidence']}")
    lowered = PROBABLE if verdict["grade"] == CERTAIN else verdict["grade"]
    return {**verdict, "grade": lowered, "evidence": f"{verdict['evidence']}; {disturbed}"}


def _judge_if_quiet(known: Known) -> Row:
    """VERDICT of one case if no other program disturbed it.

    Certain limits come first, then factors of which another level was faster, which prove more than counters, and last
    what is only probable.
    """
    limits = utilization.limits(known.medians, known.processes)
    if known.client:
        limits = client_alone.limits(known.client, known.medians, limits)
    near = _prefer([limit for limit in limits if limit.near]) if known.observed else []
    if known.better and (not near or near[0].name in (LINK, WINDOW) or near[0].grade == PROBABLE):
        return _caused(known.better, near)
    if near:
        return _limited(near, known.better)
    if not known.observed:
        return _unclear("not observed", limits, known.medians)
    if known.client:
        rest = client_alone.left_over(known.client, known.medians)
        return _limited([rest], known.better) if rest.near else _unclear(rest.evidence, limits, known.medians)
    part, problem = time_budget.largest_part(known.medians), time_budget.unfit_for_round_trips(known.medians)
    if part and (problem or part.name not in (time_budget.ONE_REQUEST, time_budget.PROGRAMS, ROUND_TRIPS)):
        return _limited([part], known.better)
    if problem:
        return _unclear(problem, limits, known.medians)
    evidence = "; ".join([time_budget.describe_round_trips(known.medians), *([part.evidence] if part else [])])
    return _verdict(ROUND_TRIPS, part.grade if part else PROBABLE, None, 1 - known.medians["link_share"], evidence)


def _prefer(near: list[Limit]) -> list[Limit]:
    """The limits that explain the rate, the fullest first; without the link if a window or quota lowered that.

    A link that is full comes before a processor: it would be as slow with any processor.
    """
    bounded = any(limit.bounds_the_ceiling for limit in near)
    explain = [limit for limit in near if limit.name != LINK or not bounded]
    return sorted(explain, key=lambda limit: (limit.name != LINK or limit.share < FULL, -limit.share))


def _caused(better: Sequence[BetterLevel], near: Sequence[Limit]) -> Row:
    """The factor of which another level was faster; certain if even the low end of the interval matters."""
    first = better[0]
    is_disk = (first.factor, first.own, first.level) == ("store", "disk", "ram")
    name = DISK if is_disk else label_of(first.factor)
    also = [_describe(other) for other in better[1:]] + [f"near its limit: {limit.evidence}" for limit in near]
    evidence = "; ".join([_describe(first), *also])
    return _verdict(name, grade(first.low > 1 / NEAR), 1 / first.ratio, 1 - 1 / first.ratio, evidence)


def _describe(better: BetterLevel) -> str:
    """The change by another level, with its interval."""
    change, low, high = (f"{100 * (ratio - 1):.0f}" for ratio in (better.ratio, better.low, better.high))
    own, level = (level_label(better.factor, level) for level in (better.own, better.level))
    return (
        f"{label_of(better.factor)}: {level} in place of {own}, all else alike, made it {change} % faster "
        f"({low} to {high} %, {better.blocks} blocks)"
    )


def _limited(near: Sequence[Limit], better: Sequence[BetterLevel]) -> Row:
    """The fullest limit, which is certain only if no other limit is near, too."""
    first, *rest = near
    also = [limit.evidence for limit in rest if limit.name != first.name]
    evidence = "; also near: ".join(filter(None, (first.evidence, ", ".join(also))))
    certainty = grade(first.grade == CERTAIN and not also)
    return _verdict(first.name, certainty, first.share, 1 - first.share, "; ".join([evidence, *map(_describe, better)]))


def _unclear(problem: str, limits: Sequence[Limit], medians: Numbers) -> Row:
    """The reason why no limit is named, and the fullest limit of each name."""
    parts = [problem]
    if (busy := medians.get("busy", 1.0)) < IDLE:
        parts.append(f"nothing was on the way {percent(1 - busy)} of the time")
    fullest = {limit.name: limit for limit in sorted(limits, key=lambda limit: limit.share)}
    parts += [limit.evidence for limit in sorted(fullest.values(), key=lambda limit: -limit.share)]
    return _verdict(UNCLEAR, UNCLEAR, None, None, "; ".join(parts))


def _verdict(name: str, certainty: str, share: float | None, headroom: float | None, evidence: str) -> Row:
    return dict(zip(VERDICT, (name, certainty, share, headroom, evidence), strict=True))


def better_levels(grid: Grid) -> dict[tuple[Level, ...], list[BetterLevel]]:
    """The better levels of each case, the best of each factor, the largest ratio first.

    A case is its levels of ``grid.factors``, ABSENT for an option of another protocol. A level counts if the interval
    of the ratio within blocks excludes 1 (Student's t over INTERVAL_BLOCKS blocks or more). Also, the case must have
    reached less than NEAR of the speed with that level.
    """
    rows = {tuple(codes): number for number, codes in enumerate(grid.codes.tolist())}
    factors = [factor for factor in adjustable_factors(grid) if factor not in NO_CAUSE]
    pairs = [pair for factor in factors for pair in _pairs(grid, factor, rows)]
    if not pairs:
        return {}
    own, other = np.array([places for _, *places in pairs]).T
    means = t_means(grid.log_speed[other] - grid.log_speed[own])
    matters = (means.n >= INTERVAL_BLOCKS) & (means.mean - means.half > 0) & (means.mean > -np.log(NEAR))
    by_case: dict[int, dict[str, BetterLevel]] = {}
    for at in np.flatnonzero(matters):
        factor, case, partner = pairs[at]
        own_code, code = grid.code(factor)[[case, partner]]
        ratio, low, high = np.exp(means.mean[at] + means.half[at] * np.array([0, -1, 1])).tolist()
        levels = grid.levels[factor]
        better = BetterLevel(factor, levels[own_code], levels[code], ratio, low, high, int(means.n[at]))
        of_case = by_case.setdefault(case, {})
        of_case[factor] = max(better, of_case.get(factor, better), key=lambda known: known.ratio)
    cases = list(grid.cases())
    return {
        cases[case]: sorted(by_factor.values(), key=lambda better: -better.ratio) for case, by_factor in by_case.items()
    }


def _pairs(grid: Grid, factor: str, rows: Mapping[tuple[int, ...], int]) -> list[tuple[str, int, int]]:
    """The factor, and the rows of each two cases that differ in it only."""
    place = grid.factors.index(factor)
    return [
        (factor, number, rows[partner])
        for case, number in rows.items()
        for code in range(len(grid.levels[factor]))
        if code != case[place] >= 0 and (partner := (*case[:place], code, *case[place + 1 :])) in rows
    ]
