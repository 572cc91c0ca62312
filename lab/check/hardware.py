"""The check of what is taken for granted about a Mac and no source proves: each assumption, and what this Mac says.

`lab check --hardware` asks, and changes nothing. The assumptions stand with the platform and the protocols that make
them; another row is another :class:`Assumption` there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from lab.base.untrusted import first_line
from lab.check.finding import Finding, examine
from lab.check.machine import Machine
from lab.hosts.assumption import Assumption
from lab.platforms import Facts
from lab.platforms.macos.assumptions import SYSTEM
from lab.platforms.macos.tcp import parse_version
from lab.protocols.mounts.macos_assumptions import MOUNTING
from lab.protocols.servers.macos_assumptions import SERVING

ASSUMPTIONS = (*SYSTEM, *MOUNTING, *SERVING)


def findings(machine: Machine, peer: str) -> Iterator[Finding]:
    """Every assumption about hosts of this kind; ``peer`` is the other one's data address."""
    subject = f"{machine.role} hardware"
    if machine.platform.name != "macos":
        yield Finding("ok", subject, f"nothing is assumed of {machine.platform.name} that has not been seen")
    elif machine.facts is None:
        yield Finding("note", subject, "could not tell: that needs its facts", "solve the problems above first")
    else:
        version = parse_version(machine.facts.os)
        for assumption in ASSUMPTIONS:
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
    words = (facts.interface, peer, facts.user)
    output = machine.host.shell(assumption.ask, *words, root=assumption.root, deadline_s=60, check=False).output
    if re.search(assumption.expected, output, re.MULTILINE):
        yield Finding("ok", subject, f"as assumed: {assumption.what}")
        return
    tail = " / ".join(map(first_line, output.splitlines()[-4:])) or "nothing"
    message = f"differs: {assumption.what}: it says {tail}; assumed is {assumption.expected} ({assumption.source})"
    yield Finding("warning", subject, message, f"report this line, and that it is {facts.os}")
