"""A command whose standard output is full ends with one line, and Python adds none when it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.input_files import SWEEP
from support.paths import ROOT


def test_a_full_standard_output_is_one_line_and_exit_1_for_whoever_ran_it(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SWEEP)
    words = [sys.executable, "-m", "lab", "plan", str(tmp_path / "a.toml")]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "standard output: No space left on device\n")
