"""Which machines a hosts file is about: two sweeps that need the same one never run at once."""

from __future__ import annotations

from lab.hosts.hosts_file import Hosts

THIS_MACHINE = "this machine"


def machines_of(config: Hosts) -> frozenset[str]:
    """What the machines of a hosts file are known by: name and port of a login, and the address on the link.

    Two files that have one of these in common share a machine. Hosts of a local lab are known by its instance, too,
    for every local lab has the same addresses. What goes by two names and two addresses is not seen here: the lab's
    lock on the host refuses the second run.
    """
    place = f"{config.lab.instance}: " if config.lab.instance else ""
    keys = set()
    for section in (*config.clients.values(), config.server):
        keys.add(f"{place}{section.data_address.lower()}")
        if section.transport == "local":
            keys.add(f"{place}{THIS_MACHINE}")
        elif section.host is not None:
            port = f" port {section.port}" if section.port else ""
            keys.add(f"{place}{section.host.lower()}{port}")
    return frozenset(keys)
