"""How the link's ceilings of one run compare: which ones a TCP buffer lowered, and which disagree."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from lab.design.factors import LINK
from lab.results.trial import has_second_shots
from lab.stats.factors import Level

SETTING = ("direction", *LINK)
LOWER_SHOT = "lower_shot"  # of compare_ceilings


def compare_ceilings(trials: pd.DataFrame) -> Mapping[tuple[Level, ...], dict[str, float]]:
    """Facts about the ceiling of each SETTING (direction, MTU, TCP buffer, number of clients), as far as known:

    ``ceiling_best``: bytes per second with the best TCP buffer, its median over blocks;
    ``ceiling_share``: the setting's own median as a share of that, if there are several TCP buffers;
    ``ceiling_spread``: the highest block over the lowest, if there are several blocks;
    ``lower_shot``: the lower shot of a block over the higher one, which is the ceiling; the least of all blocks.
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
    """The largest ratio of two results of iperf3 at one setting: over the run, and within a block. NaN if unknown."""
    shots = _shots(trials)
    if shots.empty:
        return float("nan"), float("nan")
    rates = shots.groupby(list(SETTING))["MB_per_s"]
    return float((rates.max() / rates.min()).max()), float(1 / _lower_shots(shots).min())


def is_lower_shot(links: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of the link are below their block's ceiling, the larger of two shots."""
    if not has_second_shots(links.attrs.get("run", {})):
        return pd.Series(data=False, index=links.index)
    return links["bytes_per_s"] < links["ceiling_bytes_per_s"]


def _shots(trials: pd.DataFrame) -> pd.DataFrame:
    """The good results of iperf3."""
    return trials[(trials["protocol"] == "link") & (trials["status"] == "ok") & (trials["MB_per_s"] > 0)]


def _lower_shots(shots: pd.DataFrame) -> pd.Series[float]:
    """By setting, the least share of a block's higher shot that its other shot reached."""
    rates = shots.groupby([*SETTING, "block"])["MB_per_s"]
    return (rates.min() / rates.max())[rates.size() > 1].groupby(list(SETTING)).min()
