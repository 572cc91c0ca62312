"""The protocols that both hosts can have, why they cannot have others, and whether TCP buffers reach them."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeAlias

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import Unsupported
from lab.check.finding import Finding, examine
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts, ShareConfig
from lab.protocols import Protocol, Share
from lab.protocols.options import mount_option_names
from lab.run.case import ports
from lab.settings.tcp_reach import Reach

Refusal: TypeAlias = tuple[str, str]  # why something cannot be had, and what to do about it

UNTUNED = Reach(False, "the lab leaves that host as it is (tune in the hosts file)")
WATCHED = Reach(False, "it is only watched")
RUNNING = Reach(None, "a server that runs already keeps the sizes that its sockets were made with")


def findings(config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """All findings about the protocols on the hosts that can be reached. Raises HostError for a lost connection."""
    share, able = config.share, []
    for name, protocol in sorted(protocols.by_name().items()):
        support = list(examine(name, partial(_check_support, protocol, config, machines)))
        yield from support
        if all(finding.level == "ok" for finding in support):
            able.append(protocol)
            yield from examine(name, partial(_check_port, protocol, config, machines))
            yield from examine(f"{name} options", partial(_check_options, protocol, share, machines))
    yield from _check_tcp_buffers({protocol.name: _tcp_reach(protocol, config, machines) for protocol in able})


def tcp_buffers(config: Hosts, machines: Mapping[str, Machine]) -> dict[str, dict[str, object]]:
    """By protocol and role: whether ``tcp_space`` reaches the sockets (None: not known), why, and what does instead."""
    return {
        name: {role: vars(reach) for role, reach in _tcp_reach(protocol, config, machines).items()}
        for name, protocol in sorted(protocols.by_name().items())
    }


def _check_support(protocol: Protocol, config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """A warning for each cause that keeps a host from its part; otherwise one line with the methods of both."""
    share = config.share
    if not protocol.mounted and (unseen := config.unseen):
        yield Finding("note", protocol.name, unseen.message, unseen.remedy)
        return
    methods: list[str] = []
    refusals: dict[Refusal, list[str]] = {}
    for role, machine in machines.items():
        try:
            method = _client_method(protocol, machine) if role == "client" else _server_method(protocol, share, machine)
            methods.append(f"{role}: {method}")
        except Unsupported as error:
            refusals.setdefault((error.message, error.remedy), []).append(role)
    for (message, remedy), roles in refusals.items():
        yield Finding("warning", protocol.name, f"{' and '.join(roles)}: {message}", remedy)
    if len(methods) == len(machines):
        yield Finding("ok", protocol.name, "; ".join(methods))


def _client_method(protocol: Protocol, machine: Machine) -> str:
    """How the client attaches, in a few words. Raises Unsupported if it cannot."""
    driver = protocol.driver(machine.platform.name)
    if protocol.mounted and machine.no_root and not machine.host.lacks_root:
        raise Unsupported("cannot mount without root", "see sudo above")
    _check_programs(machine, driver.attaches_with, "attach")
    return driver.mount_method(machine.side)


def _server_method(protocol: Protocol, share: ShareConfig, machine: Machine) -> str:
    """What serves, in a few words. Raises Unsupported if nothing can."""
    if share.serve == "existing":
        return "the share that is there"
    driver = protocol.driver(machine.platform.name)
    if protocol.mounted and machine.no_root:
        raise Unsupported("cannot serve without root", "see sudo above")
    _check_programs(machine, driver.needs_to_serve(machine.side, {}), "serve")
    return f"served by {driver.served_by(machine.side, share.account)}"


def _check_programs(machine: Machine, programs: Mapping[str, str], verb: str) -> None:
    """Raise Unsupported, with how to install them, for programs that the host lacks."""
    if programs and (lacking := machine.platform.programs.missing(programs)):
        install = machine.platform.programs.how_to_install(" ".join(sorted({programs[name] for name in lacking})))
        raise Unsupported(f"cannot {verb} it without {', '.join(lacking)}", install)


def _check_port(protocol: Protocol, config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """Whether the server answers for an existing share, or another server occupies the port of the lab's server."""
    share, server, client = config.share, config.server, machines.get("client")
    is_lost = server.is_reached and "server" not in machines
    if client is None or is_lost or client.facts is None or "perl" not in client.facts.tools:
        return
    platform = machines["server"].platform.name if server.is_reached else ""
    address = client.way_to(server.data_address)
    if trouble := ports.find_trouble(protocol, share.serve, platform, client.platform.network, address):
        yield Finding("warning", protocol.name, *trouble)


def _check_options(protocol: Protocol, share: ShareConfig, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """The options that no sweep can name, with one line for each host and cause."""
    for role, machine in machines.items():
        refusals: dict[Refusal, list[str]] = {}
        for name, refusal in _refused_options(protocol, share, machine):
            refusals.setdefault(refusal, []).append(f"{protocol.name}.{name}")
        for (reason, remedy), names in refusals.items():
            message = f"{role}: {', '.join(names)} cannot be named: {reason}"
            yield Finding("note", f"{protocol.name} options", message, remedy)


def _refused_options(protocol: Protocol, share: ShareConfig, machine: Machine) -> Iterator[tuple[str, Refusal]]:
    """The options that cannot be named for a host, and why."""
    role = machine.role
    is_choice = role in protocol.options and (role == "client" or share.serve == "lab")
    programs = protocol.options[role].programs if is_choice else ()
    refusals = {program: _refusal(protocol, share, machine, {role: program}) for program in programs}
    if not all(refusals.values()):  # else there is no choice, and the line on support names the method
        yield from ((f"{role} = {program}", refusal) for program, refusal in refusals.items() if refusal)
    for name in mount_option_names(protocol.options) if role == "client" else ():
        if refusal := _refusal(protocol, share, machine, {name: ""}):
            yield name, refusal


def _refusal(protocol: Protocol, share: ShareConfig, machine: Machine, options: Mapping[str, str]) -> Refusal | None:
    """Why a host cannot have these options, and what to do about it; None if it can."""
    driver, side = protocol.driver(machine.platform.name), machine.side
    try:
        if machine.role == "client":
            reason = driver.cannot_attach(side, options)
        else:
            _check_programs(machine, driver.needs_to_serve(side, options), "serve")
            path, no_password = f"{side.directory}/ram", SecretStr("")
            offer = Share(path, share.name, share.account, no_password, served_by_lab=True, options=options)
            reason = driver.cannot_serve(side, offer)
    except Unsupported as error:
        return error.message, error.remedy
    return (reason, "") if reason else None


def _tcp_reach(protocol: Protocol, config: Hosts, machines: Mapping[str, Machine]) -> dict[str, Reach]:
    """By role, whether ``tcp_space`` reaches the sockets of a protocol, for hosts whose facts are known."""
    reach_by_role = {}
    for role, machine in machines.items():
        if not config.may_tune(role):
            reach_by_role[role] = WATCHED if machine.watched else UNTUNED
        elif machine.facts is not None:
            reach = machine.platform.preflight.tcp_reach(machine.facts, protocol.tcp_reach(machine.platform.name, role))
            ran_before = role == "server" and config.share.serve == "existing"
            reach_by_role[role] = RUNNING if ran_before and reach.reaches else reach
    return reach_by_role


def _check_tcp_buffers(reach_by_protocol: Mapping[str, Mapping[str, Reach]]) -> Iterator[Finding]:
    """Whether ``tcp_space`` changes anything, with one line for each host and cause."""
    subject = "TCP buffers"
    names_by_cause: dict[tuple[str, Reach], list[str]] = {}
    for name, reach_by_role in reach_by_protocol.items():
        for role, reach in reach_by_role.items():
            names_by_cause.setdefault((role, reach), []).append(name)
    for (role, reach), names in names_by_cause.items():
        where = f"{', '.join(names)} on the {role}: {reach.why}"
        if reach.reaches:
            yield Finding("ok", subject, f"tcp_space reaches {where}")
        elif reach.reaches is None:
            yield Finding("note", subject, f"tcp_space may change nothing for {where}")
        elif reach in (UNTUNED, WATCHED):
            yield Finding("note", subject, f"tcp_space changes nothing for {where}")
        else:
            remedy = f"leave tcp_space out, or set {reach.instead} by hand" if reach.instead else "leave tcp_space out"
            yield Finding("warning", subject, f"tcp_space changes nothing for {where}", remedy)
