"""The script around what needs a local lab, with a stand-in for `lab`: whatever ends it, the lab is taken down."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support.fleets import wait_until
from support.paths import ROOT

STAND_IN = """\
#!/bin/sh
echo "$@" >>said
case $2 in up) exit "$(cat up)" ;; esac
"""
UP, DOWN = "local up --name demo --delay 1ms", "local down --name demo"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lab = tmp_path / ".venv/bin/lab"
    lab.parent.mkdir(parents=True)
    lab.write_text(STAND_IN)
    lab.chmod(0o755)
    (tmp_path / "up").write_text("0")
    (tmp_path / "scripts").mkdir()
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(ROOT / "scripts/with_local_lab.sh", "scripts")).absolute()


def said() -> list[str]:
    return Path("said").read_text().splitlines()


@pytest.mark.parametrize("code", [0, 1])
def test_the_lab_is_taken_down_after_the_command_and_its_exit_code_is_kept(script: Path, code: int) -> None:
    done = subprocess.run([script, "demo", "1ms", "sh", "-c", 'echo between >>said; exit "$0"', str(code)], check=False)
    assert (done.returncode, said()) == (code, [UP, "between", DOWN])


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_the_lab_down_too(script: Path, number: signal.Signals) -> None:
    ignored = signal.signal(number, signal.SIG_DFL)  # as after nohup: a child would ignore it too
    try:
        process = subprocess.Popen(
            [script, "demo", "1ms", "sh", "-c", "echo between >>said; exec sleep 60"], start_new_session=True
        )
    finally:
        signal.signal(number, ignored)
    wait_until(lambda: Path("said").exists() and len(said()) == 2)
    os.killpg(process.pid, number)
    assert (process.wait(60), said()) == (128 + number, [UP, "between", DOWN])


@pytest.mark.parametrize(("code", "after"), [(1, [DOWN]), (2, [])])
def test_a_lab_that_is_up_already_stays_up_and_half_of_one_does_not(script: Path, code: int, after: list[str]) -> None:
    Path("up").write_text(str(code))
    done = subprocess.run([script, "demo", "1ms", "touch", "between"], check=False)
    assert (done.returncode, said(), Path("between").exists()) == (code, [UP, *after], False)
