"""cp as macOS has it: extended attributes and resource forks go along, which ``cp -X`` leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from lab.workloads.cp import Cp
from lab.workloads.workload import Move


class CpMetadata(Cp):
    """What a person who types ``cp -R`` on a Mac gets. On a share without a place for them they are files beside."""

    name = "cp-metadata"
    only_on = "macos"

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`; without the -X that a Mac's cp is called with otherwise."""
        return super().argv([word for word in call if word != "-X"], version, move)


TOOL = CpMetadata()
