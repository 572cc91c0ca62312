"""Sweeps of stores by themselves, with no share: what they cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.design.factors import BY_NAME, LOCAL

if TYPE_CHECKING:
    from lab.design.sweep_file import Sweep


def find_problem(sweep: Sweep) -> str:
    """What in a sweep means nothing without a share, and what to do; empty where nothing does."""
    others = sorted(sweep.factors.model_fields_set & {*BY_NAME} - {"protocol", "store"})
    if len(sweep.factors.names("protocol")) > 1:
        return f'[factors] protocol: "{LOCAL}" is no share: give it alone, or leave it out'
    if others:
        return f'[factors] {others[0]}: with protocol "{LOCAL}" leave it out: only stores are compared'
    if "dd" not in sweep.store_tools:
        return f'store_tools: protocol "{LOCAL}" takes "dd", whose speeds are its trials'
    if sweep.workload.kind != "file" or sweep.workload.size is None:
        return f'[workload]: protocol "{LOCAL}" takes kind = "file" and a size'
    return f'anchors: protocol "{LOCAL}" measures each store once a block: leave it out' if sweep.anchors else ""
