"""The package OpenZFS on OS X, which no emulated Mac has before it is installed."""

import os

PACKAGE = "OpenZFSonOsX"  # prefix of the packages' names
FOLDER = "/usr/local/zfs/bin"
VERSION = "2.2.3-1"
PROGRAMS = ("zpool", "zfs")


def install() -> None:
    """Install the programs of the package as root."""
    os.makedirs(FOLDER, exist_ok=True)  # noqa: PTH103 – a program starts often: as little as can be is imported
    for name in PROGRAMS:
        path = f"{FOLDER}/{name}"
        if not os.path.lexists(path):
            os.symlink("/linux/opt/emulated_mac/run_program", path)  # noqa: PTH211 – as above
