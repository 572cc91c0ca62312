"""Servers that cannot be told to leave data in memory: started so that their flushes do nothing."""

from __future__ import annotations

from pathlib import Path

from lab.base.errors import LabFailure
from lab.protocols.driver import Side

UNFLUSHED = Path(__file__).with_name("unflushed.pl").read_text(encoding="utf-8")
# $1 the file that identifies a daemon, $2 a program: for each process of that name in the daemon's group, whether it
# came out of UNFLUSHED, which goes on only once the kernel has taken the filter, and whether it has a filter
FILTERED = r"""
read -r group < "$1" && ps -A -o pgid= -o pid= -o comm= | while read -r pgid pid name; do
    [ "$pgid $name" = "$group $2" ] || continue
    if tr '\0' '\n' < "/proc/$pid/environ" | grep -qx FILE_SHARE_LAB_FLUSHES=ignored &&
        grep -q '^Seccomp:[[:space:]]*2' "/proc/$pid/status"
    then echo yes; else echo no; fi
done
"""


def unflushed(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command that is to run, with all that come of it, without its flushes."""
    return ("perl", "-e", UNFLUSHED, "--", *argv)


def is_unflushed(server: Side, identity: str, program: str) -> bool:
    """Whether flushes of a running daemon's ``program`` do nothing; ``identity`` is its file. Raises LabFailure."""
    return parse_filtered(server.host.shell(FILTERED, identity, program, root=True).stdout, program)


def parse_filtered(text: str, program: str) -> bool:
    """The answer of all processes of a program. Raises LabFailure where there is none, or they differ."""
    answers = set(text.split())
    if answers not in ({"yes"}, {"no"}):
        raise LabFailure(f"server: whether flushes of {program} do nothing cannot be told: {text!r:.100}")
    return answers == {"yes"}
