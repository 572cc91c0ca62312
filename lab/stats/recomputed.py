"""Published figures beside a run of one's own: medians of the same RAID level, tool and direction, and changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.design.factors import ABSENT, DEFAULT
from lab.results.published import Published, find_baseline
from lab.stats.encoding import Trials, encode, measured
from lab.stats.intervals import Floats, change_with_interval, median_and_interval, percent_change, t_means
from lab.stats.store_numbers import BYTES, OF_STORES, measurements

SLIP = 0.5  # percentage points: printed and recomputed changes differ by less if only rounded
# The test of bonnie++ (key of lab.stats.store_numbers.BONNIE_TESTS) for each operation in a post
OPERATIONS = {
    "seq output per chr": "write_char", "seq output block": "write_block", "rewrite": "rewrite",
    "seq input per chr": "read_char", "seq input block": "read_block", "random seeks": "seeks", "seq create": "create",
    "seq stat": "stat", "seq delete": "delete", "random create": "random_create", "random stat": "random_stat",
    "random delete": "random_delete",
}  # fmt: skip
# Levels of zfs.disks: pools on devices of the user's
WHOLE, PARTITIONS = "named", "partitions"
# The levels behind a variant of the posts, if its table has no columns for them
VARIANTS: dict[str, dict[str, str]] = {
    "ssd hfs+": {"store": "disk"}, "single disk hfs+": {"store": "disk"},
    "raidz o3x lz4": {"store": "zfs", "raid": "raidz", "compression": "lz4"},
    "full disk partition": {"disks": PARTITIONS},
}  # fmt: skip
NOT_MADE = ("2TB partition",)  # variants that no run has
OF_POOL = ("raid", "vdevs", "ashift", "compression", "disks")
_Levels: TypeAlias = dict[str, npt.NDArray[np.object_]]


@dataclass(frozen=True)
class Recomputed:
    """A published figure, the change by its values (NaN without a baseline), and whether the printed change differs."""

    figure: Published
    change_pct: float
    is_slip: bool


@dataclass(frozen=True)
class Own:
    """The run's numbers for a published figure: its median (bytes or operations a second) over ``n_blocks`` blocks and
    its change against the same baseline, each with its interval; NaN where there is none.

    ``differs`` names what the run has otherwise than the post.
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
    recomputed = []
    for figure in figures:
        baseline, printed = find_baseline(figure, figures), figure.change_pct
        change = float(percent_change(baseline.rate, figure.rate)) if baseline else np.nan
        recomputed.append(Recomputed(figure, change, printed is not None and abs(printed - change) > SLIP))
    return recomputed


def beside(figures: Sequence[Published], trials: Trials) -> list[Own | None]:
    """For each figure the run's numbers for the same, or None."""
    own = own_cases(trials)
    levels = {str(name): own[name].astype(str).to_numpy(dtype=object) for name in own}
    return [_beside(figure, find_baseline(figure, figures), own, levels) for figure in figures]


def own_cases(trials: Trials) -> pd.DataFrame:
    """One row a case, test and block: its median, ``value``, and the columns that published figures are matched by."""
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
    for name, levels in _pool_levels(rows).items():
        rows[f"zfs.{name}"] = levels
    is_flushed = pd.Series(
        [effective.get("flushed") == "fsync" for effective in rows["effective"]], index=rows.index, dtype=bool
    )
    parts = [_of_measurements(rows[chosen], flushed) for chosen, flushed in ((is_flushed, "yes"), (~is_flushed, ""))]
    return pd.concat(parts, ignore_index=True)


def _of_measurements(rows: pd.DataFrame, flushed: str) -> pd.DataFrame:
    """The numbers of stores by themselves; ``flushed``: whether bonnie++ flushed each small file."""
    every = measurements(rows)
    if every.empty:
        return every
    table = every[["store", "block", "tool", "value"]].assign(operation=every["test"], is_bytes=every["unit"] == BYTES)
    pool = {name: every.get(f"zfs.{name}", ABSENT) for name in OF_POOL}
    other = {"kind": "storage", "protocol": "", "mtu": "", "tcp_space": "", "flushed": flushed}
    return table[table["value"] > 0].assign(**other, **pool)


def _pool_levels(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The levels of OF_POOL as read back, or as they were asked for; ABSENT if neither is known."""
    pairs = list(zip(rows["options"], rows["effective"], strict=True))
    return {name: [_level(options, effective, f"zfs.{name}") for options, effective in pairs] for name in OF_POOL}


def _level(options: dict[str, str], effective: dict[str, str], name: str) -> str:
    asked = options.get(name, ABSENT)
    return str(effective.get(name, ABSENT if asked == DEFAULT else asked))


def _of_shares(trials: Trials) -> pd.DataFrame:
    rows = measured(trials)
    rows = rows[~rows["protocol"].isin(OF_STORES)]
    words = {name: rows[name].astype(str) for name in ("store", "protocol", "tool", "mtu", "tcp_space")}
    return pd.DataFrame({
        "kind": "network", "flushed": "", "block": rows["block"], "is_bytes": True, **words,
        "operation": rows["direction"].astype(str), "value": rows["bytes_per_s"], **_pool_levels(rows),
    })  # fmt: skip


def _beside(figure: Published, baseline: Published | None, own: pd.DataFrame, levels: _Levels) -> Own | None:
    rows = _matching(figure, own, levels)
    if not len(rows):
        return None
    by_block, change = _by_block(rows), (np.nan,) * 3
    if baseline is not None and len(others := _matching(baseline, own, levels)):
        change = _change(_by_block(others), by_block)
    spread = median_and_interval(by_block.to_numpy(dtype=float))
    return Own(*spread, len(by_block), *change, _differing(figure, rows))


def _matching(figure: Published, own: pd.DataFrame, levels: _Levels) -> pd.DataFrame:
    """The run's rows that match all that a figure states except its hardware; ``levels`` as text, by column."""
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
    """The levels that a figure asks for, by column; empty if no run of the lab measures it."""
    settings = figure.settings
    if figure.kind == "network":
        names = ("operation", "protocol", "tool", "mtu", "tcp_space")
        return {"kind": "network"} | {name: settings[name] for name in names if settings[name]}
    if settings["tool"] not in ("dd", "bonnie++"):
        return {}
    operation = settings["operation"] if settings["tool"] == "dd" else OPERATIONS[settings["operation"]]
    wanted = {"kind": "storage", "tool": settings["tool"], "operation": operation}
    raid = (settings["raid"] or settings["server_store"]).replace("single", "stripe")
    pool = {"raid": raid, "vdevs": settings["disks"], "ashift": settings["ashift"]}
    return wanted | {name: value for name, value in pool.items() if value} | VARIANTS.get(settings["variant"], {})


def _by_block(rows: pd.DataFrame) -> pd.Series:
    """The geometric mean over the matching cases in each block."""
    blocks: pd.Series = np.exp(np.log(rows["value"]).groupby(rows["block"]).mean())
    return blocks


def _change(base: pd.Series, value: pd.Series) -> tuple[float, float, float]:
    """The change in percent, by pairs within blocks, with its t interval; NaN for a figure against itself."""
    ratios: Floats = (np.log(value) - np.log(base)).dropna().to_numpy(dtype=float)
    if not len(ratios) or not np.abs(ratios).any():
        return (np.nan,) * 3
    return change_with_interval(t_means(ratios[None, :]).ends[:, 0])


def _differing(figure: Published, rows: pd.DataFrame) -> tuple[str, ...]:
    """Facts that a figure states and the rows have otherwise, or in several ways."""
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
    if figure.settings["variant"] in ("old kernel", "new kernel"):
        differs.append("one kernel for two: `lab compare` sets two runs side by side")
    is_bonnie, had_flush = figure.settings["tool"] == "bonnie++", "-b" in figure.table.split()
    if is_bonnie and set(rows["flushed"]) != {"yes" if had_flush else ""}:
        differs.append("small files flushed only there (-b)" if had_flush else "small files flushed only here (-b)")
    return tuple(differs)
