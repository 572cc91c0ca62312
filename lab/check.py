"""The preflight: what both hosts are, what they can do, and what is missing, before anything is changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from lab import protocols
from lab.config import load_hosts
from lab.errors import LabFailure
from lab.hosts import ROLES, connected
from lab.journal import Journal
from lab.registry import members
from lab.session import Session
from lab.settings import Settings


@dataclass(frozen=True)
class Finding:
    """One line of the check; ``level`` is ``ok``, ``warning`` or ``problem``."""

    level: str
    subject: str
    message: str


def check(hosts_file: Path) -> tuple[list[Finding], dict[str, Any]]:
    """Findings, worst first, and the facts of both hosts. Changes nothing.

    Raises BadInput for the hosts file, HostError where a host cannot be reached.
    """
    config = load_hosts(hosts_file)
    with connected(config) as hosts:
        session = Session(hosts, config, Settings(hosts, Journal(None)), SecretStr(""), "check")
        findings = [finding for role in ROLES for finding in _host(session, role)]
        findings += [_path(session)]
        findings += [_protocol(session, name) for name in sorted(members(protocols, "PROTOCOL"))]
    rank = {"problem": 0, "warning": 1, "ok": 2}
    findings.sort(key=lambda finding: rank[finding.level])
    return findings, {role: asdict(session.facts[role]) for role in ROLES}


def _host(session: Session, role: str) -> list[Finding]:
    facts, config = session.facts[role], getattr(session.config, role)
    speed = f"{facts.link_bits_per_s / 1e9:g} Gbit/s" if facts.link_bits_per_s else "speed unknown"
    link = f"{facts.interface}: MTU {facts.mtu} (up to {facts.mtu_max or 'unknown'}), {speed}"
    found = [Finding("ok", role, f"{facts.hostname}: {facts.os}, {facts.kernel}, {facts.cores} cores; {link}")]
    try:
        session.hosts[role].run("true", root=True)
        if config.sudo == "none" and not facts.is_root:
            found.append(
                Finding("problem", role, f"user {facts.user} is not root and sudo = none: no setting can change")
            )
    except LabFailure as error:
        found.append(Finding("problem", role, f"no root: {error}"))
    if config.ram_disk > facts.available_bytes:
        free = f"{facts.available_bytes / 2**20:.0f} MiB are free"
        found.append(Finding("problem", role, f"ram_disk of {config.ram_disk / 2**20:.0f} MiB does not fit: {free}"))
    for tool in ("perl", "rsync", "iperf3"):
        if tool not in facts.tools:
            level = "problem" if tool == "perl" else "warning"
            found.append(Finding(level, role, f"{tool} is missing: `apt-get install {tool}` there"))
    return found


def _path(session: Session) -> Finding:
    """Whether the data path carries the MTU that both ends have now; larger ones are proven when they are set."""
    mtu = min(session.facts[role].mtu for role in ROLES)
    try:
        session.platforms["client"].prove_path(session.config.server.data_address, mtu)
    except LabFailure as error:
        return Finding("problem", "link", str(error))
    return Finding("ok", "link", f"packets of MTU {mtu} reach the server in one piece")


def _protocol(session: Session, name: str) -> Finding:
    try:
        protocol = protocols.find(name)
        how = protocol.dialect(session.sides["client"].platform).how(session.sides["client"])
        served = "existing share"
        if session.config.share.serve == "lab":
            needed = protocol.dialect(session.sides["server"].platform).serves_with
            session.check_programs("server", needed, name)
            served = f"served by {next(iter(needed))}"
    except LabFailure as error:
        return Finding("warning", name, str(error))
    return Finding("ok", name, f"{served}; client: {how}")
