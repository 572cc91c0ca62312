"""A server in a Linux kernel, which has one for all: whether it is free for the lab, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.base.errors import LabFailure, Unsupported
from lab.base.untrusted import first_line
from lab.hosts.command import Command, script
from lab.protocols.driver import Side

# $1 a shell test: this kernel has the server; $2 what prints a word on who has it, or "free"; then the programs it
# needs. A kernel that others share shows none of its threads.
LOOK = r"""
has=$1 who=$2; shift 2
[ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] || { echo shared; exit; }
sh -c "$has" || { echo unknown; exit; }
lacking=$(for program in "$@"; do command -v "$program" >/dev/null || printf ' %s' "$program"; done)
[ -z "$lacking" ] || { echo "lacks$lacking"; exit; }
sh -c "$who"
"""


@dataclass(frozen=True)
class KernelServer:
    """``has`` and ``who`` are what LOOK is told; ``install`` says how ``programs`` get there.

    ``remedies`` say what to do about it, by the words of ``who`` other than ``free``.
    """

    name: str
    has: str
    who: str
    programs: tuple[str, ...]
    install: str
    remedies: Mapping[str, str]

    @property
    def look(self) -> Command:
        """What asks a host; it prints ``free``, or in a word why not."""
        return script(LOOK, self.has, self.who, *self.programs, root=True)

    def is_free(self, server: Side) -> bool:
        """Whether it can be the lab's."""
        return self.look.run(server.host, check=False) == "free"

    def cannot(self, server: Side) -> str:
        """Why it will never be the lab's; empty where it can. Raises Unsupported, with what to do, where that helps."""
        never = {
            "free": "",
            "shared": f"others share this host's kernel, which has one {self.name} for all",
            "unknown": f"the kernel has no {self.name}",
        }
        word, _, lacking = first_line(self.look.run(server.host)).partition(" ")
        if word == "lacks":
            raise Unsupported(f"{server.host.role}: no {lacking.replace(' ', ', ')}: {self.install}")
        if word in self.remedies:
            raise Unsupported(f"{server.host.role}: {self.remedies[word]}")
        if word not in never:
            raise LabFailure(f"{server.host.role}: whether its {self.name} is free cannot be told: {word!r:.100}")
        return never[word]
