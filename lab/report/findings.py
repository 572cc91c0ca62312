"""What a run found, in plain words: which case is fastest, which settings matter, what held the cases back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab import stats
from lab.design.case import is_of_names
from lab.design.factors import ABSENT
from lab.stats import bottleneck, limit, time_budget

ONLY_NAMES = "only names were moved: `lab show --table files` has files a second"
MOST_NAMED = 3  # cases that share the lead and are named one by one: of more, only what they have in common
PLAIN = {
    limit.WINDOW: "latency × window (too little on the way at once)",
    limit.ROUND_TRIPS: "protocol round trips (waiting for replies)",
    time_budget.START_UP: "start-up (short trials)",
    time_budget.PROGRAMS: "programs (one after the other)",
    limit.DISTURBED: "disturbed (by other programs)",
}  # what limits, as tables call it, and for somebody who does not know the term
Levels = dict[str, list[stats.Level]]  # by factor


@dataclass(frozen=True)
class Point:
    """One point of the answer: a heading of at most 13 characters, and statements, the most important first."""

    heading: str
    parts: Sequence[str]


def fastest(cases: pd.DataFrame, speeds: stats.Grid) -> list[Point]:
    """For each direction the case that is fastest, or those that the data do not tell apart, without a winner.

    ``cases`` is what :func:`lab.stats.summary` makes.
    """
    summary, measured = stats.rows_of(cases), list(stats.leaders(speeds))
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
    seen = [
        f"{group.at['direction']} {_speed([summary[place] for place in group.cases])} ({len(group.cases)} cases)"
        for group in groups
    ]
    why = f"no winner can be named from {_plural(blocks, 'block')} (at least {stats.INTERVAL_BLOCKS} are needed)"
    return Point("Fastest", [why, f"seen: {seen[0]}", *seen[1:]])


def _lead(group: stats.Leaders, summary: Sequence[stats.Row], speeds: stats.Grid) -> list[str]:
    """The lead of one direction, in statements."""
    count, tied = len(group.cases), [summary[place] for place in group.tied]
    levels = _levels_by_factor([summary[place] for place in group.cases], speeds)
    varied = [name for name, having in levels.items() if len(having) > 1]
    if count == 1:
        row = tied[0]
        share = row["share_of_ceiling"]
        of_link = f", {limit.percent(share)} of what the bare link reached" if share > 0 else ""
        return [f"{_name(row, ('protocol', 'tool'))}, {_speed(tied)}{of_link}", "it was the only case measured"]
    if len(tied) == count:
        return [f"no case was shown to be faster than another: all {count} reached {_speed(tied)}"]
    if len(tied) == 1:
        others = f"the {count - 1} others" if count > 2 else "the other case"
        return [f"{_name(tied[0], varied)}: {_speed(tied)}, faster than {others}"]
    having, of_all = _levels_by_factor(tied, speeds), {name: levels[name] for name in varied}
    call = f"too close to call between {len(tied)} of {count} cases"
    if len(tied) > MOST_NAMED:
        return [f"{call}, {_speed(tied)}", *_shared(having, of_all), *_missing(having, of_all)]
    differ = [name for name in varied if len({row[name] for row in tied}) > 1]
    named = ", ".join(f"{_name(row, differ)} ({row['median_MB_per_s']:.1f} MB/s)" for row in tied)
    return [f"{call}: {named}", *_shared(having, of_all)]


def fastest_intervals(cases: pd.DataFrame, speeds: stats.Grid) -> list[str]:
    """For each direction the cases that may be the fastest, each with its median, interval and number of trials."""
    summary, sentences = stats.rows_of(cases), []
    groups = [group for group in stats.leaders(speeds) if not is_of_names(str(group.at["workload"]))]
    several = len({group.at["workload"] for group in groups}) > 1
    for group in groups:
        levels = _levels_by_factor([summary[place] for place in group.cases], speeds)
        names = [name for name, having in levels.items() if len(having) > 1] or ["protocol", "tool"]
        named = [_with_interval(summary[place], names) for place in group.tied[:MOST_NAMED]]
        more = len(group.tied) - MOST_NAMED
        rest = [f"and {more} more that may be as fast"] if more > 0 else []
        where = ", ".join([str(group.at["direction"]), *([str(group.at["workload"])] if several else [])])
        sentences.append(f"{where}: {'; '.join([*named, *rest])}")
    return sentences


def _with_interval(row: stats.Row, names: Sequence[str]) -> str:
    """A case with its median, the 95 % interval of that, and what it rests on."""
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


def _shared(tied: Levels, all_cases: Levels) -> list[str]:
    """The levels that all of the cases that share the lead have."""
    shared = [_level(name, tied[name][0]) for name in all_cases if len(tied[name]) == 1]
    return [f"all of them have {', '.join(shared)}"] if shared else []


def _missing(tied: Levels, all_cases: Levels) -> list[str]:
    """The levels that none of them has, of factors that differ between them."""
    several = [name for name in all_cases if len(tied[name]) > 1]
    missing = [_level(name, level) for name in several for level in all_cases[name] if level not in tied[name]]
    return [f"none has {', '.join(missing)}"] if missing else []


def _name(row: stats.Row, names: Sequence[str]) -> str:
    """A case by some of its factors, such as ``SMB cp, MTU 9000``."""
    first = " ".join(_level(name, row[name]) for name in ("protocol", "tool") if name in names)
    others = [_level(name, row[name]) for name in names if name not in ("protocol", "tool") and row[name] != ABSENT]
    return ", ".join(filter(None, [first, *others]))


def _level(name: str, level: stats.Level) -> str:
    """A level as it names a case: with its factor, but for a protocol or a tool."""
    label = stats.level_label(name, level)
    return label if name in ("protocol", "tool") else f"{stats.factor_label(name)} {label}"


def _speed(rows: Sequence[stats.Row]) -> str:
    """The median of a case, or the range of those of several."""
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
        seen = [f"{stats.compared_label(row)} {_percent(row['change_pct'])}" for row in rows]
        return [Point("What matters", [f"too few blocks to tell ({blocks}); seen so far: {seen[0]}", *seen[1:]])]
    established = [row for row in rows if row["established"]]
    parts = [effect_words(row) for row in established]
    parts += [_not_shown(row) for row in rows if not row["established"]]
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
    """What a level changes, in words, with its interval where there is one."""
    low, high = interval(row)
    change = f"{stats.compared_label(row)}: {_percent(row['change_pct'])}"
    return change if np.isnan(low) else f"{change} ({_number(low)} to {_number(high)})"


def _not_shown(row: stats.Row) -> str:
    """An effect that is not established, with what could have been seen; or with its interval, where that has no 0."""
    low, high = interval(row)
    if low > 0 or high < 0:
        return f"{effect_words(row)}, perhaps by chance: it is one of many"
    what = f"{stats.compared_label(row)} not shown to matter ({_percent(row['change_pct'])}"
    half = half_width(row)
    return f"{what}; it would show from ±{half:.{0 if half >= 10 else 1}f} % on)" if np.isfinite(half) else f"{what})"


def _percent(change: float) -> str:
    return f"{_number(change)} %"


def _number(change: float) -> str:
    return f"{change:+.{0 if abs(change) >= 10 else 1}f}"


def held_back(verdicts: pd.DataFrame) -> list[Point]:
    """What limited how many cases and how certain that is, most cases first; then what would help most of them."""
    if verdicts.empty:
        return []
    ordered = Counter(verdicts["limited_by"]).most_common()
    parts = [f"{_plain(name)} in {_of(count, len(verdicts))}{_grades(verdicts, name)}" for name, count in ordered]
    first = ordered[0][0]
    helps = [f"there {bottleneck.REMEDY[first]}"] if first in bottleneck.REMEDY else []
    return [Point("Held back by", [*parts[:1], *helps, *parts[1:]])]


def _plain(limited_by: str) -> str:
    """What limits, in plain words: of a factor, that another of its levels was faster."""
    if limited_by in (limit.UNCLEAR, *PLAIN) or limited_by in bottleneck.REMEDY:
        return PLAIN.get(limited_by, limited_by)
    return f"{limited_by} (another one was faster)"


def _of(count: int, total: int) -> str:
    if count == total:
        return f"all {total} cases" if total > 1 else "the one case"
    return f"{count} of {total} cases"


def _grades(verdicts: pd.DataFrame, name: str) -> str:
    """How certain the verdicts of one limit are, in brackets; empty for a run whose verdicts have no grades."""
    if "grade" not in verdicts or name == limit.UNCLEAR:
        return ""
    grades = Counter(verdicts.loc[verdicts["limited_by"] == name, "grade"])
    total = sum(grades.values())
    named = [grade if count == total else f"{count} {grade}" for grade, count in grades.most_common()]
    return f" ({', '.join(named)})"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
