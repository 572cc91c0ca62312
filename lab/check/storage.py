"""What a sweep may use on the server: the file system of the share's folder, and devices for stores."""

from collections.abc import Iterator, Mapping

from lab import protocols
from lab.base.errors import BadInput
from lab.base.untrusted import listing
from lab.check.finding import Finding, Level
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts
from lab.protocols.volumes import Verdict, Volume, facts_about
from lab.run.case.pair import at_home
from lab.stores import FileSystem, named_device

VOLUME, DEVICES = "server volume", "server devices"
LEVELS: dict[Verdict, Level] = {Verdict.REFUSED: "warning", Verdict.IMPAIRED: "warning", Verdict.UNPROVEN: "note"}
WORDS = {
    Verdict.REFUSED: "is not shared by",
    Verdict.IMPAIRED: "is shared with losses by",
    Verdict.UNPROVEN: "may not be shared by",
}


def check_volume(config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """What is known about sharing the share's folder from its file system. Raises LabFailure."""
    server = machines.get("server")
    if server is None or server.facts is None or not config.share.path:
        return
    folder, mounts = at_home(config.share.path, server.facts.home), server.platform.mounts
    try:
        mounted = mounts.find(folder)
    except BadInput:  # the check of the folder reports this
        return
    client = machines["client"].platform.name if "client" in machines else ""
    version = server.platform.preflight.version(server.facts) or ()
    is_sensitive = mounts.is_case_sensitive(mounted)
    volume = Volume(server.platform.name, mounted.kind, version, mounted.options, is_sensitive, client)
    yield from describe_volume(folder, volume)


def describe_volume(folder: str, volume: Volume) -> Iterator[Finding]:
    """A finding for each reason, with the protocols concerned; or one finding if no reason is known."""
    concerned: dict[tuple[Verdict, str, str], list[str]] = {}
    for name, protocol in sorted(protocols.by_name().items()):
        for fact in facts_about(name, volume) if protocol.mounted else ():
            concerned.setdefault((fact.verdict, fact.why, fact.cure), []).append(name.upper())
    for (verdict, why, cure), names in concerned.items():
        message = f"{folder} is on {volume.kind}, and {WORDS[verdict]} {listing(names)}: {why}"
        yield Finding(LEVELS[verdict], VOLUME, message, cure)
    if not concerned:
        yield Finding("ok", VOLUME, f"{folder} is on {volume.kind}, which no server here is known to refuse")


def check_devices(config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """A finding for each device of the hosts file that is not empty, and one for the empty ones. Raises LabFailure."""
    server, free = machines.get("server"), []
    if server is None or server.no_root or not config.share.devices:
        return
    if server.platform.name != FileSystem.platform:
        yield Finding("warning", DEVICES, "only a server with Linux makes stores on them", "leave [share] devices out")
        return
    for device in config.share.devices:
        if why := named_device.read_reasons(server.host, device, 0):
            yield Finding("warning", DEVICES, f"{device} cannot be taken: {why}", named_device.HOW_TO_CLEAR)
        else:
            free.append(device)
    if free:
        them = "it" if len(free) == 1 else "them"
        yield Finding("ok", DEVICES, f"{listing(free)}: nothing on {them}, and not in use")
