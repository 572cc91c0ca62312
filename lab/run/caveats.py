"""What the figures of a run cannot tell, because of what its files lie on: it is kept in run.json."""

from __future__ import annotations

from lab import stores
from lab.design.grid import grid_of
from lab.design.sweep_file import Sweep
from lab.run.catalogue import CATALOGUE


def caveats_of(sweep: Sweep) -> dict[str, str]:
    """By store, what figures with it cannot tell at any of its levels in a sweep; empty where there is nothing.

    Raises BadInput where the levels make no case.
    """
    told: dict[str, set[str]] = {}
    for store, levels in {(case.store, tuple(case.store_options.items())) for case in grid_of(sweep, CATALOGUE)[0]}:
        if caveat := stores.find(store).caveat(dict(levels)):
            told.setdefault(store, set()).add(caveat)
    return {store: "; ".join(sorted(caveats)) for store, caveats in sorted(told.items())}
