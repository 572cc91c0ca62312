"""Running commands as root: on this machine, and inside a host."""

from __future__ import annotations

import subprocess

from lab.errors import LabFailure

DEADLINE_S = 30.0


def run(*argv: str, given: str = "", descriptors: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command here; ``given`` is its standard input, ``descriptors`` are those of ours that it gets too."""
    return subprocess.run(
        argv, input=given, capture_output=True, text=True, timeout=DEADLINE_S, pass_fds=descriptors, check=False
    )


def inside(pid: int, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command inside the host whose PID 1 is ``pid`` here."""
    return run("nsenter", "--target", str(pid), "--all", "--", *argv, given=given)


def must(result: subprocess.CompletedProcess[str]) -> None:
    """Raise LabFailure with the command and what it said, where it failed."""
    if result.returncode != 0:
        raise LabFailure(f"local lab: {' '.join(result.args)}: exit code {result.returncode}: {result.stderr.strip()}")
