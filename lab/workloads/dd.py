"""dd, with which people measure disks, in both directions over a share."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from lab.base.units import parse_size
from lab.design.option_levels import size
from lab.workloads.workload import Move, Option, Tool

SMALLEST, LARGEST = 512, 1 << 30  # bytes of a block; dd keeps one in memory


class Dd(Tool):
    """Copies between folders of one host block by block, so the share must be mounted.

    What ends a write is flushed by the clock, as after any tool: a Mac's dd has no ``conv=fsync``. The rate that dd
    prints is not read: it is that of its own clock, which stops before the flush.
    """

    name = "dd"
    program = "dd"
    needs_mount = True
    programs = MappingProxyType({})
    payloads = ("file",)
    options = MappingProxyType(
        {"bs": Option(size(SMALLEST, LARGEST, SMALLEST), "1 MiB", "Bytes of each read and of each write.")}
    )

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. Every dd takes a size in bytes; ``1M`` is GNU's, ``1m`` is BSD's."""
        block_bytes = parse_size(self.level(move.options, "bs"))
        return (*call, f"if={move.source}", f"of={move.target}", f"bs={block_bytes}")


TOOL = Dd()
