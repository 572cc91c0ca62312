"""Wall clocks of hosts and controller, which share one kernel: each can be set by itself.

A library that every program loads (clock.c) adds the seconds that a file holds. Hosts name it in /etc/ld.so.preload;
the matrix loads it at its start and forks the controller."""

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
BUILT = "FAULTS_CLOCK"  # environment variable with the path of the loaded library


def is_possible() -> bool:
    return shutil.which("cc") is not None and Path("/usr/include/time.h").exists()


def load() -> None:
    """Start this program again with the library preloaded; programs that it starts do not inherit it."""
    if BUILT in os.environ:
        del os.environ["LD_PRELOAD"]
        return
    built = Path(tempfile.mkdtemp(prefix="file-share-lab-faults-")) / "clock.so"
    command = ["cc", "-shared", "-fPIC", "-O2", f'-DAHEAD="{AHEAD}"', "-o", str(built), str(SOURCE)]
    subprocess.run(command, check=True)
    os.execve(sys.executable, sys.orig_argv, os.environ | {"LD_PRELOAD": str(built), BUILT: str(built)})  # noqa: S606  this program itself


def unload() -> None:
    if built := os.environ.get(BUILT):
        shutil.rmtree(Path(built).parent)


def install(init: int) -> None:
    """Let the programs that a host starts from now on load the library."""
    root = Path(f"/proc/{init}/root")
    shutil.copy(os.environ[BUILT], f"{root}{ON_HOST}")
    (root / "etc/ld.so.preload").write_text(f"{ON_HOST}\n")


def set_ahead(lab: str, host: str, seconds: int) -> None:
    """Set a clock ahead of this machine's clock, or back if negative."""
    of_host = f"/proc/{Observer(lab).init(host)}/root{AHEAD}" if host != CONTROLLER else os.environ[OF_CONTROLLER]
    Path(of_host).write_text(f"{seconds}\n")


def lift(lab: str, *hosts: str) -> None:
    for host in hosts:
        Path(f"/proc/{Observer(lab).init(host)}/root{AHEAD}").unlink(missing_ok=True)
