"""What the lab starts and imports is that of the system and the lab: never a file of the current folder."""

from __future__ import annotations

import os
import sys

PYTHON = (sys.executable, "-P")
"""The words before ``-m MODULE`` or ``-c TEXT``: this Python, which does not look for modules in the current folder."""


def leave_out_current_folder() -> None:
    """Leave absolute folders alone in PATH: an empty part, as after a colon too many, is the current folder."""
    folders = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    os.environ["PATH"] = os.pathsep.join(folders) or os.defpath  # what a shell has without one may have the folder, too
