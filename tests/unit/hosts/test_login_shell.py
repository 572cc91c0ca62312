"""Every login shell runs the command that was meant, whatever stands in its words."""

import shutil
import subprocess
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lab.hosts.ssh import script_line

SHELLS = ("sh", "bash", "zsh", "ksh", "mksh", "tcsh", "csh", "fish")
ANY_SHELL = pytest.mark.parametrize("shell", [name for name in SHELLS if shutil.which(name)])
SPECIAL = ["!", "!!", "a!b", "\n", "\\\n", "'", "\\'", '"', "\\", "\\\\", "\\041", "$HOME", "`id`", "~", "*", "{a,b}",
           "%s", "%", "#", "-n", "", "\r\n\t", "é\u2028漢\u202e", "x" * 5000]  # fmt: skip
WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20) | st.sampled_from(SPECIAL))
EACH_WORD = 'for word; do printf "%s|" "$word"; done'


def printed(shell: str, words: Sequence[str]) -> tuple[int, bytes, bytes]:
    """What a login shell makes of a line, as sshd gives it one: exit code, and what it printed."""
    done = subprocess.run([shell, "-c", script_line("", '"$@"', words)], capture_output=True)
    return done.returncode, done.stdout, done.stderr


@ANY_SHELL
@settings(max_examples=10, deadline=None)
@given(WORDS)
@example(SPECIAL)
def test_every_word_arrives_as_it_was(shell: str, words: Sequence[str]) -> None:
    expected = "".join(f"{word}|" for word in words).encode()
    assert printed(shell, ["/bin/sh", "-c", EACH_WORD, "sh", *words]) == (0, expected, b"")


@ANY_SHELL
def test_a_script_of_many_lines_runs_and_its_exit_code_comes_back(shell: str) -> None:
    script = "".join(f"! false # line {number}: it's\n" for number in range(500)) + "printf '%s' \"$1\"; exit 7"
    assert printed(shell, ["/bin/sh", "-c", script, "sh", "a\nb"]) == (7, b"a\nb", b"")


def test_a_plain_command_stays_readable_and_no_word_is_longer_than_an_old_csh_takes() -> None:
    line = script_line("umask 077; ", '"$@"', ["echo", "two words", "$HOME"])
    assert line == """/bin/sh -c 'umask 077; "$@"' sh echo 'two words' '$HOME'"""
    line = script_line("umask 077; ", '"$@"', ["echo", "x" * 9000, "!" * 3000])
    assert max(map(len, line.split("'"))) < 1000
    assert "\n" not in line
