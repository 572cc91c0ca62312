"""tar through a pipe: one stream for a whole folder, in which no file waits for the one before."""

import re
from collections.abc import Sequence
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts import Host
from lab.workloads.workload import Move, Tool

PIPE = read_script(__file__, "tar.sh")


class Tar(Tool):
    """Packs at one end and unpacks at the other: over a remote shell, or between folders of one host."""

    name = "tar"
    program = "tar"
    needs_mount = False
    programs = MappingProxyType({"tar": "tar"})
    folder_options = ()
    contents = ""

    def version(self, host: Host, call: Sequence[str]) -> str:
        """Which tar it is, and its version. Raises Unsupported for an unknown one."""
        try:
            return parse_version(host.run(*call, "--version").stdout)
        except ValueError as error:
            raise Unsupported(f"tar --version: {error}", host=host.name) from error

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. The payload has the same name at both ends."""
        return ("sh", "-c", PIPE, "tar", move.source, move.target, move.remote_shell)


def parse_version(text: str) -> str:
    """Such as ``GNU tar 1.35`` or ``bsdtar 3.5.3``, from ``tar --version``. Raises ValueError."""
    match = re.match(r"(?:tar \()?(GNU tar|busybox|bsdtar)\)? v?([0-9][0-9.]{0,20})(?![0-9.])", text)
    if not match:
        raise ValueError(f"it is neither GNU's nor BSD's tar, nor BusyBox's: {text!r:.100}")
    return f"{match[1]} {match[2]}"


TOOL = Tar()
