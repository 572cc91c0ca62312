"""install, as Makefiles copy: what a copy costs that also sets a mode."""

from collections.abc import Sequence
from types import MappingProxyType

from lab.workloads.workload import Move, Tool


class Install(Tool):
    """Copies between folders of one host, so the share must be mounted."""

    name = "install"
    program = "install"
    needs_mount = True
    programs = MappingProxyType({"install": "coreutils"})

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        return (*call, "-m", "644", move.source, move.target)


TOOL = Install()
