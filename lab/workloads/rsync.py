"""rsync, with flags that every engine of it takes: 2.6.9, 3.x and openrsync."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.hosts import Host
from lab.workloads.workload import Move, Tool

# The whole file (openrsync knows -W by this name alone), straight to its name: no checksums of an old copy, no second
# name and rename on the share.
FLAGS = ("-W", "--inplace")


class Rsync(Tool):
    """Copies between folders, or over a remote shell."""

    name = "rsync"
    program = "rsync"
    needs_mount = False
    programs = MappingProxyType({"rsync": "rsync"})
    folder_options = ("-r",)
    second_copy_options = ("-t",)  # by times and sizes it tells what has changed; GVfs over AFP cannot set times

    def version(self, host: Host, call: Sequence[str]) -> str:
        """The engine, by its own words. Raises Unsupported for an unknown one."""
        result = host.run(*call, "--version")
        try:
            return parse_version(result.stdout)
        except ValueError as error:
            raise Unsupported(f"rsync --version: {error}", host=host.name) from error

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        shell = ("-e", move.remote_shell) if move.remote_shell else ()
        return (*call, *FLAGS, *self.more(version), *shell, "--", move.source, move.target)

    def more(self, version: str) -> tuple[str, ...]:
        """Flags beyond the plain ones."""
        return ()


def parse_version(text: str) -> str:
    """Such as ``rsync 2.6.9, protocol 29`` or ``openrsync, protocol 29``, of ``rsync --version``. Raises ValueError."""
    openrsync = re.match(r"openrsync: protocol version ([0-9]{1,4})\b", text)
    if openrsync:
        return f"openrsync, protocol {openrsync[1]}"
    rsync = re.match(r"rsync +version v?([0-9][0-9A-Za-z.]{0,20}) +protocol version ([0-9]{1,4})\b", text)
    if not rsync:
        raise ValueError(f"it is neither rsync nor openrsync: {text!r:.100}")
    return f"rsync {rsync[1]}, protocol {rsync[2]}"


TOOL = Rsync()
