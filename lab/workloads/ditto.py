"""ditto, the copy command of macOS."""

from collections.abc import Sequence

from lab.workloads.workload import Move, Tool


class Ditto(Tool):
    """Copies between folders of one host, so the share must be mounted.

    The platform calls it so that it copies only data. It always keeps times and permissions.
    """

    name = "ditto"
    program = "ditto"
    needs_mount = True
    folder_options = ()
    only_on = "macos"

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. ditto has no ``--``; the lab's paths begin with a slash anyway."""
        return (*call, move.source, move.target)


TOOL = Ditto()
