"""Finding what a folder offers: a new protocol, platform or workload is one new file, named nowhere else."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def members(package: ModuleType, attribute: str) -> dict[str, Any]:
    """``attribute`` of each module in ``package`` that has one, by the ``name`` of what it holds."""
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}") for info in pkgutil.iter_modules(package.__path__)
    ]
    found = [getattr(module, attribute) for module in modules if hasattr(module, attribute)]
    return {member.name: member for member in found}
