"""The program in a process of its own: its streams, and the pages that it writes of the example."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import lab
from support.paths import ROOT
from support.synthetic_runs import trial, write_run


def test_python_m_lab_is_the_same_command() -> None:
    command = [sys.executable, "-m", "lab", "plan", "no.toml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("no.toml: no such file; the sweeps that come with the lab are ashift, blog-2011, ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("streams", "code", "message"),
    [
        (">/dev/full", 1, "standard output: No space left on device\n"),
        (">/dev/full 2>/dev/full", 1, ""),
        ("| head -n 1", 0, ""),  # the exit code of head
        (">&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
    ],
)
def test_output_that_nobody_gets(tmp_path: Path, streams: str, code: int, message: str) -> None:
    """A script that relies on the exit code must not be told that all is well, and nobody gets a traceback."""
    line = f'"$1" -m lab plan "$2" {streams}'
    command = ["sh", "-c", line, "sh", sys.executable, str(ROOT / "sweeps" / "blog-2011.toml")]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert (done.returncode, message in done.stderr) == (code, True)
    assert len(done.stderr.splitlines()) <= 1


def test_a_terminal_that_lacks_a_character_shows_another(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial()])
    command = [sys.executable, "-m", "lab", "show", "--full", str(folder.path)]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "MTU 1500" in done.stdout.decode("latin-1")


@pytest.mark.usefixtures("empty_place")
def test_the_page_of_published_tables_has_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab(capsys, "compare", "published", "example", "--to", tmp_path)[0] == 0
    page, post = ((tmp_path / name).read_text() for name in ("compare.html", "compare.md"))
    for text in (page, post):
        assert "network-3 (oceansidecoding" in text
        assert "B has 8 of the 146 published figures." in text
    drawn = (tmp_path / "figures" / "changes.svg").read_text()
    assert drawn.count('class="mark"') == 4
    assert "network-3, NFS cp write, TCP 512 KiB, against AFP: -56.4 % as published, -" in drawn
    assert (tmp_path / "figures" / "times-as-fast.svg").read_text().count('class="mark"') == 8
