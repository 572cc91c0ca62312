"""Keeps the lab from starting or importing files of the current folder."""

import os
import sys

PYTHON = (sys.executable, "-P")
"""The words before ``-m MODULE`` or ``-c TEXT``: this Python, without modules of the current folder."""


def leave_out_current_folder() -> None:
    """Keep only absolute folders in PATH: an empty part, as after an extra colon, means the current folder."""
    folders = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    os.environ["PATH"] = os.pathsep.join(folders) or os.defpath  # the default of a shell may include the current folder
