"""append: a log, a database's journal, a mailbox, which grow record by record and are safe after each."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from lab.base.scripts import read_script
from lab.base.units import parse_size
from lab.design.factors import Direction
from lab.design.option_levels import size
from lab.hosts.perl import run_perl
from lab.workloads.workload import Move, Option, Tool

APPEND = read_script(__file__, "append.pl")
SMALLEST, LARGEST = 512, 1 << 30  # bytes of a record


class Append(Tool):
    """Appends to a new file in the share and flushes it after each record, within the measured time."""

    name = "append"
    program = "perl"
    needs_mount = True
    programs = MappingProxyType({})
    payloads = ("file",)
    directions = (Direction.WRITE,)
    options = MappingProxyType(
        {"bs": Option(size(SMALLEST, LARGEST, SMALLEST), "64 KiB", "Bytes of a record; each is flushed.")}
    )

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        return run_perl(APPEND, "log", str(parse_size(self.level(move.options, "bs"))), move.source, move.target)


TOOL = Append()
