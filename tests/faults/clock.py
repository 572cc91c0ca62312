"""Wall clocks of the hosts of a local lab and of its controller, which share one kernel: each can be set by itself.

A library that every program loads (clock.c) adds the seconds in a file. On a host it stands in /etc/ld.so.preload; the
controller is forked from the matrix, which loads it from its start.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .observe import Observer

SOURCE = Path(__file__).with_name("clock.c")
ON_HOST, AHEAD = "/opt/clock.so", "/opt/clock-ahead"
CONTROLLER, OF_CONTROLLER = "controller", "CLOCK_AHEAD"
BUILT = "FAULTS_CLOCK"  # in the environment of a matrix that has loaded it: where it is


def is_possible() -> bool:
    """Whether there is a compiler for it."""
    return shutil.which("cc") is not None and Path("/usr/include/time.h").exists()


def load() -> None:
    """Begin this program anew with the library loaded, which no program that it starts inherits."""
    if BUILT in os.environ:
        del os.environ["LD_PRELOAD"]
        return
    built = Path(tempfile.mkdtemp(prefix="file-share-lab-faults-")) / "clock.so"
    command = ["cc", "-shared", "-fPIC", "-O2", f'-DAHEAD="{AHEAD}"', "-o", str(built), str(SOURCE)]
    subprocess.run(command, check=True)
    os.execve(sys.executable, sys.orig_argv, os.environ | {"LD_PRELOAD": str(built), BUILT: str(built)})  # noqa: S606  this program itself


def unload() -> None:
    """Remove what was built."""
    if built := os.environ.get(BUILT):
        shutil.rmtree(Path(built).parent)


def install(init: int) -> None:
    """Make the programs that a host starts from now on load it."""
    root = Path(f"/proc/{init}/root")
    shutil.copy(os.environ[BUILT], f"{root}{ON_HOST}")
    (root / "etc/ld.so.preload").write_text(f"{ON_HOST}\n")


def set_ahead(lab: str, host: str, seconds: int) -> None:
    """Set a clock: so far ahead of this machine's, or behind it."""
    of_host = f"/proc/{Observer(lab).init(host)}/root{AHEAD}" if host != CONTROLLER else os.environ[OF_CONTROLLER]
    Path(of_host).write_text(f"{seconds}\n")


def lift(lab: str, *hosts: str) -> None:
    """Set the clocks of hosts right."""
    for host in hosts:
        Path(f"/proc/{Observer(lab).init(host)}/root{AHEAD}").unlink(missing_ok=True)
