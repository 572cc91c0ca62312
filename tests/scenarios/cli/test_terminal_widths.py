"""Output on a real terminal is complete at any width from 60 columns on; output to a file does not change."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.input_files import SWEEP
from support.paths import ROOT, RUN_CAPTURES, unpack_run
from support.terminal import on_screen

from lab.cli import terminal

SHOWN = ("show demo", "show faulty --full", "show demo --table settings", "show faulty --table lost")
OTHERS = ("compare demo demo-again", "plan demo.toml", "plan bad.toml", "show no-such-run-of-mine", "restore", "check")
COMMANDS = [command.split() for command in (*SHOWN, *OTHERS)]
SCRIPT = """
import sys
from lab.check import doctor
from lab.check.finding import Finding
from lab.cli import main
message = "NFS is served by a kernel that keeps 8 threads, and some more words that go on and on for a while"
remedy = "`lab host install server --hosts a-hosts-file.ini`, or give another sudo in the hosts file of these two hosts"
doctor.check = lambda *_: ([Finding("warning", "server sudo", message, remedy)], {})
for command in COMMANDS:
    print("=" * 20)
    sys.stdout.flush()
    main.main(command)
    sys.stdout.flush()
"""
LONGEST = 40  # characters of a word that must stay in one piece: longer words are paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("here")
    for name in ("demo", "demo-again", "faulty"):
        unpack_run(name, path / name)
    shutil.copy(RUN_CAPTURES / "demo" / "sweep.toml", path / "demo.toml")
    (path / "bad.toml").write_text(SWEEP.replace('"smb"', '"smb", "afp", "webdav-over-something"'))
    return path


@pytest.fixture(scope="module")
def screens(folder: Path) -> dict[int, list[str]]:
    """The output of all these commands on terminals, by width."""
    command = [sys.executable, "-c", f"COMMANDS = {COMMANDS!r}\n{SCRIPT}"]
    environment = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state"), "OPENBLAS_NUM_THREADS": "1"}
    return {width: on_screen(command, width, cwd=folder, environment=environment) for width in (60, 80, 100, 200)}


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_narrow_terminal_shows_all_that_a_wide_one_shows(screens: dict[int, list[str]], width: int) -> None:
    lines, wide = screens[width], screens[200]
    too_wide = [line for line in lines if len(line) > width]
    # only commands to copy are too wide: they stay in one piece, and the terminal wraps them itself
    assert not [line for line in too_wide if not line.strip().startswith("`") and " " in line.strip()]
    words = {word for line in lines for word in line.split()}
    answered = "\n".join(wide).index("=" * 20, 25)  # a wide terminal has room for more statements of the answer
    expected = {word for word in "\n".join(wide)[answered:].split() if len(word) <= LONGEST and set(word) != {"─"}}
    assert {word for word in expected - words if "…" not in word} == set()
    assert len(wide) > 100


def test_the_answer_has_ten_lines_of_a_hundred_columns(screens: dict[int, list[str]]) -> None:
    """It has more lines on a narrow terminal."""
    heights = {}
    for width, lines in screens.items():
        start = lines.index("=" * 20) + 1
        answer = lines[start : lines.index("=" * 20, start)]
        assert max(map(len, answer)) <= min(width, 100)
        assert {line[:13].strip() for line in answer if line[0] != " "} >= {"Fastest write", "Trust", "Next"}
        heights[width] = len(answer)
    assert heights[200] == heights[100] <= 10 < heights[60] <= 20


def test_a_file_gets_the_same_at_any_width(folder: Path) -> None:
    command = [sys.executable, "-m", "lab", "show", "demo", "--full"]
    environments = ({"PYTHONPATH": str(ROOT), "COLUMNS": width, "PATH": "/usr/bin:/bin"} for width in ("60", "200"))
    narrow, wide = (subprocess.check_output(command, cwd=folder, text=True, env=env) for env in environments)
    assert narrow == wide
    assert max(map(len, narrow.splitlines())) == terminal.WIDTH_OF_A_FILE


def test_further_lines_of_a_finding_are_indented(screens: dict[int, list[str]]) -> None:
    start = next(number for number, line in enumerate(screens[60]) if line.startswith("warning"))
    first, *others = screens[60][start : start + 4]
    assert first.startswith("warning  server sudo: NFS is served")
    assert all(line.startswith(" " * 9) for line in others)
