"""cp, as a person types it, without shortcuts such as holes and shared blocks."""

from collections.abc import Sequence

from lab.base.errors import Unsupported
from lab.hosts import Host
from lab.workloads.workload import Move, Tool


class Cp(Tool):
    """Copies between folders of one host, so the share must be mounted.

    The platform calls cp so that it reads, sends and writes every byte, makes no holes, shares no blocks, and copies
    only data.
    """

    name = "cp"
    program = "cp"
    needs_mount = True
    folder_options = ("-R",)
    contents = "/."  # with a slash alone, GNU cp would put the second copy below the first

    def check(self, host: Host, call: Sequence[str]) -> None:
        """Linux's options are GNU's and uutils'; BusyBox and toybox refuse them."""
        if "--sparse=never" in call and host.run(*call, "--help", check=False).exit_code != 0:
            remedy = "install GNU coreutils there, or take cp out of the sweep"
            raise Unsupported("its cp knows no --sparse and --reflink", remedy, host=host.name)

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        return (*call, "--", move.source, move.target)


TOOL = Cp()
