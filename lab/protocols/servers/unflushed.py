"""Servers without a setting for asynchronous writes, started so that their flushes do nothing."""

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.protocols.driver import Side

UNFLUSHED = read_script(__file__, "unflushed.pl")
READ_FILTERS = read_script(__file__, "unflushed_check.sh")


def without_flushes(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command that runs a command and its children so that their flushes do nothing."""
    return ("perl", "-e", UNFLUSHED, "--", *argv)


def is_unflushed(server: Side, identity: str, program: str) -> bool:
    """Whether flushes of a running daemon's ``program`` do nothing; ``identity`` is its file. Raises LabFailure."""
    return parse_filtered(server.host.shell(READ_FILTERS, identity, program, root=True).stdout, program)


def parse_filtered(text: str, program: str) -> bool:
    """The common answer of a program's processes. Raises LabFailure if there is none, or they differ."""
    answers = set(text.split())
    if answers not in ({"yes"}, {"no"}):
        raise LabFailure(f"whether flushes of {program} do nothing cannot be told: {text!r:.100}", host="server")
    return answers == {"yes"}
