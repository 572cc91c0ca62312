"""Sweeps for tests, given and generated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from lab.design.case import Case
from lab.design.catalogue import Catalogue
from lab.design.plan import plan
from lab.design.sweep_file import Sweep


def sweep_of(blocks: int = 2, seed: int = 1, size: str = "1 MiB", kind: str = "file", **factors: Any) -> Sweep:
    content = {"workload": {"kind": kind, "size": size}, "factors": {"protocol": ["smb"]} | factors}
    return Sweep.model_validate({"name": "try", "blocks": blocks, "seed": seed} | content)


def some(*levels: Any) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(levels), min_size=1, unique=True)


SWEEPS = st.builds(
    sweep_of,
    blocks=st.integers(1, 4),
    seed=st.integers(0, 1 << 40),
    protocol=some("afp", "smb", "nfs", "ssh"),
    tool=st.sampled_from([["rsync"], ["cp", "rsync"], ["rsync", "cp"]]),
    direction=some("write", "read"),
    mtu=some(1500, 4000, 9000),
    tcp_space=some("default", 65536, 524288),
    store=some("ram", "disk"),
)


def runs(cases: Sequence[Case], key: Callable[[Case], Any]) -> list[Any]:
    """The key's values in order, each run of the same one as one."""
    return [value for value, _ in itertools.groupby(cases, key)]


def cases_of(sweep: Sweep, catalogue: Catalogue) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases of a sweep's plan, and why combinations are left out."""
    planned = plan(sweep, catalogue)
    return planned.cases, planned.left_out
