"""What is built once and cached: folders of Debian's packages, and what is made of them."""

from __future__ import annotations

import fcntl
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.base.errors import BadInput, LabFailure

BUILD_MINUTES = 30
LEFT_OUT = ("man", "doc", "locale", "info")


def once(target: Path, what: str, build: Callable[[Path], None]) -> Path:
    """``target``, a folder built first where it is missing: ``build`` gets the path to make it at, ``what`` names it.

    Two callers at once build one: the second waits. What was begun and not finished never bears its name.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with (target.parent / "rootfs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            shutil.rmtree(part, ignore_errors=True)
            print(f"Building {what} in {target}", file=sys.stderr, flush=True)
            try:
                build(part)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
            part.rename(target)
    return target


def debian(folder: Path, suite: str, packages: Sequence[str], *options: str) -> None:
    """Have mmdebstrap make a folder of these packages of a suite. Raises LabFailure where it fails."""
    if shutil.which("mmdebstrap") is None:
        raise BadInput("mmdebstrap is missing: `apt-get install mmdebstrap`, or `make demo`, which does it")
    command = [
        "mmdebstrap",
        "--format=directory",
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--aptopt={name} {value}" for name, value in _apt_settings().items()),
        *(f"--dpkgopt=path-exclude=/usr/share/{left_out}/*" for left_out in LEFT_OUT),
        *options,
        f"--include={','.join(packages)}",
        suite,
        str(folder),
        *_mirror(),
    ]
    try:
        # its progress goes to the terminal as it comes: a minute of silence looks like a hang
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=BUILD_MINUTES * 60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        problem = f"exit code {error.returncode}" if isinstance(error, subprocess.CalledProcessError) else "no end"
        raise LabFailure(
            f"building {folder} of Debian's {suite} failed: mmdebstrap: {problem}; its own message stands above"
        ) from error


def run_apart(script: str, *words: str) -> None:
    """Run a shell script, a step of a build, whose mounts nobody else sees. Raises LabFailure with what it said."""
    command = ["unshare", "--mount", "--", "sh", "-c", script, "sh", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_MINUTES * 60, check=False)
    if done.returncode != 0:
        raise LabFailure(f"{shlex.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")


def _mirror() -> list[str]:
    """The Debian mirror of this machine's own apt configuration; nothing where it has none (then mmdebstrap's own)."""
    listed = _output("apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages")
    rows = [line.split("|") for line in listed.splitlines()]
    return next(([row[2]] for row in rows if row[:2] == ["Debian", "Debian"]), [])


def _apt_settings() -> dict[str, str]:
    """How strictly this machine's own apt takes the dates in release files: the same holds for the build."""
    names = ("Acquire::Check-Valid-Until", "Acquire::Check-Date")
    found = {name: _output("apt-config", "shell", "V", name).strip() for name in names}
    return {name: '"' + value.removeprefix("V=").strip("'") + '"' for name, value in found.items() if value}


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""  # not a Debian machine, or its lists were never fetched: mmdebstrap's defaults serve
