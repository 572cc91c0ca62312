"""dd with blocks of 1 MiB: what a copy costs when the tool asks for large pieces."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from lab.workloads.workload import Tool

BLOCK_BYTES = 1024**2


class Dd(Tool):
    """Copies between folders of one host, so the share must be mounted."""

    name = "dd"
    program = "dd"
    needs_mount = True
    programs = MappingProxyType({"dd": "coreutils"})

    def argv(self, call: Sequence[str], version: str, source: str, target: str, remote_shell: str) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. Every dd understands a size in bytes; ``1M`` is GNU's, ``1m`` is BSD's."""
        return (*call, f"if={source}", f"of={target}", f"bs={BLOCK_BYTES}")


TOOL = Dd()
