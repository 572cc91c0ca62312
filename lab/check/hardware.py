"""The check of what is taken for granted and no source proves: each assumption about a system, and what a host says.

`lab check --hardware` asks, and changes nothing. The assumptions stand with the platform and the protocols that make
them; another row is another :class:`Assumption` there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from lab import protocols
from lab.base.untrusted import first_line
from lab.check.finding import Finding, examine
from lab.check.machine import Machine
from lab.hosts.assumption import Assumption
from lab.platforms import Facts, Platform


def assumptions_about(platform: type[Platform]) -> tuple[Assumption, ...]:
    """Those of the platform, and those of its drivers, each once."""
    all_drivers = (protocol.drivers.get(platform.name) for protocol in protocols.by_name().values())
    rows = [
        *platform.preflight_class.assumptions,
        *(row for driver in all_drivers if driver for row in driver.assumptions),
    ]
    return tuple(dict.fromkeys(rows))


def findings(machine: Machine, peer: str) -> Iterator[Finding]:
    """Every assumption about hosts of this kind; ``peer`` is the other one's data address."""
    subject = f"{machine.role} hardware"
    assumptions = assumptions_about(type(machine.platform))
    if not assumptions:
        yield Finding("ok", subject, f"nothing is assumed of {machine.platform.name} that has not been seen")
    elif machine.facts is None:
        yield Finding("note", subject, "could not tell: that needs its facts", "solve the problems above first")
    else:
        version = machine.platform.preflight.version(machine.facts)
        for assumption in assumptions:
            if version is None or assumption.holds_for(version):
                yield from examine(subject, partial(_compare, machine, machine.facts, assumption, peer, subject))


def _compare(machine: Machine, facts: Facts, assumption: Assumption, peer: str, subject: str) -> Iterator[Finding]:
    if not assumption.ask:
        message = f"only a run shows: {assumption.what} ({assumption.source})"
        yield Finding("note", subject, message, assumption.expected)
        return
    if assumption.root and machine.no_root:
        yield Finding("note", subject, f"could not tell without root: {assumption.what}", "see sudo above")
        return
    if assumption.root and machine.host.is_narrow:
        yield Finding("note", subject, f"not asked by sudo = helper: {assumption.what}", "give another sudo for it")
        return
    words = (facts.interface, peer, facts.user)
    output = machine.host.shell(assumption.ask, *words, root=assumption.root, deadline_s=60, check=False).output
    if re.search(assumption.expected, output, re.MULTILINE):
        yield Finding("ok", subject, f"as assumed: {assumption.what}")
        return
    tail = " / ".join(map(first_line, output.splitlines()[-4:])) or "nothing"
    message = f"differs: {assumption.what}: it says {tail}; assumed is {assumption.expected} ({assumption.source})"
    yield Finding("warning", subject, message, f"report this line, and that it is {facts.os}")
