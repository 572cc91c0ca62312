"""A folder that is on the server already."""

from lab.stores.store import Store


class Disk(Store):
    """The folder that the hosts file names, or the share's own folder."""

    name = "disk"
    about = "What is there: `[share] path` of the hosts file."


STORE = Disk()
