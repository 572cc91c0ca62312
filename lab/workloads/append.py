"""append: a log, a database journal or a mailbox, which grows record by record, each flushed."""

from collections.abc import Sequence
from types import MappingProxyType

from lab.base.scripts import read_script
from lab.base.units import parse_size
from lab.design.factors import Direction
from lab.design.option_levels import Option, size
from lab.hosts.command import run_perl
from lab.workloads.workload import Move, Tool

APPEND = read_script(__file__, "append.pl")


class Append(Tool):
    """Appends to a new file in the share, and flushes it after each record within the measured time."""

    name = "append"
    program = "perl"
    needs_mount = True
    payloads = ("file",)
    directions = (Direction.WRITE,)
    options = MappingProxyType({"bs": Option(size(512, 1 << 30, 512), "Bytes of a record; each is flushed.", "64 KiB")})
    task = "log"  # of append.pl

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        return run_perl(APPEND, self.task, str(parse_size(self.level(move.options, "bs"))), move.source, move.target)


TOOL = Append()
