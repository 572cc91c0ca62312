"""The part of Xcode's Command Line Tools that the lab needs: python3, from 10.15 on."""

import os

from .profiles import Profile

FOLDER = "/Library/Developer/CommandLineTools"
PYTHON3 = f"{FOLDER}/usr/bin/python3"
WINDOWS = "/linux/run/emulated_mac_windows"  # a line for each window that asked for the tools


def are_installed() -> bool:
    """Whether this Mac has the tools."""
    return os.path.isdir(FOLDER)  # noqa: PTH112 – every python3 and xcode-select asks: as little as can be is imported


def install(profile: Profile) -> None:
    """Install the tools as root."""
    os.makedirs(f"{FOLDER}/usr/bin", exist_ok=True)  # noqa: PTH103 – as above
    if profile.number >= (10, 15):
        os.symlink("/linux/opt/emulated_mac/python3", PYTHON3)  # noqa: PTH211 – as above
