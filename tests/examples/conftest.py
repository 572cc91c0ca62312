"""Some of the pages that these tests read are not in git: they are written first."""

import os
import subprocess
import sys

from support.paths import ROOT

# workers of pytest-xdist inherit it from the process that starts them, which has written the pages for all
WRITTEN_BY = "REFERENCE_WRITTEN_BY"


def pytest_configure() -> None:
    """Write the pages of the reference before collection: some files have a test for each page."""
    if os.environ.setdefault(WRITTEN_BY, str(os.getpid())) == str(os.getpid()):
        subprocess.run([sys.executable, ROOT / "docs/reference/generate.py"], check=True)
