"""Commands on this machine: what is sent arrives as it was, and what comes back. tests/scenarios/ssh: over SSH."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lab.base.errors import CommandError, DeadlineExceeded
from lab.hosts import CommandLog, connection
from lab.hosts.host import STOPPED
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost

SECRET = "hunter2-do-not-show"


@pytest.fixture(scope="module")
def host(any_config: HostConfig) -> Iterator[SshHost]:
    with closing(SshHost("client", any_config)) as connected:
        yield connected


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
EACH_WORD = 'for word; do printf "%s\\0" "$word"; done'


@settings(max_examples=12)
@given(st.lists(WORDS | st.sampled_from(["-n", "--", "-", "'", '"', "$HOME", "`id`", "\\", "\n", "*", "~", "!!", ""])))
@example(["", "a  b", "'\"'\"'", "$(touch x)", "-rf", "\\\n", "é\u2028漢", "\r\n\t", "a;b&c|d>e", "#"])
def test_words_arrive_as_they_were(host: SshHost, words: list[str]) -> None:
    direct = host.run("/bin/sh", "-c", EACH_WORD, "sh", *words).stdout
    by_shell = host.shell(EACH_WORD, *words).stdout
    assert direct == by_shell == "".join(word + "\0" for word in words)


@settings(max_examples=6)
@given(WORDS)
@example("-n")
@example("%s")
def test_printf_prints_any_word(host: SshHost, word: str) -> None:
    assert host.run("printf", "%s", word).stdout == word


def test_a_program_may_have_any_path(host: SshHost, tmp_path: Path) -> None:
    program = tmp_path / 'it\'s a "program" $HOME;\n'
    program.write_text('#!/bin/sh\necho ran "$1"\n')
    program.chmod(0o755)
    assert host.run(str(program), "-x y").stdout == "ran -x y\n"


@settings(max_examples=6)
@given(st.text(st.characters(codec="utf-8")))
def test_what_is_given_arrives_on_standard_input(host: SshHost, text: str) -> None:
    assert host.run("cat", given=text).stdout == text


def test_much_can_be_given_and_printed_and_input_that_nobody_reads_hangs_nothing(host: SshHost) -> None:
    text = "0123456789abcde\n" * (1 << 17)
    result = host.run("cat", given=text)
    assert len(result.stdout) == len(text) == 2 << 20
    assert result.stdout == text
    more_than_fits = 1 << 18 if host.config.transport == "local" else 4 << 20  # into a pipe, or what an SSH takes ahead
    assert host.run("true", given="x" * more_than_fits, deadline_s=20).exit_code == 0
    assert host.run("cat", deadline_s=20).stdout == ""


def test_a_command_is_ended_once_it_has_printed_the_mark(host: SshHost) -> None:
    """Also where a part of it ignores that, and holds its output open."""
    sleep = f"sleep 61.{os.getpid()}"
    script = f"trap '' TERM; sleep 0.5; echo before; echo gone now; ({sleep}); {sleep}"
    result = host.run("/bin/sh", "-c", script, deadline_s=50, stop_mark="gone now\n", check=False)
    assert (result.exit_code, result.stdout) == (STOPPED, "before\ngone now\n")
    assert result.elapsed_s < 20
    assert host.run("pgrep", "-f", f"^{sleep}$", check=False).stdout == ""
    assert host.run("echo", "other", stop_mark="gone\n").exit_code == 0


def test_output_beyond_the_largest_is_dropped_and_the_rest_read(host: SshHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST_OUTPUT", 1 << 20)
    result = host.shell("head -c 4000000 /dev/zero | tr '\\0' x; echo done >&2", deadline_s=30)
    assert 0 < len(result.stdout) <= 1 << 20
    assert result.stderr == "done\n"


def test_streams_are_kept_apart_in_the_language_that_parsers_know_and_need_be_no_text(host: SshHost) -> None:
    result = host.shell(r"printf 'a\377\376b\0c'; printf '\377' >&2")
    assert (result.stdout, result.stderr) == ("a\ufffd\ufffdb\0c", "\ufffd")
    result = host.shell("echo out; echo err >&2; echo 12345 >&2; exit 3", check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "err\n12345\n")
    assert host.shell('echo "$LC_ALL $LANG"').stdout == "C C\n"


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("sh", "-c", "exit 1"), 1), (("sh", "-c", "exit 255"), 255), (("/no/such/program",), 127), (("/etc",), 126),
        (("sh", "-c", "kill -s KILL $$"), 137), (("sh", "-c", "kill -s TERM $$"), 143),  # not a lost connection
    ],
)  # fmt: skip
def test_exit_codes(host: SshHost, argv: tuple[str, ...], code: int) -> None:
    assert host.run(*argv, check=False).exit_code == code
    with pytest.raises(CommandError, match=f"exit code {code}") as caught:
        host.run(*argv)
    assert (caught.value.host, caught.value.exit_code, caught.value.argv) == ("client", code, argv)


def test_an_error_shows_the_command_and_the_last_lines_but_not_what_was_given(host: SshHost) -> None:
    with pytest.raises(CommandError) as caught:
        host.shell('seq 1 20; echo "it broke" >&2; exit 4', given=SECRET)
    message = str(caught.value)
    assert message.startswith("client: /bin/sh -c ")
    assert "    20\n    it broke" in message
    assert "\n    1\n" not in message
    assert SECRET not in message + repr(caught.value)


def test_the_log_has_a_line_a_command_but_not_its_input(connect_any: Callable[[], SshHost], tmp_path: Path) -> None:
    host = connect_any()
    host.log = CommandLog(tmp_path / "commands.log")
    host.run("echo", "two words", "line\nline\u2028line\x0bline")
    host.shell("cat >/dev/null; exit 7", given=SECRET, check=False)
    with pytest.raises(DeadlineExceeded):
        host.run("sleep", "60", deadline_s=0.1, given=SECRET)
    with pytest.raises(CommandError):
        host.run("false", root=True, given=SECRET)
    text = (tmp_path / "commands.log").read_text(encoding="utf-8")
    assert SECRET not in text
    word, *lines = text.splitlines()
    assert len(lines) == 4
    assert word.endswith(r"=$'line\nline\u2028line\x0bline'")
    assert lines[0].endswith(f"$ echo 'two words' \"${word.partition('=')[0]}\"")
    assert [line.split()[3] for line in lines] == ["exit=0", "exit=7", "lost", "exit=1"]
    assert " # false" in lines[3]
    # or a full disk on the controller would keep the hosts from being put back
    host.log = CommandLog(tmp_path / "no such folder" / "commands.log")
    assert host.run("echo", "done").stdout == "done\n"
