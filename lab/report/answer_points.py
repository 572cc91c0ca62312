"""The points of an answer in plain words: which case is fastest, what matters, what held the cases back, what next."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import listing
from lab.design.case import is_of_names
from lab.design.factors import ABSENT
from lab.design.stopping import half_width_factor
from lab.report.analysis import Analysis
from lab.report.tables import setting_label
from lab.results.set_aside import is_aside
from lab.stats import bottleneck, limit, time_budget

ONLY_NAMES = "only names were moved: `lab show --table files` has files a second"
MOST_NAMED = 3  # cases in the lead that are named one by one; more are told by what they have in common
PLAIN = {
    limit.WINDOW: "latency × window (too little on the way at once)",
    limit.ROUND_TRIPS: "protocol round trips (waiting for replies)",
    time_budget.START_UP: "start-up (short trials)",
    time_budget.PROGRAMS: "programs (one after the other)",
    limit.DISTURBED: "disturbed (by other programs)",
}  # limits as tables call them, and for readers who do not know the term
ENDED = "complete"  # in run.json, if the run did all that its sweep asks for
MANY_LOST = 0.1  # share of the trials; with more, what went wrong comes first
WORTH_PERCENT = 10  # gain by a TCP buffer; with less, the limit is elsewhere by now
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]{1,100}")
MORE_BLOCKS = 2  # times as many: the interval of a mean becomes narrower by the root of it, and by the smaller t
Levels = dict[str, list[stats.Level]]  # by factor


@dataclass(frozen=True)
class Point:
    """One point of the answer: a heading of at most 13 characters, and statements, the most important first."""

    heading: str
    parts: Sequence[str]


def fastest(run: Analysis) -> list[Point]:
    """For each direction the case that is fastest, or those that the data do not tell apart, without a winner."""
    summary, speeds = stats.rows_of(run.summary), run.speeds
    measured = list(stats.leaders(speeds))
    groups = [group for group in measured if not is_of_names(str(group.at["workload"]))]
    if not groups:
        return [Point("Fastest", [ONLY_NAMES if measured else "no transfer was measured"])]
    too_few = [group for group in groups if len(group.cases) > 1 and group.blocks < stats.INTERVAL_BLOCKS]
    decided = [group for group in groups if group not in too_few]
    points = [Point(f"Fastest {group.at['direction']}", _lead(group, summary, speeds)) for group in decided]
    points = points if len(points) <= 2 else [*points[:2], Point("Fastest", [f"{len(points) - 2} more payloads"])]
    return [*points, *([_too_few_blocks(too_few, summary)] if too_few else [])]


def _too_few_blocks(groups: Sequence[stats.Leaders], summary: Sequence[stats.Row]) -> Point:
    blocks = max(group.blocks for group in groups)
    speeds = [
        f"{group.at['direction']} {_speed([summary[place] for place in group.cases])} ({len(group.cases)} cases)"
        for group in groups
    ]
    why = f"no winner can be named from {_plural(blocks, 'block')} (at least {stats.INTERVAL_BLOCKS} are needed)"
    return Point("Fastest", [why, f"seen: {speeds[0]}", *speeds[1:]])


def _lead(group: stats.Leaders, summary: Sequence[stats.Row], speeds: stats.Grid) -> list[str]:
    count, tied = len(group.cases), [summary[place] for place in group.tied]
    levels = _levels_by_factor([summary[place] for place in group.cases], speeds)
    varied = [name for name in levels if len(levels[name]) > 1]
    if count == 1:
        share = tied[0]["share_of_ceiling"]
        of_link = f", {limit.percent(share)} of what the bare link reached" if share > 0 else ""
        return [f"{_name(tied[0], ('protocol', 'tool'))}, {_speed(tied)}{of_link}", "it was the only case measured"]
    if len(tied) == count:
        return [f"no case was shown to be faster than another: all {count} reached {_speed(tied)}"]
    if len(tied) == 1:
        others = f"the {count - 1} others" if count > 2 else "the other case"
        return [f"{_name(tied[0], varied)}: {_speed(tied)}, faster than {others}"]
    shared_by_tied = _levels_by_factor(tied, speeds)
    shared = [_level(name, shared_by_tied[name][0]) for name in varied if len(shared_by_tied[name]) == 1]
    statements = [f"all of them have {', '.join(shared)}"] if shared else []
    call = f"too close to call between {len(tied)} of {count} cases"
    if len(tied) <= MOST_NAMED:
        differ = [name for name in varied if len({row[name] for row in tied}) > 1]
        named = ", ".join(f"{_name(row, differ)} ({row['median_MB_per_s']:.1f} MB/s)" for row in tied)
        return [f"{call}: {named}", *statements]
    several = [name for name in varied if len(shared_by_tied[name]) > 1]
    missing = [_level(name, of) for name in several for of in levels[name] if of not in shared_by_tied[name]]
    return [f"{call}, {_speed(tied)}", *statements, *([f"none has {', '.join(missing)}"] if missing else [])]


def fastest_intervals(run: Analysis) -> list[str]:
    """For each direction the cases that may be the fastest, each with its median, interval and number of trials."""
    summary, sentences = stats.rows_of(run.summary), []
    groups = [group for group in stats.leaders(run.speeds) if not is_of_names(str(group.at["workload"]))]
    several = len({group.at["workload"] for group in groups}) > 1
    for group in groups:
        levels = _levels_by_factor([summary[place] for place in group.cases], run.speeds)
        names = [name for name in levels if len(levels[name]) > 1] or ["protocol", "tool"]
        named = [_with_interval(summary[place], names) for place in group.tied[:MOST_NAMED]]
        more = len(group.tied) - MOST_NAMED
        rest = [f"and {more} more that may be as fast"] if more > 0 else []
        where = ", ".join(str(group.at[name]) for name in ("direction", *["workload"] * several))
        sentences.append(f"{where}: {'; '.join([*named, *rest])}")
    return sentences


def _with_interval(row: stats.Row, names: Sequence[str]) -> str:
    low, high = row["low_MB_per_s"], row["high_MB_per_s"]
    span = "no interval" if np.isnan(low) else f"95 % interval {low:.1f} to {high:.1f}"
    return f"{_name(row, names)}: {row['median_MB_per_s']:.1f} MB/s ({span}, n = {row['n']})"


def _levels_by_factor(rows: Sequence[stats.Row], speeds: stats.Grid) -> Levels:
    """The levels that some cases have of each factor that a person can choose, in reading order.

    If a case lacks the option because it belongs to another protocol, the cases share no level of it.
    """
    having = {name: {row[name] for row in rows} for name in speeds.varied if name not in stats.MEASURED}
    return {
        name: [level for level in speeds.levels[name] if level in levels or ABSENT in levels]
        for name, levels in having.items()
    }


def _name(row: stats.Row, names: Sequence[str]) -> str:
    """A case by some of its factors, such as ``SMB cp, MTU 9000``."""
    first = " ".join(_level(name, row[name]) for name in ("protocol", "tool") if name in names)
    others = [_level(name, row[name]) for name in names if name not in ("protocol", "tool") and row[name] != ABSENT]
    return ", ".join(filter(None, [first, *others]))


def _level(name: str, level: stats.Level) -> str:
    return stats.level_label(name, level) if name in ("protocol", "tool") else setting_label(name, level)


def _speed(rows: Sequence[stats.Row]) -> str:
    medians = [row["median_MB_per_s"] for row in rows]
    low, high = (f"{value:.1f}" for value in (min(medians), max(medians)))
    return f"{low} MB/s" if low == high else f"{low} to {high} MB/s"


def what_matters(effects: pd.DataFrame, blocks: int) -> list[Point]:
    """Each setting over all cases, the largest effect first: what is established, then what is not."""
    rows = stats.rows_of(effects.dropna(subset="change_pct"))
    if not rows:
        return [Point("What matters", ["no two levels of a setting were measured in one block: nothing to compare"])]
    rows.sort(key=lambda row: -abs(np.log(row["ratio"])))
    if blocks < stats.INTERVAL_BLOCKS:
        changes = [f"{stats.compared_label(row)} {_number(row['change_pct'])} %" for row in rows]
        return [Point("What matters", [f"too few blocks to tell ({blocks}); seen so far: {changes[0]}", *changes[1:]])]
    established = [row for row in rows if row["established"]]
    parts = [*map(effect_words, established), *(_not_shown(row) for row in rows if not row["established"])]
    if not established:
        parts[0] = f"no setting was shown to matter in {_plural(blocks, 'block')}; {parts[0]}"
    return [Point("What matters", parts)]


def interval(row: stats.Row) -> tuple[float, float]:
    """The interval of an effect in percent: the moderated one, where there is one."""
    prefix = "moderated_" if not np.isnan(row.get("moderated_low_pct", np.nan)) else ""
    return row[f"{prefix}low_pct"], row[f"{prefix}high_pct"]


def half_width(row: stats.Row) -> float:
    """How large an effect in percent would have to be to lie outside an interval as wide as this row's around 0."""
    low, high = interval(row)
    return 100 * float(np.sqrt((100 + high) / (100 + low)) - 1) if low > -100 else np.inf


def effect_words(row: stats.Row) -> str:
    """The change that a level makes, in words, with its interval if there is one."""
    low, high = interval(row)
    change = f"{stats.compared_label(row)}: {_number(row['change_pct'])} %"
    return change if np.isnan(low) else f"{change} ({_number(low)} to {_number(high)})"


def _not_shown(row: stats.Row) -> str:
    """An effect that is not established, with its interval if that lacks 0, else with what could have been seen."""
    low, high = interval(row)
    if low > 0 or high < 0:
        return f"{effect_words(row)}, perhaps by chance: it is one of many"
    change = f"{stats.compared_label(row)} not shown to matter ({_number(row['change_pct'])} %"
    half = half_width(row)
    visible = f"; it would show from ±{half:.{0 if half >= 10 else 1}f} % on" if np.isfinite(half) else ""
    return f"{change}{visible})"


def _number(change: float) -> str:
    return f"{change:+.{0 if abs(change) >= 10 else 1}f}"


def held_back(verdicts: pd.DataFrame) -> list[Point]:
    """The limits with their cases and grades, the most frequent first, and what would help there."""
    if verdicts.empty:
        return []
    ordered = Counter(verdicts["limited_by"]).most_common()
    parts = [_limit(name, count, verdicts) for name, count in ordered]
    first = ordered[0][0]
    helps = [f"there {bottleneck.REMEDY[first]}"] if first in bottleneck.REMEDY else []
    return [Point("Held back by", [*parts[:1], *helps, *parts[1:]])]


def _limit(name: str, count: int, verdicts: pd.DataFrame) -> str:
    """A limit, in how many of the cases, and how certain that is; verdicts of an older run have no grades."""
    is_known = name in (limit.UNCLEAR, *PLAIN) or name in bottleneck.REMEDY
    plain = PLAIN.get(name, name) if is_known else f"{name} (another one was faster)"  # a factor
    total = len(verdicts)
    cases = f"{count} of {total} cases" if count < total else f"all {total} cases" if total > 1 else "the one case"
    if "grade" not in verdicts or name == limit.UNCLEAR:
        return f"{plain} in {cases}"
    grades = Counter(verdicts.loc[verdicts["limited_by"] == name, "grade"]).most_common()
    named = [grade if of_grade == count else f"{of_grade} {grade}" for grade, of_grade in grades]
    return f"{plain} in {cases} ({', '.join(named)})"


def next_step(run: Analysis, effects: pd.DataFrame, path: str) -> Point:
    """The step: go on, look at what was lost or left out, measure more, or read the rest."""
    described, command, lost = run.described, shlex.quote(path), share_lost(run.trials)
    sweep_file = described.get("sweep_file", "")
    # the sweep file of a foreign run may be anything
    again = f", then `lab run {sweep_file if PLAIN_PATH.fullmatch(sweep_file) else 'SWEEP'}`"
    if not described.get("finished_at") or described.get("ended", ENDED) != ENDED:
        steps = [f"the run is not complete; `lab run --resume {command}` goes on with it"]
    elif lost > MANY_LOST:
        why = "no trial counts" if lost == 1 else "trials do not count"
        steps = [f"see why {why}: `lab show {command} --table lost`"]
    elif closed := described.get("closed"):
        steps = [f"{listing(closed, 3)} was left out: `lab show {command} --full` says what to do{again}"]
    else:
        steps = [f"{step}{again}" for step in _measure_more(run.speeds, stats.rows_of(effects))]
    return Point("Next", [*steps, f"the rest: `lab show {command} --full`, figures: `lab report {command}`"])


def share_lost(trials: stats.Encoded) -> float:
    """The share of transfers that do not count, without those that were set aside to be measured again."""
    transfers = stats.transfers(trials)
    transfers = transfers[~transfers["trial_id"].map(is_aside).astype(bool)]
    return float((transfers["status"] != "ok").mean()) if len(transfers) else 1.0


def _measure_more(speeds: stats.Grid, effects: Sequence[stats.Row]) -> list[str]:
    blocks = len(speeds.blocks)
    if blocks < stats.INTERVAL_BLOCKS:
        return [f"measure more: set blocks = {2 * stats.INTERVAL_BLOCKS} in the sweep"]
    largest = speeds.levels["tcp_space"][-1]
    for row in effects:
        is_largest = row["factor"] == "tcp_space" and row["level"] == largest
        if is_largest and row["established"] and row["change_pct"] > WORTH_PERCENT:  # a larger one may be faster still
            return [f"add a TCP buffer above {stats.level_label('tcp_space', largest)} to the sweep (tcp_space)"]
    widths = [half_width(row) for row in effects if not row["established"] and row["n_blocks"] > 1]
    if not widths or not np.isfinite(max(widths)):
        return []
    more = MORE_BLOCKS * blocks
    width = 100 * np.expm1(np.log1p(max(widths) / 100) * (half_width_factor(more) / half_width_factor(blocks)))
    return [f"to see effects from some ±{width:.{0 if width >= 10 else 1}f} % on, set blocks = {more} in the sweep"]


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
