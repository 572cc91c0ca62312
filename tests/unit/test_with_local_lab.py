"""The script around what needs a local lab, with a stand-in for `lab`: whatever ends it, the lab is taken down."""

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
trap 'sleep 0.3; echo put back >>said; exit 1' HUP INT TERM
echo "$@" >>said
case "$1 $2" in
"local up") exit "$(cat up)" ;;
"run "*) while :; do sleep 0.1; done ;;
esac
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
    for name in ("demo.sh", "with_local_lab.sh"):
        shutil.copy(ROOT / "scripts" / name, "scripts")
    return Path("scripts/with_local_lab.sh").absolute()


def said() -> list[str]:
    return Path("said").read_text().splitlines()


@pytest.mark.parametrize("code", [0, 1])
def test_the_lab_is_taken_down_after_the_command_and_its_exit_code_is_kept(script: Path, code: int) -> None:
    done = subprocess.run([script, "demo", "1ms", "sh", "-c", 'echo between >>said; exit "$0"', str(code)], check=False)
    assert (done.returncode, said()) == (code, [UP, "between", DOWN])


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_the_lab_down_once_the_run_has_put_things_back(script: Path, number: signal.Signals) -> None:
    ignored = signal.signal(number, signal.SIG_DFL)  # as after nohup: a child would ignore it too
    try:
        process = subprocess.Popen([script, "demo", "1ms", "scripts/demo.sh"], start_new_session=True)
    finally:
        signal.signal(number, ignored)
    wait_until(lambda: Path("said").exists() and said()[-1].startswith("run "))
    os.killpg(process.pid, number)
    assert process.wait(60) == 128 + number
    assert (said()[0], said()[-2:]) == (UP, ["put back", DOWN])


@pytest.mark.parametrize(("code", "after"), [(1, [DOWN]), (2, [])])
def test_a_lab_that_is_up_already_stays_up_and_half_of_one_does_not(script: Path, code: int, after: list[str]) -> None:
    Path("up").write_text(str(code))
    done = subprocess.run([script, "demo", "1ms", "touch", "between"], check=False)
    assert (done.returncode, said(), Path("between").exists()) == (code, [UP, *after], False)
