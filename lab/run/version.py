"""Which lab a run was measured by."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import lab


def code_version() -> str:
    """The version, with the commit where this is a git checkout, marked where it has uncommitted changes."""
    top = Path(__file__).parents[2]
    command = ["git", "-C", str(top), "describe", "--always", "--dirty", "--abbrev=12"]
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(top.parent)}  # one further up is not the lab's
    try:
        commit = subprocess.run(  # noqa: S603 – git, and the folder of this file
            command, capture_output=True, text=True, check=True, timeout=10, env=environment
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return lab.__version__
    return f"{lab.__version__}+{commit}"
