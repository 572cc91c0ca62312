"""cp, as a person types it, less what would make it lie."""

from __future__ import annotations

from types import MappingProxyType

from lab.workloads.workload import Tool

# No holes and no shared blocks: every byte is to be read, sent and written. A Mac's cp would also copy extended
# attributes, which some servers keep in files of their own.
FLAGS = {"linux": ("--sparse=never", "--reflink=never"), "macos": ("-X",)}


class Cp(Tool):
    """Copies between folders of one host, so the share must be mounted."""

    name = "cp"
    needs_mount = True
    programs = MappingProxyType({})

    def argv(self, platform: str, version: str, source: str, target: str, remote_shell: str) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        return ("cp", *FLAGS[platform], "--", source, target)


TOOL = Cp()
