"""What was published beside one's own run: medians where raid level, tool and direction are the same, and changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.design.factors import ABSENT, DEFAULT
from lab.results.published import Published, find_baseline
from lab.stats.encoding import Trials, encode, measured
from lab.stats.intervals import Floats, median, percent_change, sorted_interval, t_means
from lab.stats.store_numbers import BYTES, OF_STORES, measurements

SLIP = 0.5  # percentage points: what printed and recomputed change may differ by rounding
# The test of bonnie++ that an operation of a post is, by its name in lab.stats.store_numbers
OPERATIONS = {
    "seq output per chr": "write_char", "seq output block": "write_block", "rewrite": "rewrite",
    "seq input per chr": "read_char", "seq input block": "read_block", "random seeks": "seeks", "seq create": "create",
    "seq stat": "stat", "seq delete": "delete", "random create": "random_create", "random stat": "random_stat",
    "random delete": "random_delete",
}  # fmt: skip
# Levels of zfs.disks: pools on devices of the user's
WHOLE, PARTITIONS = "named", "partitions"
# What lies below a variant of the posts, where its table has no columns for it
VARIANTS: dict[str, dict[str, str]] = {
    "ssd hfs+": {"store": "disk"}, "single disk hfs+": {"store": "disk"},
    "raidz o3x lz4": {"store": "zfs", "raid": "raidz", "compression": "lz4"},
    "full disk partition": {"disks": PARTITIONS},
}  # fmt: skip
NOT_MADE = ("2TB partition",)  # variants that no run has
KERNELS = ("old kernel", "new kernel")
OF_POOL = ("raid", "vdevs", "ashift", "compression", "disks")
_Levels: TypeAlias = dict[str, npt.NDArray[np.object_]]


@dataclass(frozen=True)
class Recomputed:
    """A published figure with the change that its values give: NaN where it has no baseline. ``is_slip``: the printed
    change is another one.
    """

    figure: Published
    change_pct: float
    is_slip: bool


@dataclass(frozen=True)
class Own:
    """What one's own run has for a published figure: its median (bytes, or operations, a second) over ``n_blocks``
    blocks with its interval, and its change against the same baseline, with its interval. NaN where there is none.

    ``differs`` says what the post states and the run has otherwise.
    """

    median: float
    low: float
    high: float
    n_blocks: int
    change_pct: float
    change_low_pct: float
    change_high_pct: float
    differs: tuple[str, ...]


def recompute(figures: Sequence[Published]) -> list[Recomputed]:
    """Each figure with its change by :func:`lab.stats.percent_change`."""
    return [_recompute(figure, find_baseline(figure, figures)) for figure in figures]


def _recompute(figure: Published, baseline: Published | None) -> Recomputed:
    if baseline is None:
        return Recomputed(figure, np.nan, is_slip=False)
    change = float(percent_change(baseline.rate, figure.rate))
    printed = figure.change_pct
    return Recomputed(figure, change, printed is not None and abs(printed - change) > SLIP)


def beside(figures: Sequence[Published], trials: Trials) -> list[Own | None]:
    """For each figure what the run has of the same; None where it has nothing that matches."""
    own = own_cases(trials)
    levels = {str(name): own[name].astype(str).to_numpy(dtype=object) for name in own}
    return [_beside(figure, find_baseline(figure, figures), own, levels) for figure in figures]


def own_cases(trials: Trials) -> pd.DataFrame:
    """One row a case, test and block: its median, ``value``. Columns are those that published figures are matched by.

    The levels of a pool are those that were read back.
    """
    parts = [part for part in (_of_stores(trials), _of_shares(trials)) if len(part)]
    if not parts:
        return pd.DataFrame()
    every = pd.concat(parts, ignore_index=True).fillna(dict.fromkeys(OF_POOL, ABSENT))
    keys = [name for name in every if name != "value"]
    own = every.groupby(keys, sort=False, observed=True, dropna=False)["value"].median().reset_index()
    return own.astype({name: "str" for name in keys if name not in ("block", "is_bytes")})


def _of_stores(trials: Trials) -> pd.DataFrame:
    frame = encode(trials).frame
    rows = frame[frame["protocol"].isin(OF_STORES) & (frame["status"] == "ok")].copy()
    for name in OF_POOL:
        rows[f"zfs.{name}"] = [level(options, effective, f"zfs.{name}") for options, effective in _both(rows)]
    flushes = pd.Series(
        [effective.get("flushed") == "fsync" for _, effective in _both(rows)], index=rows.index, dtype=bool
    )
    parts = [_of_measurements(rows[chosen], flushed) for chosen, flushed in ((flushes, "yes"), (~flushes, ""))]
    return pd.concat(parts, ignore_index=True)


def _of_measurements(rows: pd.DataFrame, flushed: str) -> pd.DataFrame:
    """The numbers of stores by themselves; ``flushed``: bonnie++ flushed each small file."""
    every = measurements(rows)
    if every.empty:
        return every
    table = every[["store", "block", "tool", "value"]].assign(operation=every["test"], is_bytes=every["unit"] == BYTES)
    pool = {name: every.get(f"zfs.{name}", ABSENT) for name in OF_POOL}
    other = {"kind": "storage", "protocol": "", "mtu": "", "tcp_space": "", "flushed": flushed}
    return table[table["value"] > 0].assign(**other, **pool)


def _both(rows: pd.DataFrame) -> list[tuple[dict[str, str], dict[str, str]]]:
    return list(zip(rows["options"], rows["effective"], strict=True))


def level(options: dict[str, str], effective: dict[str, str], name: str) -> str:
    """The level of an option of a store: as read back, or as it was asked for; ABSENT where neither says."""
    asked = options.get(name, ABSENT)
    return str(effective.get(name, ABSENT if asked == DEFAULT else asked))


def _of_shares(trials: Trials) -> pd.DataFrame:
    rows = measured(trials)
    rows = rows[~rows["protocol"].isin(OF_STORES)]
    return pd.DataFrame({
        "kind": "network", "flushed": "", "store": rows["store"].astype(str), "block": rows["block"], "is_bytes": True,
        "protocol": rows["protocol"].astype(str), "tool": rows["tool"].astype(str),
        "operation": rows["direction"].astype(str), "mtu": rows["mtu"].astype(str),
        "tcp_space": rows["tcp_space"].astype(str), "value": rows["bytes_per_s"],
        **{name: [level(options, effective, f"zfs.{name}") for options, effective in _both(rows)] for name in OF_POOL},
    })  # fmt: skip


def _beside(figure: Published, baseline: Published | None, own: pd.DataFrame, levels: _Levels) -> Own | None:
    rows = _matching(figure, own, levels)
    if not len(rows):
        return None
    by_block = _by_block(rows)
    ordered = np.sort(by_block.to_numpy(dtype=float))
    change = (np.nan,) * 3
    if baseline is not None and len(others := _matching(baseline, own, levels)):
        change = _change(_by_block(others), by_block)
    return Own(median(ordered), *sorted_interval(ordered), len(ordered), *change, _differing(figure, rows))


def _matching(figure: Published, own: pd.DataFrame, levels: _Levels) -> pd.DataFrame:
    """The rows of one's own that have all that a figure states, but for its hardware; ``levels`` as text, by column."""
    if not len(own):
        return own
    wanted = _wanted(figure)
    if not wanted or figure.settings["variant"] in NOT_MADE:
        return own[:0]
    matches = np.logical_and.reduce([levels[name] == value for name, value in wanted.items()])
    if not matches.any():
        return own[:0]
    matches = matches & (own["is_bytes"] == figure.is_bytes).to_numpy()
    if wanted.get("disks") != PARTITIONS:
        matches = matches & (own["disks"] != PARTITIONS).to_numpy()
    if figure.settings["server_store"] == "ram":
        matches = matches & (own["store"] == "ram").to_numpy()
    return own.loc[matches]


def _wanted(figure: Published) -> dict[str, str]:
    """The levels of one's own that a figure asks for, by column; empty for what no run of the lab measures."""
    settings = figure.settings
    if figure.kind == "network":
        names = ("operation", "protocol", "tool", "mtu", "tcp_space")
        return {"kind": "network"} | {name: settings[name] for name in names if settings[name]}
    if settings["tool"] == "dd":
        operation = settings["operation"]
    elif settings["tool"] == "bonnie++":
        operation = OPERATIONS[settings["operation"]]
    else:
        return {}
    wanted = {"kind": "storage", "tool": settings["tool"], "operation": operation}
    raid = settings["raid"] or settings["server_store"]
    pool = {"raid": raid.replace("single", "stripe"), "vdevs": settings["disks"]}
    pool["ashift"] = settings["ashift"]
    return wanted | {name: value for name, value in pool.items() if value} | VARIANTS.get(settings["variant"], {})


def _by_block(rows: pd.DataFrame) -> pd.Series:
    """One number a block: the geometric mean of the cases that match."""
    blocks: pd.Series = np.exp(np.log(rows["value"]).groupby(rows["block"]).mean())
    return blocks


def _change(base: pd.Series, value: pd.Series) -> tuple[float, float, float]:
    """The change in percent, by pairs within blocks, with its t interval; none of a figure against itself."""
    ratios: Floats = (np.log(value) - np.log(base)).dropna().to_numpy(dtype=float)
    if not len(ratios) or not np.abs(ratios).any():
        return (np.nan,) * 3
    means = t_means(ratios[None, :])
    mean, half = float(means.mean[0]), float(means.half[0])
    low, middle, high = (float(percent_change(1.0, np.exp(value))) for value in (mean - half, mean, mean + half))
    return middle, low, high


def _differing(figure: Published, rows: pd.DataFrame) -> tuple[str, ...]:
    """What a figure states of its store that the rows have otherwise, or several of."""
    differs = []
    stores = sorted(set(rows["store"]))
    if figure.kind == "network" and figure.settings["server_store"] not in ("ram", ""):
        raids = {raid for raid in rows["raid"] if raid != ABSENT}
        if raids != {figure.settings["server_store"]}:
            differs.append(f"store {', '.join(stores)} for {figure.settings['server_store']}")
    unsaid = [name for name in ("mtu", "tcp_space") if figure.kind == "network" and not figure.settings[name]]
    differs += [f"{name} {', '.join(sorted(set(rows[name])))}, not stated there" for name in unsaid]
    if figure.settings["variant"] in ("ssd hfs+", "single disk hfs+"):
        differs.append("the server's disk for HFS+")
    if figure.kind != "network" and "zfs" in stores and set(rows["disks"]) - {WHOLE, PARTITIONS}:
        differs.append("files of one disk for disks")
    if figure.settings["variant"] in KERNELS:
        differs.append("one kernel for two: `lab compare` sets two runs side by side")
    is_bonnie, had_flush = figure.settings["tool"] == "bonnie++", "-b" in figure.table.split()
    if is_bonnie and set(rows["flushed"]) != {"yes" if had_flush else ""}:
        differs.append("small files flushed only there (-b)" if had_flush else "small files flushed only here (-b)")
    return tuple(differs)
