"""cp, as a person types it, less what would make it lie."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from lab.workloads.workload import Move, Tool


class Cp(Tool):
    """Copies between folders of one host, so the share must be mounted.

    Every byte is to be read, sent and written: a platform calls cp so that it leaves no holes, shares no blocks and
    copies nothing but the data.
    """

    name = "cp"
    program = "cp"
    needs_mount = True
    programs = MappingProxyType({})
    folder_options = ("-R",)
    contents = "/."  # with a slash alone GNU's cp would put a second copy below the first

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        return (*call, "--", move.source, move.target)


TOOL = Cp()
