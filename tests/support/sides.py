"""A side of a pair of hosts, as drivers are given it, of a host that knows no ports."""

from pydantic import SecretStr

from lab.hosts import Host
from lab.protocols import Share, Side

OWN_NAME = "file-share-lab-01234567"  # of a folder of a run's own
OWN = f"/tmp/{OWN_NAME}"


def share_of(path: str = f"{OWN}/ram", server_sync: str = "default", old_dialect: str = "", **options: str) -> Share:
    """A share that the lab serves; ``options`` are levels of its protocol's options."""
    return Share(path, "share", "account", SecretStr("x"), True, server_sync, old_dialect, options)


def side_of(
    host: Host, platform: str = "linux", address: str = "192.0.2.2", directory: str = OWN, user: str = "me"
) -> Side:
    """The side; its test whether something listens on a port is a file of that name."""
    return Side(host, platform, address, directory, user, "[ -e port-{} ]".format)
