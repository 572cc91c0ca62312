"""OpenZFS on OS X: its package is installed by whoever wants it, and no emulated Mac comes with it."""

from __future__ import annotations

import os

PACKAGE = "OpenZFSonOsX"  # what the names of its packages begin with
FOLDER = "/usr/local/zfs/bin"
VERSION = "2.2.3-1"
PROGRAMS = ("zpool", "zfs")


def install() -> None:
    """Put its programs where its installer does, as root."""
    os.makedirs(FOLDER, exist_ok=True)  # noqa: PTH103 – a program starts often: as little as can be is imported
    for name in PROGRAMS:
        path = f"{FOLDER}/{name}"
        if not os.path.lexists(path):
            os.symlink("/linux/opt/emulated_mac/run_program", path)  # noqa: PTH211 – as above
