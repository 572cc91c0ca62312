"""What the lab takes for granted about a Mac and no source proves: each assumption beside what this Mac says.

`lab check --hardware` asks, and changes nothing. Another row is another :class:`Assumption` in a module beside this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from lab.base.untrusted import first_line
from lab.check.assumed_shares import MOUNTING, SERVING
from lab.check.assumed_system import SYSTEM
from lab.check.assumption import Assumption
from lab.check.finding import Finding, looked
from lab.check.machine import Machine
from lab.platforms import Facts
from lab.platforms.macos.tcp import parse_version

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
        for row in (row for row in ASSUMPTIONS if version is None or row.holds_for(version)):
            yield from looked(subject, partial(_compared, machine, machine.facts, row, peer, subject))


def _compared(machine: Machine, facts: Facts, row: Assumption, peer: str, subject: str) -> Iterator[Finding]:
    if not row.ask:
        yield Finding("note", subject, f"only a run shows: {row.what} ({row.source})", row.expected)
        return
    if row.root and machine.no_root:
        yield Finding("note", subject, f"could not tell without root: {row.what}", "see sudo above")
        return
    said = machine.host.shell(
        row.ask, facts.interface, peer, facts.user, root=row.root, deadline_s=60, check=False
    ).output
    if re.search(row.expected, said, re.MULTILINE):
        yield Finding("ok", subject, f"as assumed: {row.what}")
        return
    shown = " / ".join(map(first_line, said.splitlines()[-4:])) or "nothing"
    message = f"differs: {row.what}: it says {shown}; assumed is {row.expected} ({row.source})"
    yield Finding("warning", subject, message, f"report this line, and that it is {facts.os}")
