"""What the docs do with a run from elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.paths import ROOT

from lab.base import shipped

SCRIPT = Path(__file__).with_name("notebooks") / "from_elsewhere.py"


def test_a_zip_file_of_a_run_is_opened(tmp_path: Path) -> None:
    shutil.copy(shipped.examples()["example"], tmp_path / "share-run.zip")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("-21.7")  # `lab show example` has it as -22 %
