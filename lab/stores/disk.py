"""What is there: a folder on a disk of the server."""

from __future__ import annotations

from lab.stores.store import Store


class Disk(Store):
    """The folder that the hosts file names, or that the share is."""

    name = "disk"
    about = "What is there: `[share] path` of the hosts file."


STORE = Disk()
