"""A command that is spoken with while it runs, on this machine."""

import sys
import time
from pathlib import Path

import pytest

from lab.base.errors import DeadlineExceeded
from lab.hosts.ssh import SshHost

ECHO = 'echo ready; while read -r line; do echo "you said $line"; done; echo bye; exit 3'


def test_lines_go_both_ways(here: SshHost) -> None:
    with here.converse("sh", "-c", ECHO, deadline_s=20) as dialogue:
        assert dialogue.next_line() == "ready"
        for word in ("one", "two words", "ümlaut"):
            dialogue.ask(word)
            assert dialogue.next_line() == f"you said {word}"
        result = dialogue.finish()
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (3, "bye")
    assert dialogue.next_line() == "bye"
    assert dialogue.next_line() == ""


def test_a_command_that_says_nothing_is_ended_at_its_deadline(here: SshHost) -> None:
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded), here.converse("sleep", "60", deadline_s=0.1) as dialogue:
        dialogue.next_line()
    assert time.monotonic() - began < 15


def test_a_command_is_ended_with_its_context(here: SshHost) -> None:
    with here.converse("sh", "-c", "echo $$; exec sleep 60", deadline_s=60) as dialogue:
        pid = int(dialogue.next_line())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_answer_takes_no_longer_than_a_moment(here: SshHost) -> None:
    with here.converse(
        sys.executable, "-c", "for line in iter(input, 'end'): print(line, flush=True)", deadline_s=30
    ) as dialogue:
        dialogue.ask("x")
        dialogue.next_line()  # python has started
        took = []
        for _ in range(20):
            asked = time.monotonic()
            dialogue.ask("x")
            assert dialogue.next_line() == "x"
            took.append(time.monotonic() - asked)
        dialogue.ask("end")
        assert dialogue.finish().exit_code == 0
    assert min(took) < 0.05
