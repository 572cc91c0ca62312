"""Finds the plug-ins in a folder: a new protocol, platform or workload is one file, named nowhere else."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

from lab.base.did_you_mean import hint
from lab.base.errors import BadInput

Member = TypeVar("Member")


def members(package: ModuleType, attribute: str, kind: type[Member]) -> dict[str, Member]:
    """``attribute`` of each module in ``package`` that has it, by its ``name``. Raises TypeError for another kind."""
    by_name: dict[str, Member] = {}
    for module_name in _names_in(tuple(package.__path__)):
        module = importlib.import_module(f"{package.__name__}.{module_name}")
        if (member := getattr(module, attribute, None)) is None:
            continue
        name: str = member.name
        if not isinstance(member, kind):
            raise TypeError(f"{module.__name__}: {attribute} is no {kind.__name__}")
        by_name[name] = member
    return by_name


@functools.cache
def _names_in(path: tuple[str, ...]) -> tuple[str, ...]:
    """The modules in these folders, read once, because a plan asks a hundred times."""
    return tuple(info.name for info in pkgutil.iter_modules(path))


def find(by_name: Mapping[str, Member], what: str, name: str) -> Member:
    """The member of this name. Raises BadInput that lists all names, and the likely one; ``what`` is their kind."""
    if name not in by_name:
        raise BadInput(f"unknown {what} {name!r:.80}; known are {', '.join(sorted(by_name))}{hint(name, by_name)}")
    return by_name[name]
