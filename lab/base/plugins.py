"""Finding what a folder offers: a new protocol, platform or workload is one new file, named nowhere else."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from types import ModuleType
from typing import Any

from lab.base.errors import BadInput


def members(package: ModuleType, attribute: str) -> dict[str, Any]:
    """``attribute`` of each module in ``package`` that has one, by the ``name`` of what it holds."""
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}") for info in pkgutil.iter_modules(package.__path__)
    ]
    found = [getattr(module, attribute) for module in modules if hasattr(module, attribute)]
    return {member.name: member for member in found}


def find(package: ModuleType, attribute: str, what: str, name: str) -> Any:
    """The member of this name; ``what`` says what it is. Raises BadInput, with those known and the likely one."""
    known = members(package, attribute)
    if name not in known:
        likely = difflib.get_close_matches(name.lower(), known, 1)
        hint = f"; did you mean {likely[0]!r}?" if likely else ""
        raise BadInput(f"unknown {what} {name!r:.80}; known are {', '.join(sorted(known))}{hint}")
    return known[name]
