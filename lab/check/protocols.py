"""Which protocols this pair of hosts can and cannot do and why, and for which of them TCP buffers change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import Unsupported
from lab.base.plugins import members
from lab.check.finding import Finding, looked
from lab.check.machine import Machine
from lab.hosts.hosts_file import Hosts, ShareConfig
from lab.platforms.findings import Reach
from lab.protocols import Protocol, Share
from lab.protocols.options import told

UNTUNED = Reach(False, "the lab leaves that host as it is (tune in the hosts file)")
RUNNING = Reach(None, "a server that runs already keeps the sizes that its sockets were made with")


def findings(config: Hosts, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """Everything about the protocols, as far as the hosts that can be reached tell. Raises HostError for a lost one."""
    share, able = config.share, []
    for name, protocol in sorted(members(protocols, "PROTOCOL").items()):
        sides = list(looked(name, partial(_sides, protocol, share, machines)))
        yield from sides
        if all(finding.level == "ok" for finding in sides):
            able.append(name)
            yield from looked(name, partial(_port, protocol, share, machines))
            yield from looked(f"{name} options", partial(_options, protocol, share, machines))
    yield from _buffers({name: _reaches(name, config, machines) for name in able})


def tcp_buffers(config: Hosts, machines: Mapping[str, Machine]) -> dict[str, dict[str, Any]]:
    """By protocol and role: whether ``tcp_space`` reaches the sockets (None: not known), why, and what does instead."""
    return {
        name: {role: vars(reach) for role, reach in _reaches(name, config, machines).items()}
        for name in sorted(members(protocols, "PROTOCOL"))
    }


def _sides(protocol: Protocol, share: ShareConfig, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """Each side that cannot, and why; where both can, one line that says how."""
    how: list[str] = []
    cannot: dict[str, list[str]] = {}
    for role, machine in machines.items():
        try:
            how.append(
                f"{role}: {_attaches(protocol, machine) if role == 'client' else _serves(protocol, share, machine)}"
            )
        except Unsupported as error:
            cannot.setdefault(str(error).removeprefix(f"{role}: "), []).append(role)
    for reason, roles in cannot.items():
        message, _, remedy = reason.partition(": ")
        yield Finding("warning", protocol.name, f"{' and '.join(roles)}: {message}", remedy)
    if len(how) == len(machines):
        yield Finding("ok", protocol.name, "; ".join(how))


def _attaches(protocol: Protocol, machine: Machine) -> str:
    driver = protocol.driver(machine.platform.name)
    if protocol.mounted and machine.no_root:
        raise Unsupported("cannot mount without root: see sudo above")
    _check_programs(machine, driver.attaches_with, "attach")
    return driver.how(machine.side)


def _serves(protocol: Protocol, share: ShareConfig, machine: Machine) -> str:
    if share.serve == "existing":
        return "the share that is there"
    driver = protocol.driver(machine.platform.name)
    if protocol.mounted and machine.no_root:
        raise Unsupported("cannot serve without root: see sudo above")
    _check_programs(machine, driver.needs_to_serve(machine.side, {}), "serve")
    return f"served by {driver.served_by(machine.side, share.account)}"


def _check_programs(machine: Machine, programs: Mapping[str, str], what: str) -> None:
    """Raise Unsupported, with how to install them, for programs that the host lacks."""
    if programs and (lacking := machine.platform.programs.missing(programs)):
        install = " and ".join(sorted({machine.platform.programs.how_to_install(programs[name]) for name in lacking}))
        raise Unsupported(f"cannot {what} it without {', '.join(lacking)}: {install}")


def _port(protocol: Protocol, share: ShareConfig, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """Whether the server answers where it must (an existing share), or must not yet (a server of the lab's own)."""
    client = machines.get("client")
    if client is None or "server" not in machines or client.facts is None or "perl" not in client.facts.tools:
        return
    if share.serve == "lab" and not protocol.mounted:  # the lab's own sshd has another port
        return
    if share.serve == "lab" and not protocol.driver(machines["server"].platform.name).own_server:
        return
    server = machines["server"].config
    answers = client.platform.network.answers(server.data_address, protocol.port)
    where = f"{server.data_address} port {protocol.port}"
    if share.serve == "lab" and answers:
        message = f"another server answers at {where}, which the lab's own needs"
        yield Finding(
            "warning", protocol.name, message, "stop it on the server, or measure it: [share] serve = existing"
        )
    if share.serve == "existing" and not answers:
        remedy = "switch this kind of sharing on there and let it through the firewall, or leave it out of sweeps"
        yield Finding("warning", protocol.name, f"nothing answers the client at {where}", remedy)


def _options(protocol: Protocol, share: ShareConfig, machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """The options that no sweep can name on these hosts, those of one host and cause in one line."""
    for role, machine in machines.items():
        alike: dict[tuple[str, str], list[str]] = {}
        for name, refusal in _refused(protocol, share, machine):
            alike.setdefault(refusal, []).append(f"{protocol.name}.{name}")
        for (why, remedy), names in alike.items():
            message = f"{role}: {', '.join(names)} cannot be named: {why}"
            yield Finding("note", f"{protocol.name} options", message, remedy)


def _refused(protocol: Protocol, share: ShareConfig, machine: Machine) -> Iterator[tuple[str, tuple[str, str]]]:
    """What cannot be named of this host, why, and what to do about it."""
    role = machine.role
    is_choice = role in protocol.options and (role == "client" or share.serve == "lab")
    programs = protocol.options[role].programs if is_choice else ()
    refused = [
        (program, refusal) for program in programs if (refusal := _refusal(protocol, share, machine, {role: program}))
    ]
    if len(refused) < len(programs):  # else the lab knows one way only on this system, which is told already
        yield from ((f"{role} = {program}", refusal) for program, refusal in refused)
    mounts = told(protocol.options) if role == "client" else []
    if mounts and (refusal := _refusal(protocol, share, machine, dict.fromkeys(mounts, ""))):
        yield from ((name, refusal) for name in mounts)


def _refusal(
    protocol: Protocol, share: ShareConfig, machine: Machine, options: Mapping[str, str]
) -> tuple[str, str] | None:
    """Why this host cannot have these options, and what to do about it; None where it can."""
    driver, side = protocol.driver(machine.platform.name), machine.side
    try:
        if machine.role == "client":
            why = driver.cannot_attach(side, options)
        else:
            _check_programs(machine, driver.needs_to_serve(side, options), "serve")
            path, no_password = f"{side.directory}/ram", SecretStr("")
            why = driver.cannot_serve(side, Share(path, share.name, share.account, no_password, True, options=options))
    except Unsupported as error:
        why, _, remedy = str(error).removeprefix(f"{machine.role}: ").partition(": ")
        return why, remedy
    return (why, "") if why else None


def _reaches(name: str, config: Hosts, machines: Mapping[str, Machine]) -> dict[str, Reach]:
    found = {}
    for role, machine in machines.items():
        if not config.tuned(role):
            found[role] = UNTUNED
        elif machine.facts is not None:
            reach = machine.platform.preflight.tcp_reach(machine.facts, name, role)
            ran_before = role == "server" and config.share.serve == "existing"
            found[role] = RUNNING if ran_before and reach.reaches else reach
    return found


def _buffers(reaches: Mapping[str, Mapping[str, Reach]]) -> Iterator[Finding]:
    """Where a sweep of ``tcp_space`` would show nothing, or may not: protocols of one host and cause in one line."""
    subject = "TCP buffers"
    alike: dict[tuple[str, Reach], list[str]] = {}
    for name, by_role in reaches.items():
        for role, reach in by_role.items():
            alike.setdefault((role, reach), []).append(name)
    for (role, reach), names in alike.items():
        where = f"{', '.join(names)} on the {role}: {reach.why}"
        if reach.reaches:
            yield Finding("ok", subject, f"tcp_space reaches {where}")
        elif reach.reaches is None:
            yield Finding("note", subject, f"tcp_space may change nothing for {where}")
        elif reach == UNTUNED:
            yield Finding("note", subject, f"tcp_space changes nothing for {where}")
        else:
            remedy = f"leave tcp_space out, or set {reach.instead} by hand" if reach.instead else "leave tcp_space out"
            yield Finding("warning", subject, f"tcp_space changes nothing for {where}", remedy)
