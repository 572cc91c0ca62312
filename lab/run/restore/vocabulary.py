"""The vocabulary of journals: every kind of operation of platforms, protocols, stores and tools."""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from lab import platforms, protocols, settings, stores, workloads
from lab.settings.journal import LineFormat
from lab.settings.operation import Operation

PLACES = (settings, platforms, protocols, stores, workloads)


@functools.cache
def line_format() -> LineFormat:
    """The format of a line in a journal, on the controller and on hosts."""
    return LineFormat(kinds())


def kinds() -> dict[str, type[Operation]]:
    """Every kind of operation, by its name in files. Raises TypeError if two have one name."""
    by_name: dict[str, type[Operation]] = {}
    for package in PLACES:
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for kind in _defined_in(importlib.import_module(info.name)):
                if kind.kind in by_name:
                    raise TypeError(f"{kind.__name__} and {by_name[kind.kind].__name__} are both {kind.kind!r}")
                by_name[kind.kind] = kind
    return dict(sorted(by_name.items()))


def _defined_in(module: ModuleType) -> Iterator[type[Operation]]:
    for member in vars(module).values():
        is_kind = inspect.isclass(member) and issubclass(member, Operation) and hasattr(member, "kind")
        if is_kind and member.__module__ == module.__name__:
            yield member
