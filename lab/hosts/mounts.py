"""What is mounted on a host, from its table of mounts: touching a mount whose server is dead would hang.

Paths in the table have no links.
"""

import re

from lab.hosts import Host
from lab.hosts.command import Command, script

_ESCAPES = str.maketrans({"\\": r"\134", " ": r"\040", "\t": r"\011", "\n": r"\012"})
FIND = 'grep -F " $1 " /proc/self/mounts'


def real_path(host: Host, folder: str) -> str:
    """A folder on a host without links: on a Mac ``/tmp/x`` is ``/private/tmp/x``. Raises CommandError."""
    return host.shell('cd "$1" && pwd -P', folder).stdout.rstrip("\n")


def in_table(path: str) -> str:
    """A path as Linux's table of mounts shows it."""
    return path.translate(_ESCAPES)


def from_table(text: str) -> str:
    """A field of Linux's table of mounts without octal escapes."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda match: chr(int(match[1], 8)), text)


def is_mounted(path: str) -> Command:
    """A command that prints ``mounted`` if something is mounted at exactly this path, else ``absent``."""
    return script(f"if {FIND} >/dev/null; then echo mounted; else echo absent; fi", in_table(path))


def is_mounted_on_mac(path: str) -> Command:
    """The same on a Mac. ``path`` must have no links, like the table."""
    table = 'table=$(mount) || exit; case $table in *" on $1 ("*) echo mounted ;; *) echo absent ;; esac'
    return script(table, path)
