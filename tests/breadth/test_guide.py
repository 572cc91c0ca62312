"""The tutorial and the guide for two machines, followed word by word: each command is typed as it is printed."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.guide import CONTROLLER, FIRST_STEP, OLD_PAGE, PAGE, Reader, commands, pieces, shorter
from support.inside_host import LIBRARIES, PYTHON, bring_python
from support.local_lab import HOSTS, Bench
from support.macs import state
from support.paths import ROOT, TESTS

from lab.local import lifecycle

MAC, OLD = "macos@15.5", "macos@10.9"


def follow(reader: Reader, text: str) -> None:
    for piece in pieces(text):
        for place in piece.places:
            reader.type(piece.text, place)


def test_the_guide_can_be_followed_word_by_word(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = new_bench("--platform", MAC)
    before = state(bench, (MAC, MAC))
    reader = Reader(bench, tmp_path, {host: host for host in HOSTS})
    with reader.sits_down():
        follow(reader, FIRST_STEP + PAGE.read_text(encoding="utf-8").partition(FIRST_STEP)[2])
    after = state(bench, (MAC, MAC))
    assert {host: sorted(set(before[host]) ^ set(after[host])) for host in HOSTS} == {host: [] for host in HOSTS}


ANSWERS = {
    "mounts the share": "1", "has the share": "server.local", "can log in": "you", "Which share": "serve = lab",
    "Which account": "", "root commands": "",
}  # fmt: skip
TO_CLIENT = f"""
cat > /Users/you/two-macs.toml && echo 10.99.0.2 server.local >> /etc/hosts && cat > /usr/bin/lab <<'END'
#!/bin/sh
LD_LIBRARY_PATH={LIBRARIES} exec {PYTHON} -m lab "$@"
END
chmod 755 /usr/bin/lab
"""


def test_two_macs_are_measured_by_ten_lines(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = new_bench("--platform", MAC)
    bring_python(bench, "client")
    inside = lifecycle.inside_command(bench.name, "client", ("/bin/sh", "-c", TO_CLIENT))
    subprocess.run(inside, input=shorter("two-macs"), text=True, check=True)
    before = state(bench, (MAC, MAC))
    questions = {re.compile(rf"{question}[^>]*> \Z"): answer for question, answer in ANSWERS.items()}
    reader = Reader(bench, tmp_path, {host: host for host in HOSTS}, questions)
    with reader.sits_down():
        follow(reader, PAGE.read_text(encoding="utf-8").partition(FIRST_STEP)[0])
    assert state(bench, (MAC, MAC)) == before


def test_the_guide_leads_to_an_old_mac(new_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = new_bench("--platform", "client=linux", "--platform", f"server={OLD}")
    reader = Reader(bench, tmp_path, {"old": "server"})
    with reader.sits_down():
        for piece in pieces(OLD_PAGE.read_text(encoding="utf-8")):
            begin, _, end = piece.text.partition(" … ")
            if end:  # what ssh says until the lines of the page are in its file
                code, screen = reader.terminals[CONTROLLER].type("ssh you@old.local")
                assert (code, begin in screen, end in screen) == (255, True, True), screen
            elif piece.text.startswith("Host "):
                with (reader.home / ".ssh/config").open("a") as config:
                    config.write(piece.text)
            else:
                for place in piece.places:
                    reader.type(piece.text, place)
        reader.type("ssh -o BatchMode=yes you@old.local true", CONTROLLER)  # by the key that is there now


EXAMPLES = TESTS / "examples"
NAME_OF_LAB = re.compile(r"(?<=--name )first|(?<=hosts\.local\.)first")


@pytest.mark.usefixtures("root")
def test_the_tutorial_runs(tmp_path: Path) -> None:
    own = f"{os.environ['LABS_OF_THIS_TEST_RUN']}-tutorial"
    sweep = tmp_path / "tests/examples/sweeps/first.toml"
    sweep.parent.mkdir(parents=True)
    text = (EXAMPLES / "sweeps/first.toml").read_text(encoding="utf-8")
    sweep.write_text(re.sub("blocks = [0-9]+", "blocks = 1", text), encoding="utf-8")  # one block takes less time
    script = tmp_path / "local-lab.sh"
    script.write_text(NAME_OF_LAB.sub(own, (EXAMPLES / "shell/local-lab.sh").read_text(encoding="utf-8")))
    printed = []

    def run_lab(*words: str) -> subprocess.CompletedProcess[str]:
        options: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}, "timeout": 600}
        return subprocess.run([sys.executable, "-m", "lab", *words], capture_output=True, text=True, **options)

    try:
        for words in commands(script):
            done = run_lab(*words)
            assert done.returncode == 0, (words, done.stdout, done.stderr)
            printed.append(done.stdout)
    finally:
        run_lab("local", "down", "--name", own)
    assert any(text.startswith("Fastest") and "What matters" in text for text in printed)
    assert (next((tmp_path / "results").iterdir()) / "report/report.html").exists()
