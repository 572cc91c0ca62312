"""What the file system of the share's folder keeps the server from sharing, why, and what helps."""

from collections.abc import Iterator, Mapping

from lab import protocols
from lab.base.errors import BadInput
from lab.base.untrusted import listing
from lab.check.finding import Finding, Level
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts
from lab.protocols.volumes import Verdict, Volume, VolumeFact, facts_about
from lab.run.case.pair import at_home

SUBJECT = "server volume"
LEVELS: dict[Verdict, Level] = {Verdict.REFUSED: "warning", Verdict.IMPAIRED: "warning", Verdict.UNPROVEN: "note"}
WORDS = {
    Verdict.REFUSED: "is not shared by",
    Verdict.IMPAIRED: "is shared with losses by",
    Verdict.UNPROVEN: "may not be shared by",
}


def findings(config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """One a reason, with the protocols that it concerns; or one line that none is known. Raises LabFailure."""
    server = machines.get("server")
    if server is None or server.facts is None or not config.share.path:
        return
    folder = at_home(config.share.path, server.facts.home)
    try:
        mounted = server.platform.mounts.find(folder)
    except BadInput:  # what is said of the folder itself
        return
    client = machines["client"].platform.name if "client" in machines else ""
    volume = Volume(
        server.platform.name, mounted.kind, server.platform.preflight.version(server.facts) or (), mounted.options,
        server.platform.mounts.is_case_sensitive(mounted), client,
    )  # fmt: skip
    yield from describe(folder, volume)


def describe(folder: str, volume: Volume) -> Iterator[Finding]:
    """What is known of sharing a folder on this volume."""
    concerned: dict[tuple[Verdict, str, str], list[str]] = {}
    names = [name for name, protocol in sorted(protocols.by_name().items()) if protocol.mounted]
    for name in names:
        for fact in facts_about(name, volume):
            concerned.setdefault(_reason(fact), []).append(name.upper())
    for (verdict, why, cure), having in concerned.items():
        message = f"{folder} is on {volume.kind}, and {WORDS[verdict]} {listing(having)}: {why}"
        yield Finding(LEVELS[verdict], SUBJECT, message, cure)
    if not concerned:
        yield Finding("ok", SUBJECT, f"{folder} is on {volume.kind}, which no server here is known to refuse")


def _reason(fact: VolumeFact) -> tuple[Verdict, str, str]:
    return fact.verdict, fact.why, fact.cure
