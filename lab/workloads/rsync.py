"""rsync, with flags that every engine of it takes: 2.6.9, 3.x and openrsync."""

from __future__ import annotations

import re
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.hosts import Host
from lab.workloads.workload import Tool

# The whole file (openrsync knows -W by this name alone), straight to its name: no checksums of an old copy, no second
# name and rename on the share.
FLAGS = ("-W", "--inplace")
# macOS 15.0 to 15.3 have two engines, and choose by the options. Told which, they do what the later ones do anyway.
PROGRAM = {"linux": ("rsync",), "macos": ("env", "CHOSEN_RSYNC=rsync_openrsync", "rsync")}


class Rsync(Tool):
    """Copies between folders, or over a remote shell."""

    name = "rsync"
    needs_mount = False
    programs = MappingProxyType({"rsync": "rsync"})

    def version(self, host: Host, platform: str) -> str:
        """The engine, by its own words. Raises Unsupported for an unknown one."""
        said = host.run(*PROGRAM[platform], "--version").stdout
        try:
            return parse_version(said)
        except ValueError as error:
            raise Unsupported(f"{host.role}: rsync --version: {error}") from error

    def argv(self, platform: str, version: str, source: str, target: str, remote_shell: str) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        shell = ("-e", remote_shell) if remote_shell else ()
        return (*PROGRAM[platform], *FLAGS, *self.more(version), *shell, "--", source, target)

    def more(self, version: str) -> tuple[str, ...]:
        """Flags beyond the plain ones."""
        return ()


def parse_version(text: str) -> str:
    """Such as ``rsync 2.6.9, protocol 29`` or ``openrsync, protocol 29``, of ``rsync --version``. Raises ValueError."""
    own = re.match(r"openrsync: protocol version ([0-9]{1,4})\b", text)
    if own:
        return f"openrsync, protocol {own[1]}"
    found = re.match(r"rsync +version v?([0-9][0-9A-Za-z.]{0,20}) +protocol version ([0-9]{1,4})\b", text)
    if not found:
        raise ValueError(f"it is neither rsync nor openrsync: {text!r:.100}")
    return f"rsync {found[1]}, protocol {found[2]}"


TOOL = Rsync()
