"""Running commands as root: on this machine, and inside a host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lab.base.errors import LabFailure

DEADLINE_S = 30.0
NO_MORE = "Kernel panic|KVM internal error"


def run(*argv: str, given: str = "", descriptors: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command here; ``given`` is its standard input, ``descriptors`` are those of ours that it gets too."""
    return subprocess.run(
        argv, input=given, capture_output=True, text=True, timeout=DEADLINE_S, pass_fds=descriptors, check=False
    )


def inside(pid: int, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command inside the host whose PID 1 is ``pid`` here."""
    return run(*enter(pid), *argv, given=given)


def enter(pid: int) -> tuple[str, ...]:
    """What stands before a command that is to run in a host's Linux; below an emulated Mac that is not its root."""
    below = ("/linux/usr/sbin/chroot", "/linux") if Path(f"/proc/{pid}/root/linux").is_dir() else ()
    return ("nsenter", "--target", str(pid), "--all", "--", *below)


def last_words(text: str) -> str:
    """The end of what something printed that did not start: the last lines, of a kernel those up to its panic.

    What comes after that, only its authors can read.
    """
    lines = text.splitlines()
    end = next((number for number, line in enumerate(lines, 1) if re.search(NO_MORE, line)), len(lines))
    return " / ".join(lines[:end][-4:]) or "no message"


def must(result: subprocess.CompletedProcess[str]) -> None:
    """Raise LabFailure with the command and what it said, where it failed."""
    if result.returncode != 0:
        raise LabFailure(f"local lab: {' '.join(result.args)}: exit code {result.returncode}: {result.stderr.strip()}")
