"""What the link's ceilings of one run say of each other: which a TCP buffer lowered, and which do not agree."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from lab.design.factors import LINK
from lab.results.trial import has_second_shots
from lab.stats.factors import Level

SETTING = ("direction", *LINK)
LOWER_SHOT = "lower_shot"  # of compare_ceilings


def compare_ceilings(trials: pd.DataFrame) -> Mapping[tuple[Level, ...], dict[str, float]]:
    """By direction, MTU, TCP buffer and number of clients (SETTING), what is known of the ceiling:

    ``ceiling_best``: bytes per second of the highest with any TCP buffer, its median over blocks;
    ``ceiling_share``: its own median as a share of that, where there are several TCP buffers;
    ``ceiling_spread``: the highest of its blocks over the lowest, where there are several blocks;
    ``lower_shot``: of two shots in a block the lower one over the higher one, which is the ceiling; of all blocks the
    least. Each number is there only where it can be told.
    """
    shots = _shots(trials)
    if shots.empty:
        return {}
    rates = shots[~is_lower_shot(shots)].groupby(list(SETTING))["bytes_per_s"]
    table = pd.DataFrame({"own": rates.median(), "spread": rates.max() / rates.min(), "count": rates.size()})
    table["lower"] = _lower_shots(shots)
    path = table.groupby([name for name in SETTING if name != "tcp_space"], observed=True)["own"]
    table["best"], table["buffers"] = path.transform("max"), path.transform("size")
    facts: dict[tuple[Level, ...], dict[str, float]] = {}
    for setting, row in zip(table.index.to_list(), table.to_dict("records"), strict=True):
        facts[setting] = {"ceiling_best": row["best"]}
        facts[setting] |= {"ceiling_share": row["own"] / row["best"]} if row["buffers"] > 1 else {}
        facts[setting] |= {"ceiling_spread": row["spread"]} if row["count"] > 1 else {}
        facts[setting] |= {LOWER_SHOT: row["lower"]} if row["lower"] > 0 else {}
    return facts


def spreads(trials: pd.DataFrame) -> tuple[float, float]:
    """By how much what iperf3 measured at one setting differed at most, as ratios: over the run, and in one block.

    NaN where nothing was measured, or only once.
    """
    shots = _shots(trials)
    rates = shots.groupby(list(SETTING))["MB_per_s"]
    return float((rates.max() / rates.min()).max()), float(1 / _lower_shots(shots).min())


def is_lower_shot(links: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of the link are below the ceiling of their own block, which is the larger of two shots."""
    if not has_second_shots(links.attrs.get("run", {})):
        return pd.Series(data=False, index=links.index)
    return links["bytes_per_s"] < links["ceiling_bytes_per_s"]


def _shots(trials: pd.DataFrame) -> pd.DataFrame:
    """What iperf3 measured and counts."""
    return trials[(trials["protocol"] == "link") & (trials["status"] == "ok") & (trials["MB_per_s"] > 0)]


def _lower_shots(shots: pd.DataFrame) -> pd.Series[float]:
    """By setting, the least share of the higher shot of its block that another shot of it reached."""
    rates = shots.groupby([*SETTING, "block"])["MB_per_s"]
    several = rates.size() > 1
    return (rates.min() / rates.max())[several].groupby(list(SETTING)).min()
