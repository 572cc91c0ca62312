"""rsync, with flags that every engine of it takes: 2.6.9, 3.x and openrsync."""

from __future__ import annotations

from types import MappingProxyType

from lab.workloads.base import Tool

# The whole file, straight to its name: no checksums of an old copy, no second name and rename on the share.
FLAGS = ("--whole-file", "--inplace")


class Rsync(Tool):
    """Copies between folders, or over a remote shell."""

    name = "rsync"
    needs_mount = False
    programs = MappingProxyType({"rsync": "rsync"})

    def argv(self, platform: str, source: str, target: str, remote_shell: str) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        shell = (f"--rsh={remote_shell}",) if remote_shell else ()
        return ("rsync", *FLAGS, *shell, "--", source, target)


TOOL = Rsync()
