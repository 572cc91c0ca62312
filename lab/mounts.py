"""What is mounted on a Linux host: read from the table, for a mount whose server is dead may not be touched."""

from __future__ import annotations

from lab.commands import Command, script

_ESCAPES = str.maketrans({"\\": r"\134", " ": r"\040", "\t": r"\011", "\n": r"\012"})
FIND = 'grep -F " $1 " /proc/self/mounts'


def in_table(path: str) -> str:
    """A path as the table of mounts shows it."""
    return path.translate(_ESCAPES)


def is_mounted(path: str) -> Command:
    """A command that prints ``mounted`` or ``absent``: something is mounted at exactly this path."""
    return script(f"if {FIND} >/dev/null; then echo mounted; else echo absent; fi", in_table(path))
