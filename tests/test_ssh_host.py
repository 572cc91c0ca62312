"""Commands over SSH, against a real sshd: what is sent arrives as it was, and everything ends in time."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paramiko
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memory_host import lab_signals
from sshd import Sshd, Wire, empty_home, running

from lab.errors import CommandError, DeadlineExceeded, HostError, Interrupted
from lab.hosts import CommandLog, SshHost
from lab.hosts import ssh as ssh_module

SECRET = "hunter2-do-not-show"


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    folder = tmp_path_factory.mktemp("sshd")
    with running(folder) as server, pytest.MonkeyPatch.context() as patch:
        empty_home(patch, folder)
        yield server


@pytest.fixture(scope="module")
def host(sshd: Sshd) -> Iterator[SshHost]:
    found = SshHost("client", sshd.config())
    yield found
    found.close()


@pytest.fixture(scope="module")
def noisy(sshd: Sshd) -> Iterator[SshHost]:
    found = SshHost("client", sshd.config("noisy"))
    yield found
    found.close()


@pytest.fixture
def connect(sshd: Sshd) -> Iterator[Callable[..., SshHost]]:
    """Makes connections of a test's own, which it may break."""
    made: list[SshHost] = []

    def make(key: str = "plain", **changes: Any) -> SshHost:
        made.append(SshHost("client", sshd.config(key, **changes)))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def wire(sshd: Sshd) -> Iterator[Wire]:
    found = Wire(sshd.port)
    # the address differs from the one on record, so the key is put on record for it too
    known = sshd.folder / "known_hosts"
    known.write_text(known.read_text() + f"[127.0.0.1]:{found.port} {(sshd.folder / 'host_key.pub').read_text()}")
    yield found
    found.close()


def gone(pid: str) -> bool:
    """Whether a process ends before long; a zombie that nobody has waited for yet has ended."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


# runs until it is ended, and ends with its connection where nothing can be sent to end it
ON_AND_ON = "while echo tick; do sleep 0.1; done"


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until something is so, at most half a minute."""
    for _ in range(1500):
        if what():
            return
        time.sleep(0.02)


def written(file: Path) -> bool:
    return file.is_file() and file.read_text().endswith("\n")


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


def test_much_can_be_given_and_printed(host: SshHost) -> None:
    text = "0123456789abcde\n" * (1 << 17)
    result = host.run("cat", given=text)
    assert len(result.stdout) == len(text) == 2 << 20
    assert result.stdout == text


def test_input_that_nobody_reads_and_input_that_is_missing_hang_nothing(host: SshHost) -> None:
    assert host.run("true", given="x" * (4 << 20), deadline_s=20).exit_code == 0
    assert host.run("cat", deadline_s=20).stdout == ""


def test_output_beyond_the_largest_is_dropped_and_the_rest_still_read(
    host: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_module, "LARGEST_OUTPUT", 1 << 20)
    result = host.shell("head -c 4000000 /dev/zero | tr '\\0' x; echo done >&2", deadline_s=30)
    assert 0 < len(result.stdout) <= 1 << 20
    assert result.stderr == "done\n"


def test_output_that_is_no_text_is_no_error(host: SshHost) -> None:
    result = host.shell(r"printf 'a\377\376b\0c'; printf '\377' >&2")
    assert result.stdout == "a\ufffd\ufffdb\0c"
    assert result.stderr == "\ufffd"


def test_both_streams_are_kept_apart(host: SshHost) -> None:
    result = host.shell("echo out; echo err >&2; echo 12345 >&2; exit 3", check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "err\n12345\n")


def test_messages_are_in_the_language_that_parsers_know(connect: Callable[..., SshHost]) -> None:
    assert connect().shell('echo "$LC_ALL $LANG"').stdout == "C C\n"


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("sh", "-c", "exit 1"), 1),
        (("sh", "-c", "exit 255"), 255),
        (("/no/such/program",), 127),
        (("/etc",), 126),
        (("sh", "-c", "kill -s KILL $$"), 137),  # by a signal: not a lost connection
        (("sh", "-c", "kill -s TERM $$"), 143),
    ],
)
def test_exit_codes(host: SshHost, argv: tuple[str, ...], code: int) -> None:
    assert host.run(*argv, check=False).exit_code == code
    with pytest.raises(CommandError, match=f"exit code {code}") as caught:
        host.run(*argv)
    assert (caught.value.host, caught.value.exit_code, caught.value.argv) == ("client", code, argv)


def test_an_error_shows_the_command_and_the_last_lines_but_not_what_was_given(host: SshHost) -> None:
    with pytest.raises(CommandError) as caught:
        host.shell('seq 1 20; echo "it broke" >&2; exit 4', given=SECRET)
    said = str(caught.value)
    assert said.startswith("client: /bin/sh -c ")
    assert "    20\n    it broke" in said
    assert "\n    1\n" not in said
    assert SECRET not in said + repr(caught.value)


# a child of a child, and one that does not listen to TERM
FAMILY = 'sh -c "trap : TERM; while :; do sleep 1; done" & echo $$ $! > "$1"; sleep 60; wait'


@pytest.mark.parametrize("shell", ["host", "noisy"])
def test_a_deadline_ends_the_command_and_its_children(
    shell: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    host: SshHost = request.getfixturevalue(shell)
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"did not end within 5 s and was ended") as caught:
        host.shell("echo so far; " + FAMILY, str(tmp_path / "pids"), deadline_s=5)
    assert time.monotonic() - started < 50
    assert "so far" in caught.value.output
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    assert host.run("echo", "still here").stdout == "still here\n"


def test_a_deadline_counts_for_output_that_never_ends(host: SshHost) -> None:
    with pytest.raises(DeadlineExceeded):
        host.run("yes", deadline_s=0.5)


def test_a_signal_to_the_lab_ends_the_remote_command(host: SshHost, tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    def interrupt() -> None:
        wait_for(lambda: written(pids))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with lab_signals():
        thread.start()
        with pytest.raises(Interrupted, match="SIGINT"):
            host.shell(FAMILY, str(pids), deadline_s=50)
        thread.join()
    assert all(gone(pid) for pid in pids.read_text().split())


def test_what_a_login_shell_says_is_not_taken_for_something_else(noisy: SshHost) -> None:
    result = noisy.shell("echo out; echo err >&2; exit 3", check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "welcome\nerr\n")


def test_the_log_has_a_line_a_command_and_never_what_was_given(connect: Callable[..., SshHost], tmp_path: Path) -> None:
    host = connect()
    host.log = CommandLog(tmp_path / "commands.log")
    host.run("echo", "two words", "line\nline\u2028line\x0bline")
    host.shell("cat >/dev/null; exit 7", given=SECRET, check=False)
    with pytest.raises(DeadlineExceeded):
        host.run("sleep", "60", deadline_s=0.3, given=SECRET)
    with pytest.raises(CommandError):
        host.run("false", root=True, given=SECRET)
    text = (tmp_path / "commands.log").read_text(encoding="utf-8")
    assert SECRET not in text
    lines = text.splitlines()
    assert len(lines) == 4
    assert lines[0].endswith("$ echo 'two words' 'line line line line'")
    assert [line.split()[3] for line in lines] == ["exit=0", "exit=7", "lost", "exit=1"]
    assert " # false" in lines[3]


def test_a_log_that_cannot_be_written_stops_no_command(connect: Callable[..., SshHost], tmp_path: Path) -> None:
    """Or a full disk on the controller would keep the hosts from being put back."""
    host = connect()
    host.log = CommandLog(tmp_path / "no such folder" / "commands.log")
    assert host.run("echo", "done").stdout == "done\n"


def test_a_connection_that_breaks_is_said_and_stays_broken(
    connect: Callable[..., SshHost], wire: Wire, tmp_path: Path
) -> None:
    host = connect(port=wire.port)
    began = tmp_path / "began"

    def cut() -> None:
        wait_for(lambda: written(began))
        wire.cut()

    thread = threading.Thread(target=cut)
    thread.start()
    with pytest.raises(HostError, match=r"client: the connection to 127\.0\.0\.1 was lost during /bin/sh") as caught:
        host.shell('echo > "$1"; ' + ON_AND_ON, str(began), deadline_s=50)
    thread.join()
    assert not isinstance(caught.value, CommandError)
    started = time.monotonic()
    with pytest.raises(HostError, match="was lost"):
        host.run("true")
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("when", ["before", "while opening", "during"])
def test_a_host_that_falls_silent_hangs_nothing(
    connect: Callable[..., SshHost], wire: Wire, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(ssh_module, "KILL_DEADLINE_S", 0.5)
    host = connect(port=wire.port)
    transport = host.client.get_transport()
    assert transport is not None
    if when == "before":
        wire.freeze()
    elif when == "during":
        threading.Timer(0.3, wire.freeze).start()
    else:
        real = transport.open_session

        def open_session(*args: Any, **kwargs: Any) -> Any:
            channel = real(*args, **kwargs)
            wire.freeze()
            return channel

        monkeypatch.setattr(transport, "open_session", open_session)
    started = time.monotonic()
    with pytest.raises(HostError):
        host.shell(ON_AND_ON, deadline_s=1)
    assert time.monotonic() - started < 50


@pytest.mark.parametrize("error", [EOFError(), OSError("Socket is closed"), paramiko.SSHException("no answer")])
def test_a_connection_that_ends_while_a_command_is_being_ended(
    connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Every call of paramiko may find out first, a close and the closer at a deadline among them."""
    host = connect()
    transport: Any = host.client.get_transport()
    begin_really, send_really = SshHost._begin, transport._send_user_message

    def refuse(message: Any) -> None:
        raise error

    def begin(self: SshHost, *rest: Any) -> Any:
        conversation = begin_really(self, *rest)
        monkeypatch.setattr(transport, "_send_user_message", refuse)
        return conversation

    monkeypatch.setattr(SshHost, "_begin", begin)
    with pytest.raises(DeadlineExceeded):
        host.shell(ON_AND_ON, deadline_s=1)
    monkeypatch.setattr(transport, "_send_user_message", send_really)


def test_an_answer_that_can_no_longer_come_is_not_waited_for(
    connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that ends just before paramiko begins to wait wakes nobody, and the channel is closed already."""

    def wait_in_vain(channel: Any, _: str) -> None:
        channel.closed = True
        channel._event_pending()
        channel._wait_for_event()

    host = connect()
    monkeypatch.setattr(paramiko.Channel, "exec_command", wait_in_vain)
    with pytest.raises(DeadlineExceeded):
        host.run("true", deadline_s=1)
