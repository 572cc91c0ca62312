"""bands: what a backup of Time Machine does to its sparse bundle on a server, piece by piece and flushed."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from lab.base.units import parse_size
from lab.design.factors import Direction
from lab.design.option_levels import size
from lab.hosts.perl import run_perl
from lab.workloads.append import APPEND
from lab.workloads.workload import Move, Option, Tool

SMALLEST, LARGEST = 4096, 1 << 30  # bytes of a band


class Bands(Tool):
    """Rewrites a file that lies in the share band by band, here and there, and flushes each within the measured time.

    8 MiB is the size of a band that hdiutil makes (16384 sectors of ``sparse-band-size``), which Time Machine kept for
    years; since then it chooses one by the size of the share, such as 256 MB for 4 TB. A bundle has a file for each
    band, and here all are in one: an opening in a folder of thousands is not measured.
    """

    name = "bands"
    program = "perl"
    needs_mount = True
    programs = MappingProxyType({})
    payloads = ("file",)
    directions = (Direction.WRITE,)
    options = MappingProxyType(
        {"bs": Option(size(SMALLEST, LARGEST, SMALLEST), "8 MiB", "Bytes of a band; each is flushed.")}
    )

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.lay_out`."""
        return run_perl(APPEND, "lay", "0", move.source, move.target)

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        return run_perl(APPEND, "bands", str(parse_size(self.level(move.options, "bs"))), move.source, move.target)


TOOL = Bands()
