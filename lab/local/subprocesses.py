"""Run commands as root on this machine and inside a host."""

import re
import subprocess
from pathlib import Path

from lab.base.errors import LabFailure

DEADLINE_S = 30.0
FATAL = "Kernel panic|KVM internal error"


def run(*argv: str, stdin: str = "", descriptors: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command here; ``stdin`` is its input, and it inherits the ``descriptors``."""
    return subprocess.run(  # noqa: S603 – the one place where the local lab runs ip, mount and the like, without a shell
        argv, input=stdin, capture_output=True, text=True, timeout=DEADLINE_S, pass_fds=descriptors, check=False
    )


def run_inside(pid: int, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the Linux of the host whose PID 1 is ``pid`` here; an emulated Mac has it below /linux."""
    below = ("/linux/usr/sbin/chroot", "/linux") if Path(f"/proc/{pid}/root/linux").is_dir() else ()
    return run("nsenter", "--target", str(pid), "--all", "--", *below, *argv)


def last_lines(text: str) -> str:
    """The last lines of the output of something that did not start, or the lines before a kernel's panic."""
    lines = text.splitlines()
    end = next((number for number, line in enumerate(lines, 1) if re.search(FATAL, line)), len(lines))
    return " / ".join(lines[:end][-4:]) or "no message"


def check(result: subprocess.CompletedProcess[str]) -> None:
    """Raise LabFailure with the command and its error output if it failed."""
    if result.returncode != 0:
        raise LabFailure(f"local lab: {' '.join(result.args)}: exit code {result.returncode}: {result.stderr.strip()}")
