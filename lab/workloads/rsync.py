"""rsync, with flags that every implementation takes: 2.6.9, 3.x and openrsync."""

import re
from collections.abc import Sequence
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.hosts import Host
from lab.workloads.workload import Move, Tool

# Whole files (openrsync knows only -W), written in place: no checksums of an old copy, no temporary name on the share
FLAGS = ("-W", "--inplace")


class Rsync(Tool):
    """Copies between folders, or over a remote shell."""

    name = "rsync"
    program = "rsync"
    needs_mount = False
    programs = MappingProxyType({"rsync": "rsync"})
    folder_options = ("-r",)
    second_copy_options = ("-t",)  # it finds changes by time and size; GVfs over AFP cannot set times

    def version(self, host: Host, call: Sequence[str]) -> str:
        """Its implementation and version, which may be an error. Raises Unsupported for an unknown one."""
        try:
            return parse_version(host.run(*call, "--version").output)
        except ValueError as error:
            raise Unsupported(f"rsync --version: {error}", host=host.name) from error

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        shell = ("-e", move.remote_shell) if move.remote_shell else ()
        return (*call, *FLAGS, *self.more_flags(version), *shell, "--", move.source, move.target)

    def more_flags(self, version: str) -> tuple[str, ...]:
        """Flags after FLAGS."""
        return ()


def parse_version(text: str) -> str:
    """``rsync 2.6.9, protocol 29`` or ``openrsync, protocol 29``, from ``rsync --version``. Raises ValueError."""
    openrsync = re.search(r"^openrsync: protocol version (29|[3-9][0-9])\b", text, re.MULTILINE)
    if openrsync:
        return f"openrsync, protocol {openrsync[1]}"
    version = r"^rsync +version v?([0-9][0-9A-Za-z.+~-]{0,40}) +protocol version ([0-9]{1,4})\b"
    rsync = re.search(version, text, re.MULTILINE)
    if not rsync:
        raise ValueError(f"it is neither rsync nor the openrsync of macOS: {text!r:.100}")
    return f"rsync {rsync[1]}, protocol {rsync[2]}"


TOOL = Rsync()
