"""The check of both hosts: what they are, what they can do, and what is in the way, before anything is changed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

from lab import platforms
from lab.base.addresses import without_zone
from lab.base.errors import CommandError, HostError, LabFailure
from lab.check import files, hardware, host, link, networks, protocols, storage
from lab.check.finding import Finding, examine, of_error, worst_first
from lab.check.machine import Machine
from lab.check.sharing import Sharing
from lab.hosts import ROLES
from lab.hosts.host_config import HostConfig
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.ssh import SshHost
from lab.run.begin.look import describe_unseen
from lab.run.restore import watched

__all__ = ["Finding", "check"]


def check(
    hosts_file: Path,
    results: Path | None = None,
    tell: Callable[[str], None] = print,
    on_hardware: bool = False,
    share: Path | None = None,
) -> tuple[list[Finding], dict[str, object]]:
    """Findings, worst first, and the facts behind them.

    With ``results``, a folder for a journal, jumbo frames are tried; otherwise nothing is changed. With ``on_hardware``
    the lab's assumptions are compared with the hosts; ``share`` is a new file for the answers. A problem with a host is
    a finding, and the other host is checked nevertheless. Raises BadInput for a wrong hosts file or an existing
    ``share``.
    """
    config = load_hosts(hosts_file)
    sharing = Sharing(share, config) if share else None
    platforms.check_hosts(config)
    machines: dict[str, Machine] = {}
    with ExitStack() as stack:
        findings = [*files.findings(config, hosts_file)]
        findings += [Finding("note", "server", text) for text in describe_unseen(config)]
        for role in config.reached:
            findings += _until_lost(_check_host(config, role, machines, stack), role, machines)
        if "server" in machines and (why := machines["server"].watched):
            config = config.watching(why)
        findings += _until_lost(_check_pair(config, machines), "link", machines)
        others: dict[str, Machine] = {}
        for name in config.more_clients:
            findings += _until_lost(_check_host(config, name, others, stack), name, others)
            client, server = others.get(name), machines.get("server")
            more = link.findings(client, server) if client and server else ()
            findings += _until_lost((replace(one, subject=f"{name} {one.subject}") for one in more), name, others)
        for name, machine in list(machines.items()) if on_hardware else ():
            findings += _until_lost(_check_hardware(machine, _peer(config, name).data_address, sharing), name, machines)
        facts = {
            role: asdict(machine.facts) | {"transport": machine.config.transport} if machine.facts else None
            for role, machine in (machines | others).items()
        }
        buffers = protocols.tcp_buffers(config, machines)
    if results and set(machines) == set(ROLES):
        findings.append(link.try_jumbo(config, results, tell))
    if sharing:
        tell(sharing.write())
    return worst_first(findings), {"hosts": dict.fromkeys(ROLES) | facts, "tcp_buffers": buffers}


def _check_hardware(machine: Machine, peer: str, sharing: Sharing | None) -> Iterator[Finding]:
    answers: list[hardware.Answer] = []
    yield from hardware.findings(machine, peer, answers)
    if sharing:
        sharing.add(machine, peer, answers)


def _until_lost(findings: Iterator[Finding], subject: str, machines: dict[str, Machine]) -> Iterator[Finding]:
    """The findings up to a lost connection, which is a problem and removes the host from ``machines``."""
    try:
        yield from findings
    except HostError as error:
        machines.pop(subject, None)
        yield of_error("problem", subject, error)


def _check_host(config: Hosts, role: str, machines: dict[str, Machine], stack: ExitStack) -> Iterator[Finding]:
    """Connect to a host, check it, and add it to ``machines``."""
    section: HostConfig = config.section(role)
    try:
        connected = SshHost(role, section)
        stack.callback(connected.close)
        platform = platforms.detect(connected)
    except LabFailure as error:
        yield of_error("problem", f"{role} SSH", error)
        return
    how = "without SSH" if section.transport == "local" else f"by {section.transport}"
    yield Finding("ok", f"{role} SSH", f"{section.login}, {how}")
    peer = _peer(config, role)
    machine = Machine(role, section, connected, platform, None)
    try:
        machine = replace(machine, facts=platform.facts(machine.way_to(peer.data_address)))
    except (LabFailure, ValueError, LookupError) as error:
        finding = of_error("problem", f"{role} system", error)
        words = error.argv if isinstance(error, CommandError) else ()
        if without_zone(peer.data_address) in map(without_zone, words):  # it asked for the route
            finding = replace(finding, remedy=f"is data_address {peer.data_address} of the other host right?")
        yield finding
    if role == "server":
        config = watched.fitted_to(config, platform)
        machine = replace(machine, watched=config.unseen)
    machines[role] = machine
    if machine.watched:
        yield Finding("note", "server watched", *watched.describe_watched(machine.watched))
    for finding in host.findings(machine, config):
        if finding.subject == f"{role} {host.SUDO}" and finding.level != "ok":
            machines[role] = replace(machine, no_root=True)
        yield finding
    if not machines[role].no_root and not machine.watched:
        yield from examine(f"{role} use", lambda: host.check_use(machine, f"{role} use"))


def _peer(config: Hosts, name: str) -> HostConfig:
    return config.client if name == "server" else config.server


def _check_pair(config: Hosts, machines: dict[str, Machine]) -> Iterator[Finding]:
    """Check what needs both hosts; a note if one is missing."""
    if len(machines) == len(ROLES):
        client, server = machines["client"], machines["server"]
        yield from examine(networks.SUBJECT, lambda: networks.findings(config.share, client, server))
        yield from link.findings(client, server)
    elif set(machines) != set(config.reached):
        reached = f"only the {next(iter(machines))}" if machines else "neither host"
        message = f"{reached} could be looked at: what needs both is left out"
        yield Finding("note", "link", message, "solve the problems above first")
    if machines:
        yield from protocols.findings(config, machines)
        yield from examine(storage.VOLUME, lambda: storage.check_volume(config, machines))
        yield from examine(storage.DEVICES, lambda: storage.check_devices(config, machines))
