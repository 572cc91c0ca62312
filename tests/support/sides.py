"""A side of a pair of hosts, as drivers are given it, of a host that knows no ports."""

from __future__ import annotations

from lab.hosts import Host
from lab.protocols import Side

OWN_NAME = "file-share-lab-01234567"  # of a folder of a run's own
OWN = f"/tmp/{OWN_NAME}"


def side_of(host: Host, platform: str, address: str, directory: str, user: str) -> Side:
    """The side; its test whether something listens on a port is a file of that name."""
    return Side(host, platform, address, directory, user, "[ -e port-{} ]".format)
