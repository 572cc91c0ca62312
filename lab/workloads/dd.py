"""dd, with which people measure disks, in both directions over a share."""

from collections.abc import Sequence
from types import MappingProxyType

from lab.base.units import parse_size
from lab.design.option_levels import Option, size
from lab.workloads.workload import Move, Tool

ABOUT_BLOCKS = "Bytes of each read and of each write."


class Dd(Tool):
    """Copies between folders of one host block by block, so the share must be mounted.

    The clock flushes after a write, because a Mac's dd has no ``conv=fsync``. The rate that dd prints is ignored: its
    own clock stops before the flush.
    """

    name = "dd"
    program = "dd"
    needs_mount = True
    payloads = ("file",)
    options = MappingProxyType({"bs": Option(size(512, 1 << 30, 512), ABOUT_BLOCKS, "1 MiB")})  # dd keeps one in memory

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. Every dd takes a size in bytes; ``1M`` is GNU's, ``1m`` is BSD's."""
        block_bytes = parse_size(self.level(move.options, "bs"))
        return (*call, f"if={move.source}", f"of={move.target}", f"bs={block_bytes}")


TOOL = Dd()
