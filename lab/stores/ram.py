"""The server's RAM disk."""

from lab.stores.store import Store


class Ram(Store):
    """See :mod:`lab.platforms.ram_disk`."""

    name = "ram"
    about = "The server's RAM disk."


STORE = Ram()
