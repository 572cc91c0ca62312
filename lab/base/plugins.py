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
    return {member.name: member for module in modules if (member := getattr(module, attribute, None)) is not None}


def find(package: ModuleType, attribute: str, what: str, name: str) -> Any:
    """The member of this name; ``what`` says what it is. Raises BadInput that lists the names, and the likely one."""
    by_name = members(package, attribute)
    if name not in by_name:
        likely = difflib.get_close_matches(name.lower(), by_name, 1)
        hint = f"; did you mean {likely[0]!r}?" if likely else ""
        raise BadInput(f"unknown {what} {name!r:.80}; known are {', '.join(sorted(by_name))}{hint}")
    return by_name[name]
