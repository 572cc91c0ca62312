"""cp on macOS with extended attributes and resource forks, which ``cp -X`` leaves out."""

from collections.abc import Sequence

from lab.workloads.cp import Cp
from lab.workloads.workload import Move


class CpMetadata(Cp):
    """``cp -R`` as typed on a Mac. If the share cannot hold attributes, they become files beside."""

    name = "cp-metadata"
    only_on = "macos"

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. Here a Mac's cp is called without -X."""
        return super().argv([word for word in call if word != "-X"], version, move)


TOOL = CpMetadata()
