"""What commands print on a real terminal is whole at any width from 60 columns on; to a file it does not change."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.input_files import SWEEP
from support.paths import ROOT, RUN_CAPTURES
from support.screen import on_screen

from lab.cli import terminal

COMMANDS = (
    ("show", "demo"),
    ("show", "faulty", "--full"),
    ("show", "demo", "--table", "settings"),
    ("show", "faulty", "--table", "lost"),
    ("compare", "demo", "demo-again"),
    ("plan", "demo.toml"),
    ("plan", "bad.toml"),
    ("show", "no-such-run-of-mine"),
    ("restore",),
    ("check",),
)
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
LONGEST = 40  # characters of a word that has to be in one piece: longer ones are paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kept runs, and files."""
    path = tmp_path_factory.mktemp("here")
    for name in ("demo", "demo-again", "faulty"):
        (path / name).mkdir()
        for packed in (RUN_CAPTURES / name / "run").iterdir():
            (path / name / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    shutil.copy(RUN_CAPTURES / "demo" / "sweep.toml", path / "demo.toml")
    (path / "bad.toml").write_text(SWEEP.replace('"smb"', '"smb", "afp", "webdav-over-something"'))
    return path


@pytest.fixture(scope="module")
def screens(folder: Path) -> dict[int, list[str]]:
    """What all these commands leave on terminals, by their width."""
    command = [sys.executable, "-c", f"COMMANDS = {COMMANDS!r}\n{SCRIPT}"]
    environment = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state"), "OPENBLAS_NUM_THREADS": "1"}
    return {width: on_screen(command, width, cwd=folder, environment=environment) for width in (60, 80, 100, 200)}


@pytest.mark.parametrize("width", [60, 80, 100])
def test_what_a_wide_terminal_shows_is_on_a_narrow_one_too(screens: dict[int, list[str]], width: int) -> None:
    lines, wide = screens[width], screens[200]
    too_wide = [line for line in lines if len(line) > width]
    # only what is to be copied, in one piece: the terminal wraps that itself
    assert not [line for line in too_wide if not line.strip().startswith("`") and " " in line.strip()]
    words = {word for line in lines for word in line.split()}
    answered = "\n".join(wide).index("=" * 20, 25)  # the answer has as many statements as there is room for
    expected = {word for word in "\n".join(wide)[answered:].split() if len(word) <= LONGEST and set(word) != {"─"}}
    lost = {word for word in expected - words if "…" not in word}
    assert not lost, lost
    assert len(wide) > 100


def test_the_answer_has_ten_lines_of_a_hundred_columns_and_more_on_a_narrow_terminal(
    screens: dict[int, list[str]],
) -> None:
    heights = {}
    for width, lines in screens.items():
        start = lines.index("=" * 20) + 1
        answer = lines[start : lines.index("=" * 20, start)]
        assert max(map(len, answer)) <= min(width, 100)
        assert {line[:13].strip() for line in answer if line[0] != " "} >= {"Fastest write", "Trust", "Next"}
        heights[width] = len(answer)
    assert heights[200] == heights[100] <= 10 < heights[60] <= 20


def test_a_file_gets_what_it_always_got(folder: Path) -> None:
    plain = {
        columns: subprocess.run(
            [sys.executable, "-m", "lab", "show", "demo", "--full"], cwd=folder, capture_output=True, text=True,
            check=True, env={"PYTHONPATH": str(ROOT), "COLUMNS": columns, "PATH": "/usr/bin:/bin"},
        ).stdout
        for columns in ("60", "200")
    }  # fmt: skip
    assert plain["60"] == plain["200"]
    assert max(map(len, plain["60"].splitlines())) == terminal.WIDTH_OF_A_FILE


def test_a_finding_goes_on_below_its_text(screens: dict[int, list[str]]) -> None:
    lines = screens[60]
    start = next(number for number, line in enumerate(lines) if line.startswith("warning"))
    assert lines[start].startswith("warning  server sudo: NFS is served")
    assert all(line.startswith(" " * 9) for line in lines[start + 1 : start + 4])
