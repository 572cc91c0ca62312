"""ditto, with which owners of Macs copy; only macOS has it."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from lab.workloads.workload import Move, Tool


class Ditto(Tool):
    """Copies between folders of one host, so the share must be mounted.

    A platform calls it so that it copies nothing but the data; times and permissions it always keeps.
    """

    name = "ditto"
    program = "ditto"
    needs_mount = True
    programs = MappingProxyType({})
    folder_options = ()
    only_on = "macos"

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. It knows no ``--``, which the lab's paths do not need: they begin with a slash."""
        return (*call, move.source, move.target)


TOOL = Ditto()
