"""Build folders of Debian's packages once, and cache them."""

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput, LabFailure

BUILD_MINUTES = 30
LEFT_OUT = ("man", "doc", "locale", "info")


def build_once(target: Path, what: str, build: Callable[[Path], None]) -> Path:
    """Build the folder ``target`` if it is missing; ``build`` gets the path to build at, ``what`` is for people.

    A second caller waits for the first. Only a finished folder gets the name.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with os.fdopen(durable.open_own(target.with_name(target.name + ".lock"), os.O_WRONLY), "wb") as lock:
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


def install_debian(folder: Path, suite: str, packages: Sequence[str], *options: str) -> None:
    """Let mmdebstrap make a folder of these packages of a suite. Raises LabFailure if it fails."""
    if shutil.which("mmdebstrap") is None:
        raise BadInput("mmdebstrap is missing", "`apt-get install mmdebstrap`, or `make demo`, which does it")
    command = [
        "mmdebstrap",
        "--format=directory",
        '--aptopt=APT::Install-Recommends "false"',
        *_apt_options(),
        *(f"--dpkgopt=path-exclude=/usr/share/{left_out}/*" for left_out in LEFT_OUT),
        *options,
        f"--include={','.join(packages)}",
        suite,
        str(folder),
        *_mirror(),
    ]
    try:
        # the terminal shows the progress, because a minute of silence looks like a hang
        subprocess.run(  # noqa: S603 – mmdebstrap, with words of the local lab's own
            command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=BUILD_MINUTES * 60
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        problem = f"exit code {error.returncode}" if isinstance(error, subprocess.CalledProcessError) else "no end"
        raise LabFailure(
            f"building {folder} of Debian's {suite} failed: mmdebstrap: {problem}", "see its own message above"
        ) from error


def run_in_private_mounts(script: str, *words: str) -> None:
    """Run a shell script with private mounts. Raises LabFailure with its error output."""
    command = ["unshare", "--mount", "--", "sh", "-c", script, "sh", *words]
    done = subprocess.run(  # noqa: S603 – a script that is a constant
        command, capture_output=True, text=True, timeout=BUILD_MINUTES * 60, check=False
    )
    if done.returncode != 0:
        raise LabFailure(f"{shlex.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")


def _mirror() -> list[str]:
    """The Debian mirror of this machine's apt configuration; empty if it has none, and mmdebstrap uses its own."""
    listed = _read_output(
        "apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages"
    )
    rows = [line.split("|") for line in listed.splitlines()]
    return next(([row[2]] for row in rows if row[:2] == ["Debian", "Debian"]), [])


def _apt_options() -> Iterator[str]:
    """This machine's apt settings for the dates in release files."""
    for name in ("Acquire::Check-Valid-Until", "Acquire::Check-Date"):
        if value := _read_output("apt-config", "shell", "V", name).strip().removeprefix("V=").strip("'"):
            yield f'--aptopt={name} "{value}"'


def _read_output(*command: str) -> str:
    try:
        return subprocess.run(  # noqa: S603 – questions to apt that are constants
            command, capture_output=True, text=True, check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""  # no Debian, or no package lists: mmdebstrap has defaults
