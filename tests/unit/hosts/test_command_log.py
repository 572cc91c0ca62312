"""commands.log: short, and yet every command can be run again from it."""

import shutil
import subprocess
from pathlib import Path

import pytest
from support.fake_host import FakeHost

from lab.base.errors import CommandError
from lab.hosts import CommandLog

SCRIPT = "# a comment ends with its line\nprintf '%s|' \"$@\"\n\techo 'it\\'s' # \\n \x1b[31m \u202e é"
COMMANDS = (
    ("/bin/sh", "-c", SCRIPT, "sh", "a b", "it's", "100%", ""),
    ("cat", *(f"/proc/sys/net/ipv4/number_{number}" for number in range(8))),
    ("echo", "tab\tand\nline end", "é" * 130, "\\" * 130),
)


def log_of(folder: Path, times: int) -> list[str]:
    log = CommandLog(folder / "commands.log")
    for _ in range(times):
        for argv in COMMANDS:
            log.write("client", argv, True, "exit=0", 0.01)
    return (folder / "commands.log").read_text(encoding="utf-8").splitlines()


def test_what_is_long_is_written_once(tmp_path: Path) -> None:
    lines = log_of(tmp_path, times=100)
    commands = [line for line in lines if not line.startswith("w")]
    assert len(commands) == 300
    assert max(map(len, commands[6:])) < 160
    assert len(lines) - len(commands) == 5  # the script, three words, and the command that came again
    assert all(line.isprintable() for line in lines)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_shell_reads_the_log(tmp_path: Path) -> None:
    lines = log_of(tmp_path, times=3)
    words = "\n".join(line for line in lines if line.startswith("w"))
    shown = 'show() { printf "%s\\0" "$@"; }\n'
    sent = [line.partition(" # ")[2] for line in lines if not line.startswith("w")]
    for command, argv in zip(sent, COMMANDS * 3, strict=True):
        # a function in place of the command shows the words that the command would get; so does what is evaluated
        script = f'{words}\n{shown}function {argv[0]}() {{ show {argv[0]} "$@"; }}\n{command}'
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
        assert tuple(done.stdout.decode().split("\0")[:-1]) == argv


def test_what_a_command_printed_that_failed_follows_it(tmp_path: Path) -> None:
    host = FakeHost("client")
    host.log = CommandLog(tmp_path / "commands.log")
    host.on(("ip", "link"), "one\n" * 100 + "x" * 1000, stderr="no \x1b[31m device //ann:hunter2@nas", exit_code=1)
    with pytest.raises(CommandError) as raised:
        host.run("ip", "link")
    command, *printed = (tmp_path / "commands.log").read_text(encoding="utf-8").splitlines()
    assert command.endswith("exit=1 $ ip link")
    assert printed[-1] == "    | no \\x1b[31m device //ann:***@nas"
    assert len(printed) == 40
    assert all(line.startswith("    | ") and line.isprintable() and len(line) <= 506 for line in printed)
    assert raised.value.log == tmp_path / "commands.log"
    host.log = CommandLog(tmp_path / "expected.log")  # nothing is printed of a command whose failure was expected
    host.on(("test", "-e", "x"), "no", exit_code=1)
    host.run("test", "-e", "x", check=False)
    assert len((tmp_path / "expected.log").read_text(encoding="utf-8").splitlines()) == 1
