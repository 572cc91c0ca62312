"""Sweeps for tests, fixed and generated."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from lab.design.case import Case
from lab.design.plan import Plan, plan
from lab.design.sweep_file import Sweep
from lab.run.case.catalogue import CATALOGUE


def sweep_of(blocks: int = 2, seed: int = 1, size: str = "1 MiB", kind: str = "file", **factors: Any) -> Sweep:
    content = {"workload": {"kind": kind, "size": size}, "factors": {"protocol": ["smb"]} | factors}
    return Sweep.model_validate({"name": "try", "blocks": blocks, "seed": seed} | content)


def sweep_with(**changes: Any) -> Sweep:
    """A sweep of SMB with ``changes`` of its keys; ``factors`` are added."""
    factors = {"protocol": ["smb"]} | changes.pop("factors", {})
    return Sweep.model_validate({"name": "try", "workload": {"size": "1 MiB"}, "factors": factors} | changes)


def sweep_of_options(protocol: Sequence[str] = ("smb", "nfs"), **more: Any) -> Sweep:
    factors = {"protocol": list(protocol), "direction": ["write"]} | {
        name: more.pop(name) for name in ("smb", "nfs", "ssh", "mtu", "tool") if name in more
    }
    return sweep_with(factors=factors, **more)


def fraction_of_options() -> tuple[Sweep, Plan]:
    """A sweep of many options that runs only some of its cases, and its plan."""
    smb, nfs = {"dialect": ["2.1", "3.0", "3.1.1"], "signing": [True, False]}, {"version": [3, 4.0, 4.1]}
    sweep = sweep_of_options(smb=smb, nfs=nfs, mtu=[1500, 4000, 9000], tool=["cp", "rsync"], blocks=4, fraction=0.6)
    return sweep, plan(sweep, CATALOGUE)


def some(*levels: Any) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(levels), min_size=1, unique=True)


SWEEPS = st.builds(
    sweep_of, blocks=st.integers(1, 4), seed=st.integers(0, 1 << 40), protocol=some("afp", "smb", "nfs", "ssh"),
    tool=st.sampled_from([["rsync"], ["cp", "rsync"], ["rsync", "cp"]]), direction=some("write", "read"),
    mtu=some(1500, 4000, 9000), tcp_space=some("default", 65536, 524288), store=some("ram", "disk"),
)  # fmt: skip


def runs(cases: Sequence[Case], key: Callable[[Case], Any]) -> list[Any]:
    """The key's values in order, without repetitions."""
    return [value for value, _ in itertools.groupby(cases, key)]


def cases_of(sweep: Sweep) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases of a sweep's plan, and why combinations are left out."""
    planned = plan(sweep, CATALOGUE)
    return planned.cases, planned.left_out
