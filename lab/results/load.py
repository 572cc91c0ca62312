"""What others than the lab used of the hosts while a run went on, as run.json has it: by block, in cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Cores. What a local lab needs outside of its hosts (its delay relay, soft interrupts, the controller) came to 0.13 to
# 0.35 on a machine of two cores that did nothing else; a program of one thread that never waits is 1.
DISTURBED_CORES = 0.5
_KEYS = {"block", "client", "server"}


def is_load(value: Any) -> bool:
    """Whether this list can be what a lab wrote: the cores, from 0 on, that others used on the hosts in some blocks."""
    return all(isinstance(entry, dict) and _is_entry(entry) for entry in value)


def _is_entry(entry: Mapping[str, object]) -> bool:
    return (
        type(entry.get("block")) is int
        and entry.keys() <= _KEYS
        and all(type(cores) in (int, float) and cores >= 0 for cores in entry.values())  # type: ignore[operator]
    )


def load_by_block(run: Mapping[str, Any]) -> dict[int, dict[str, float]]:
    """The cores that others used, by block and role, of a run.json; empty where that was not observed."""
    entries = [dict(entry) for entry in run.get("load", [])]
    return {entry.pop("block"): entry for entry in entries}


def as_entries(loads: Mapping[int, Mapping[str, float]]) -> list[dict[str, float]]:
    """The same as run.json has it."""
    return [{"block": block, **cores} for block, cores in sorted(loads.items()) if cores]
