"""bands: what a Time Machine backup does to its sparse bundle on a server, band by band, each flushed."""

from collections.abc import Sequence
from types import MappingProxyType

from lab.design.option_levels import Option, size
from lab.hosts.command import run_perl
from lab.workloads.append import APPEND, Append
from lab.workloads.workload import Move


class Bands(Append):
    """Rewrites a file in the share band by band, in scattered order, and flushes each within the measured time.

    8 MiB is the band size of hdiutil (16384 sectors of ``sparse-band-size``), which Time Machine kept for years. It now
    chooses one by the size of the share, such as 256 MB for 4 TB. A bundle has a file for each band; here one file
    holds all, so that opening files in a folder of thousands is not measured.
    """

    name = "bands"
    task = "bands"
    options = MappingProxyType({"bs": Option(size(4096, 1 << 30, 4096), "Bytes of a band; each is flushed.", "8 MiB")})

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        return run_perl(APPEND, "lay", "0", move.source, move.target)


TOOL = Bands()
