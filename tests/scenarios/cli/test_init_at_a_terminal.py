"""`lab init` at a terminal: a whole dialogue, its end, and what it refuses."""

import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from support.input_files import write_hosts
from support.paths import ROOT, TESTS
from support.terminal import Answers, Terminal, terminal

from lab.hosts.hosts_file import load_hosts

TEMPLATE = (ROOT / "hosts.ini").read_text(encoding="utf-8")
INIT = f"{sys.executable} -m support.surroundings init"
ENTER = re.compile(r"> \Z")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="setsid of util-linux gives the terminal to a shell")


def shell(folder: Path, answers: Answers) -> AbstractContextManager[Terminal]:
    """A shell at a terminal; the answers are typed at the questions that they belong to."""
    environment = {"HOME": str(folder), "PYTHONPATH": f"{ROOT}:{TESTS}", "OPENBLAS_NUM_THREADS": "1"}
    return terminal(["bash", "--norc", "--noprofile"], folder, environment, answers)


def test_enter_after_enter_writes_a_hosts_file_checks_it_and_says_the_next_command(tmp_path: Path) -> None:
    (tmp_path / "hosts.ini").write_text(TEMPLATE)
    with shell(tmp_path, {ENTER: ""}) as typed:
        code, screen = typed.type(INIT)
        assert code == 0, screen
        assert [int(number) for number in re.findall(r"(?m)^([0-9])\. ", screen)] == [1, 2, 3, 4, 5, 6]
    shown = [line.rstrip() for line in screen.splitlines()[1:]]
    assert shown == (ROOT / "tests/examples/lab-init.txt").read_text(encoding="utf-8").splitlines()
    hosts = load_hosts(tmp_path / "hosts.ini")
    assert (hosts.client.transport, hosts.server.host, hosts.share.name) == ("local", None, "media")


def test_answers_are_typed_and_the_file_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    answers = {"mounts the share": "mini", "has the share": "box", "log in": "joe", "Which share": "media /srv/media",
               "Which account": "ann keyring", "root commands": "2"}  # fmt: skip
    patterns = {re.compile(rf"{question}[^>]*> \Z"): answer for question, answer in answers.items()}
    with shell(tmp_path, patterns) as typed:
        code, screen = typed.type(f"{INIT} --hosts mine.ini")
        assert code == 0, screen
        assert "to do: `keyring set file-share-lab ann` puts the share's password into the keyring" in screen
        assert screen.endswith("next:\n  lab plan share\n  lab run share --hosts mine.ini\n")
    hosts = load_hosts(tmp_path / "mine.ini")
    assert (hosts.client.host, hosts.server.user, hosts.server.sudo) == ("mini", "joe", "nopasswd")
    assert not (tmp_path / "hosts.ini").exists()


@pytest.mark.parametrize(("key", "code"), [("\x03", 1), ("\x04", 2)], ids=["Ctrl-C", "Ctrl-D"])
def test_a_dialogue_that_is_stopped_has_written_nothing(tmp_path: Path, key: str, code: int) -> None:
    with shell(tmp_path, {re.compile(r"1\. [^>]*> \Z"): "", re.compile(r"2\. [^>]*> \Z"): key}) as typed:
        ended, screen = typed.type(INIT)
        assert ended in (code, 130), screen
        assert "Traceback" not in screen
    assert list(tmp_path.glob("*.ini")) == []


def test_a_file_that_somebody_filled_in_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    before = write_hosts(tmp_path).read_bytes()
    with shell(tmp_path, {}) as typed:
        code, screen = typed.type(INIT)
        assert code == 2
        assert "hosts.ini: is there already, and filled in" in screen
        assert "`lab init --hosts FILE` writes another" in " ".join(screen.split())
    assert (tmp_path / "hosts.ini").read_bytes() == before
