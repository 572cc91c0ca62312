"""What the files of a case lie on, on the server. A new store is a new file here."""

from __future__ import annotations

import sys

from lab.base import plugins
from lab.stores.store import DeviceBytes, Facts, FileSystem, Option, Room, Site, Store, parse_device_bytes

__all__ = [
    "DeviceBytes", "Facts", "FileSystem", "Option", "Room", "Site", "Store", "by_name", "file_system", "find",
    "parse_device_bytes",
]  # fmt: skip


def by_name() -> dict[str, Store]:
    """Every store."""
    return plugins.members(sys.modules[__name__], "STORE", Store)


def find(name: str) -> Store:
    """The store of this name. Raises BadInput."""
    return plugins.find(by_name(), "store", name)


def file_system(name: str) -> FileSystem | None:
    """The file system that the lab makes for the store of this name; None for what is there, or in memory."""
    store = find(name)
    return store if isinstance(store, FileSystem) else None
