"""What the link's ceilings of one run say of each other: which a TCP buffer lowered, and which do not agree."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from lab.design.factors import NETWORK
from lab.stats.factors import Level

SETTING = ("direction", *NETWORK)


def compare_ceilings(trials: pd.DataFrame) -> Mapping[tuple[Level, ...], dict[str, float]]:
    """By direction, MTU and TCP buffer (SETTING), what is known of the ceiling:

    ``ceiling_best``: bytes per second of the highest with any TCP buffer, its median over blocks;
    ``ceiling_share``: its own median as a share of that, where there are several TCP buffers;
    ``ceiling_spread``: the highest of its blocks over the lowest, where there are several blocks.
    """
    links = trials[(trials["protocol"] == "link") & (trials["status"] == "ok") & (trials["bytes_per_s"] > 0)]
    rates = links.groupby(list(SETTING), observed=True)["bytes_per_s"]
    table = pd.DataFrame({"own": rates.median(), "spread": rates.max() / rates.min(), "count": rates.size()})
    path = table.groupby(["direction", "mtu"], observed=True)["own"]
    table["best"], table["buffers"] = path.transform("max"), path.transform("size")
    facts: dict[tuple[Level, ...], dict[str, float]] = {}
    for setting, row in zip(table.index.to_list(), table.to_dict("records"), strict=True):
        facts[setting] = {"ceiling_best": row["best"]}
        facts[setting] |= {"ceiling_share": row["own"] / row["best"]} if row["buffers"] > 1 else {}
        facts[setting] |= {"ceiling_spread": row["spread"]} if row["count"] > 1 else {}
    return facts
