"""The first page of the tutorial, typed as it stands, with one block for eight."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.page_commands import commands
from support.paths import ROOT, TESTS

EXAMPLES = TESTS / "examples"
NAME_OF_LAB = re.compile(r"(?<=--name )first|(?<=hosts\.local\.)first")


@pytest.mark.usefixtures("root")
def test_the_tutorial_runs(tmp_path: Path) -> None:
    own = f"{os.environ['LABS_OF_THIS_TEST_RUN']}-tutorial"
    sweep = tmp_path / "tests/examples/sweeps/first.toml"
    sweep.parent.mkdir(parents=True)
    text = (EXAMPLES / "sweeps/first.toml").read_text(encoding="utf-8")
    sweep.write_text(re.sub("blocks = [0-9]+", "blocks = 1", text), encoding="utf-8")  # the same, sooner
    script = tmp_path / "local-lab.sh"
    script.write_text(NAME_OF_LAB.sub(own, (EXAMPLES / "shell/local-lab.sh").read_text(encoding="utf-8")))
    printed = []
    try:
        for words in commands(script):
            done = run_lab(tmp_path, *words)
            assert done.returncode == 0, (words, done.stdout, done.stderr)
            printed.append(done.stdout)
    finally:
        run_lab(tmp_path, "local", "down", "--name", own)
    assert any(text.startswith("Fastest") and "What matters" in text for text in printed)
    assert (next((tmp_path / "results").iterdir()) / "report/report.html").exists()


def run_lab(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "lab", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
