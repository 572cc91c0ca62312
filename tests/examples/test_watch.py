"""The script, the crontab and the launchd agent that watch a share: what they print, and when they end with what."""

import os
import plistlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from support.paths import ROOT

from lab.cli.main import parser
from lab.report.conditions import parse_slower_than

HERE = ROOT / "tests" / "examples" / "watch"
SCRIPT = HERE / "watch-share.sh"
# a stand-in for `lab`: its output and its exit code come from its first argument and the environment
LAB = """#!/bin/sh
echo "$@" >>"$HOME/calls"
echo "$1 says something"
eval "exit \\$$1"
"""


def run_script(home: Path, measure: int, history: int, script: str = str(SCRIPT)) -> subprocess.CompletedProcess[str]:
    """Run the script; its `lab measure` and `lab history` end with these exit codes."""
    programs = home / ".local" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    (home / "share-speed").mkdir(exist_ok=True)
    for name, text in {"lab": LAB, "osascript": '#!/bin/sh\necho "$@" >>"$HOME/notified"\n'}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "measure": str(measure), "history": str(history)}
    return subprocess.run(["/bin/sh", "-c", script], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("measure", "history", "code", "printed"),
    [(0, 0, 0, ""), (0, 3, 3, "history says something\n"), (0, 2, 2, "history says something\n"),
     (1, 0, 1, "measure says something\n")],
)  # fmt: skip
def test_the_script_prints_only_problems(tmp_path: Path, measure: int, history: int, code: int, printed: str) -> None:
    ended = run_script(tmp_path, measure, history)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, printed, "")
    assert (tmp_path / "notified").exists() == (code == 3)


def test_the_script_calls_the_lab_as_it_can_be_called(tmp_path: Path) -> None:
    run_script(tmp_path, 0, 3)
    first, second = (shlex.split(line) for line in (tmp_path / "calls").read_text().splitlines())
    measured = parser().parse_args(first)
    assert (measured.target, measured.save) == ("/mnt/media", "nas")
    shown = parser().parse_args([*second[:3], " ".join(second[3:])])  # echo has taken its quotes away
    assert (shown.name, parse_slower_than(shown.fail_if)) == ("nas", 10)


def test_the_crontab_and_the_agent_of_launchd_run_the_script_every_night(tmp_path: Path) -> None:
    (line,) = (HERE / "crontab").read_text().splitlines()
    *times, of_cron = line.split(maxsplit=5)
    assert all(re.fullmatch(r"\*|[0-9]{1,2}", time) for time in times)
    assert "%" not in of_cron  # cron takes it for the end of the line
    agent = plistlib.loads((HERE / "share-speed.plist").read_bytes())
    assert agent["StartCalendarInterval"] == {"Hour": 3, "Minute": 17}
    *shell, of_launchd = agent["ProgramArguments"]
    assert shell == ["/bin/sh", "-c"]
    for name, command in {"cron": of_cron, "launchd": of_launchd}.items():
        (tmp_path / name / "share-speed").mkdir(parents=True)
        (tmp_path / name / "share-speed" / "watch-share.sh").symlink_to(SCRIPT)
        assert run_script(tmp_path / name, 0, 3, command).returncode == 3
    assert (tmp_path / "launchd" / "share-speed" / "watch.log").read_text() == "history says something\n"


def test_the_page_shows_all_three() -> None:
    page = (ROOT / "docs" / "how-to" / "watch-a-share.md").read_text(encoding="utf-8")
    for file in HERE.iterdir():
        assert f"tests/examples/watch/{file.name}" in page
