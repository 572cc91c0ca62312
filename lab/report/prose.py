"""The sentences beside tables and figures, the same in HTML, Markdown and the terminal."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import one_line
from lab.results.json_object import RunJson
from lab.results.trial import emulated

MOST_NAMED = 6  # facts or rows of a sentence
LONGEST_VALUE = 60  # characters of a value that is named in a sentence
LONGEST_LABEL = 80
COARSE = 0.2  # width of an interval above 1 from which on one decimal place is enough
LOCAL_LAB = (
    "These are numbers of the local lab: client and server share one machine, its cores and its memory. "
    "They compare settings there and say nothing about other hardware."
)
EMULATED_MAC = (
    "A host was an emulated Mac: its commands behave as a Mac's do, and Linux did the work. No number here is a "
    "measurement of a Mac."
)
CONFOUNDED = (
    "Two runs at different times differ in everything that changed meanwhile, not only in what was meant to: the "
    "changes may come from any of it. Only what is varied within one run is compared fairly."
)
FEWER_THAN_TWO = "Fewer than two settings were varied beside protocol, tool and direction."
TEXTS = {
    "throughput": "Every mark is one trial, the black tick the median of one setting, the coloured ticks what iperf3 "
    "reached on the bare link at that setting, in each block (short) and their median (long): the ceiling. Crosses are "
    "void or failed trials; they are shown and are in no median, and one with a number beside it lies beyond the axis. "
    "MB/s are 10⁶ bytes per second.",
    "effects": "The speed at the new level over that at the old one, less one, over all pairs of trials that differ in "
    "this one setting. Bold: over all cases; below it by protocol, tool and direction. The axis is one of ratios: "
    "twice and half are equally far. Small marks are blocks. The thin line is the 95 % interval of their mean "
    "(Student's t); the thick one has what the other rows say of the noise, too (moderated t). Below 3 blocks there is "
    "none. A hollow mark is not established: the data do not say which way the setting works.",
    "interactions": "Two settings together, over the product of what each changes alone: at 0 % the first changes as "
    "much on top of the second as without it. Lines and marks as above.",
    "shares": "How much of the sum of squares of log MB/s goes with each setting, with two of them together, with the "
    "block (drift), and with the rest: higher interactions and noise. Type II; where combinations are missing (cp has "
    "no ssh) the shares need not add up to 100 %.",
    "files": "What one file of the tree comes to. Where files are small, most of the time goes into round trips, and "
    "MB/s say little.",
    "waterfall": "What each stage between the disk and the tool carries by itself, and what the fastest case of each "
    "protocol and tool makes of it. Where a tool is faster than the store, memory stood in for the disk. A bar with an "
    "arrow goes on beyond the panel.",
    "store": "What the server's store takes and gives when no network and no file protocol stand in the way, measured "
    "on the server itself.",
    "cpu_cost": "CPU seconds that each machine spent for 10⁹ bytes moved: the bar is the median, every mark a trial.",
    "limited": "Derived from what both hosts counted meanwhile; docs/explanation/bottlenecks.md has the rules. Unclear "
    "means that the evidence does not carry, and the line says why.",
    "remarks": "What the lab found odd in trials that count all the same.",
    "timeline": "Above, every trial in the order in which it ran. Below, how far it lies from its own case over "
    "the whole run: block medians that move one way mean that the machines or the link drifted.",
}


def warnings(run: RunJson) -> list[str]:
    """The warnings at the top of a report: the machines, and cases that could not be measured."""
    return [*warnings_of_machines(run), *not_measured(run)]


def warnings_of_machines(run: RunJson) -> list[str]:
    """Warnings that the machines of a run were virtual or emulated."""
    return [*([LOCAL_LAB] if run.get("instance") is not None else []), *([EMULATED_MAC] if emulated(run) else [])]


def not_measured(run: RunJson) -> list[str]:
    """Why cases of the sweep were left out, and what would help, each reason once."""
    return [f"Not measured: {reason}." for reason in dict.fromkeys(run.get("left_out", {}).values())]


def about_hosts(run: RunJson) -> str:
    """TCP settings of both hosts that the sweep does not vary, for the head of a report."""
    named = {role: facts["congestion"] for role, facts in run.get("hosts", {}).items() if facts.get("congestion")}
    if not named:
        return ""
    alike = len(named) == len(run["hosts"]) and len(set(map(str, named.values()))) == 1
    algorithms = [f"{name}" if alike else f"{name} ({role})" for role, name in named.items()]
    return f"TCP congestion control: {', '.join(dict.fromkeys(algorithms))}"


def head(run: RunJson, trials: stats.Trials) -> list[str]:
    """The lines at the top of all that shows a run: where, when, and what was measured."""
    return [line for line in (*stats.provenance(trials), about_hosts(run)) if line]


def chance(table: pd.DataFrame) -> str:
    """How many comparisons a table makes, what of it chance alone would bring, what it can show, and its mark."""
    count = int(table["p_value"].notna().sum())
    if not count:
        return f"Too few blocks for intervals: at least {stats.INTERVAL_BLOCKS} are needed."
    missed = f"{count} comparisons: about {0.05 * count:.1f} of the plain 95 % intervals miss by chance. "
    if not any(str(name).endswith("moderated_p") for name in table):
        return f"{missed}* is established: its p-value, adjusted for all of them by Holm, is below 0.05."
    return (
        f"{missed}{_visible(table)}* is established: the plain interval is without 0, and the p-value of the moderated "
        "one, adjusted for all of them (overall rows first), is below 0.05."
    )


def _visible(table: pd.DataFrame) -> str:
    """The least change that half of the rows can tell from none, and whether blocks resemble one another."""
    prefix = "interaction_" if "with_factor" in table else ""
    low, high = (table[f"{prefix}moderated_{end}_pct"].to_numpy() for end in ("low", "high"))
    half = 100 * (float(np.nanmedian(np.sqrt((100 + high) / (100 + low)))) - 1)
    text = f"With {table['n_blocks'].max()} blocks of this run's noise a change of about ± {half:.2g} % can be seen. "
    if (table[f"{prefix}moderated_p"] > table["p_value"])[table["n_blocks"] >= stats.ENOUGH_BLOCKS].any():
        text += "Where the moderated interval is the wider one, blocks resemble the one before, and count as fewer. "
    return text


def interaction_sentence(row: stats.Row) -> str:
    """One row of :func:`lab.stats.interactions` in words: alone, on top of the other, and if the two add up."""
    first = f"{stats.factor_label(row['factor'])} {stats.level_label(row['factor'], row['level'])}"
    base, other = (stats.level_label(row["with_factor"], row[f"with_{name}"]) for name in ("baseline", "level"))
    second = stats.factor_label(row["with_factor"])
    both = span(row, "interaction")
    if row["established"]:
        together = f"{'more' if row['interaction_pct'] > 0 else 'less'} than the two alone by {both}"
    elif np.isnan(row["p_value"]):
        together = "too few blocks to say if the two act on each other"
    else:
        together = f"together no different from the two alone, beyond noise: {both}"
    return (
        f"{stats.row_label(row)}: {first}: {span(row, 'alone')} at {second} {base}; on top of {other} "
        f"{span(row, 'on_top')}; {together} (n = {row['n_blocks']} blocks)."
    )


def interaction_sentences(table: pd.DataFrame) -> str:
    """The established rows of a table of interactions in words, at most five, and how many the others are."""
    established = table[table["established"]].sort_values("p_value", kind="stable").head(5)
    sentences = [interaction_sentence(row) for row in stats.rows_of(established)]
    others = len(table) - int(table["established"].sum())
    if len(table) and others:
        sentences.append(f"Of {len(table)} combinations, {others} do not differ from the two alone beyond noise.")
    return " ".join(sentences)


def drift_sentence(drift: stats.Drift) -> str:
    """The result of :func:`lab.stats.drift` in one sentence."""
    parts = []
    if drift.n_blocks:
        within = _interval(*drift.in_block_pct)
        parts.append(f"inside a block the anchor changed by {within} (n = {drift.n_blocks} blocks)")
    if not np.isnan(drift.over_run_pct[0]):
        whole = f"{_interval(*drift.over_run_pct)}, all cases together (n = {drift.n_points} blocks)"
        parts.append(f"from its first block to its last speeds changed by {whole}")
        parts += filter(None, [drift_ends(drift)])
    return f"{capitalised('; '.join(parts))}." if parts else "One block cannot tell if anything drifted."


def drift_ends(drift: stats.Drift) -> str:
    """The first and the last speed of a run, as :func:`lab.stats.drift` finds them; empty if it knows none."""
    first, last = (f"{speed:.{0 if speed >= 20 else 1}f} MB/s" for speed in drift.ends)
    return f"the {drift.direction} speed began at {first} and ended at {last}" if drift.direction else ""


def span(row: stats.Row, part: str) -> str:
    """A change of a table with its interval, such as ``+1.2 % [+0.4, +2.0]``."""
    return _interval(*(row[f"{part}{end}"] for end in ("_pct", "_low_pct", "_high_pct")))


def capitalised(text: str) -> str:
    """The text with a capital at its begin."""
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Names one after another, the last with `and`; of many only the first, and how many more there are."""
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _interval(change: float, low: float, high: float) -> str:
    return f"{change:+.1f} % [{low:+.1f}, {high:+.1f}]" if not np.isnan(low) else f"{change:+.1f} % [no interval]"


def times(row: stats.Row) -> str:
    """The ratio of a row of VERSUS with its interval, such as ``1.8 [1.6, 2.1]``."""
    low, high = row["ratio_low"], row["ratio_high"]
    if np.isnan(low):
        return f"{_ratio(row['ratio'], 2)} [no interval]"
    places = 1 if low >= 1 and high - low >= COARSE else 2
    return f"{_ratio(row['ratio'], places)} [{_ratio(low, places)}, {_ratio(high, places)}]"


def times_as_fast(row: stats.Row, than: str = "") -> str:
    """The ratio in words: ``1.8 times as fast as A [1.6, 2.1]``."""
    ratio, _, interval = times(row).partition(" ")
    return f"{ratio} times as fast{f' as {than}' if than else ''} {interval}"


def _ratio(value: float, places: int) -> str:
    return f"{value:.{places}f}" if 0.1 <= value < 10 else f"{value:.3g}"


def short_label(row: stats.Row) -> str:
    """Where a row holds, such as ``AFP cp write``, in few characters."""
    return one_line(stats.row_label(row), LONGEST_LABEL)
