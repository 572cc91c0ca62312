"""Runs scripts of hosts on this machine."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def run_script(argv: Sequence[str], folder: Path, given: str = "") -> tuple[int, str, str]:
    """Run a script in a folder, under the locale of hosts; its exit code, output and errors."""
    environment = os.environ | {"LC_ALL": "C"}
    ended = subprocess.run(argv, input=given, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr
