"""Whether the server's devices that the hosts file names hold nothing, as a sweep that writes to them asks."""

from collections.abc import Iterator, Mapping

from lab.base.untrusted import listing
from lab.check.finding import Finding
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts
from lab.stores import FileSystem, named_device

SUBJECT = "server devices"


def findings(config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """One for each device that cannot be taken, and one for all that can. Raises LabFailure."""
    server, free = machines.get("server"), []
    if server is None or server.no_root or not config.share.devices:
        return
    if server.platform.name != FileSystem.platform:
        yield Finding("warning", SUBJECT, "only a server with Linux makes stores on them", "leave [share] devices out")
        return
    for device in config.share.devices:
        if why := named_device.read_reasons(server.host, device, 0):
            yield Finding("warning", SUBJECT, f"{device} cannot be taken: {why}", named_device.HOW_TO_CLEAR)
        else:
            free.append(device)
    if free:
        them = "it" if len(free) == 1 else "them"
        yield Finding("ok", SUBJECT, f"{listing(free)}: nothing on {them}, and not in use")
