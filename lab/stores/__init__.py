"""The server's stores: what a case's files lie on. A new store is a new file here."""

import sys

from lab.base import plugins
from lab.stores.store import DeviceBytes, Facts, FileSystem, Room, Site, Store, parse_device_bytes

__all__ = [
    "DeviceBytes", "Facts", "FileSystem", "Room", "Site", "Store", "by_name", "file_system", "find",
    "parse_device_bytes",
]  # fmt: skip


def by_name() -> dict[str, Store]:
    """Every store, by its name."""
    return plugins.members(sys.modules[__name__], "STORE", Store)


def find(name: str) -> Store:
    """The store of this name. Raises BadInput."""
    return plugins.find(by_name(), "store", name)


def file_system(name: str) -> FileSystem | None:
    """The store of this name if the lab makes it; None for a folder that exists, or the RAM disk."""
    store = find(name)
    return store if isinstance(store, FileSystem) else None
