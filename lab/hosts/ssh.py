"""A host over SSH, by paramiko: one connection, kept for the run; every command in a channel of its own."""

from __future__ import annotations

import re
import shlex
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import paramiko

from lab import interrupts, secrets
from lab.config import HostConfig
from lab.errors import BadInput, DeadlineExceeded, HostError, HostLost
from lab.hosts.base import Host, Result
from lab.hosts.connection import CONNECT_DEADLINE_S, connect

KILL_DEADLINE_S = 10.0
PID_DEADLINE_S = 10.0
LARGEST_OUTPUT = 16 * 1024**2
# The pid on standard error is there so that a command that takes too long can be ended. The login shell may be any
# shell, and may say things first; all else runs in /bin/sh with a locale whose messages can be parsed. It is not
# replaced by the command (exec): a command that a signal ends has an exit code (128 + signal) only in a shell.
PID_LINE = re.compile(r"file-share-lab:(\d+)\n")
WRAPPER = (
    'echo "file-share-lab:$$" >&2; PATH=$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin; '
    'LC_ALL=C; LANG=C; export PATH LC_ALL LANG; ulimit -c 0; "$@"; exit $?'
)
# paramiko's own calls say any of these where the connection ends while they run, even a close
LOST = (paramiko.SSHException, OSError, EOFError)
SUDO = {"none": [], "nopasswd": ["sudo", "-n", "--"], "password": ["sudo", "-S", "-p", "", "-k", "--"]}
SUDO_HINT = "give sudo = password in the hosts file, or a NOPASSWD line for this user (docs/two-macs.md)"


class SshHost(Host):
    """A host reached by paramiko. Connects at once; raises HostError with what to do where that fails."""

    def __init__(self, role: str, config: HostConfig):
        super().__init__(role)
        self.config = config
        self.sudo = config.sudo
        self._password = (
            secrets.resolve(
                config.sudo_password,
                f"{config.user or 'you'}@{config.host} (sudo)",
                f"{config.place}[{role}] sudo_password",
            )
            if config.sudo == "password"
            else None
        )
        self.client, self._proxy = connect(role, config)
        if config.sudo == "password" and self._needs_no_password():
            # sudo would leave the password on standard input, for the command to read
            self.sudo = "nopasswd"

    def _needs_no_password(self) -> bool:
        return self.run("sudo", "-k", "-n", "true", check=False).exit_code == 0

    def reconnect(self) -> None:
        """Connect anew; the way there and its key are checked as at first."""
        self.close()
        try:
            self.client, self._proxy = connect(self.role, self.config)
        except BadInput as error:  # a file that was well at first
            raise HostError(str(error)) from error

    def close(self) -> None:
        """Close the connection."""
        self.client.close()
        if self._proxy is not None:
            self._proxy.close()

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float) -> Result:
        started = time.monotonic()
        conversation: Conversation | None = None
        try:
            # a command that was sent and is not known of could neither be ended nor waited for
            with interrupts.held():
                conversation = self._begin(argv, root, given, deadline_s)
            finished = conversation.wait(started + deadline_s)
        except BaseException:
            if conversation is not None:
                self._end(conversation, root)
            raise
        if not finished:
            self._end(conversation, root)
            raise DeadlineExceeded(self.role, argv, deadline_s, conversation.stdout + conversation.errors)
        if conversation.exit_code is None:
            raise HostLost(f"{self.role}: the connection to {self.config.host} was lost during {argv[0]}")
        elapsed_s = time.monotonic() - started
        return Result(argv, conversation.exit_code, conversation.stdout, conversation.errors, elapsed_s)

    def _begin(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float) -> Conversation:
        """Send a command to the host. Raises HostLost where that is out of reach."""
        if root and self.sudo == "password" and self._password is not None:
            given = self._password.get_secret_value() + "\n" + given
        if root and SUDO[self.sudo]:
            argv = (*SUDO[self.sudo], "/usr/bin/env", "LC_ALL=C", *argv)
        line = shlex.join(["/bin/sh", "-c", WRAPPER, "sh", *argv])
        transport = self.client.get_transport()
        if transport is None or not transport.is_active():
            raise HostLost(f"{self.role}: the connection to {self.config.host} was lost")
        deadline = time.monotonic() + deadline_s
        try:
            channel = transport.open_session(timeout=min(deadline_s, CONNECT_DEADLINE_S))
            with _closing_at(channel, deadline):
                channel.exec_command(line)  # waits for its answer for ever
        except LOST as error:
            if time.monotonic() >= deadline and transport.is_active():
                raise DeadlineExceeded(self.role, argv, deadline_s, "") from error
            raise HostLost(f"{self.role}: the connection to {self.config.host} was lost: {error}") from error
        return Conversation(channel, given)

    def _end(self, conversation: Conversation, root: bool) -> None:
        """End a command that is still running, with its children: sshd gives each command a session of its own.

        Its leader is the login shell, which may have become the command or may be waiting for it.
        """
        pid = conversation.wait_for_pid(PID_DEADLINE_S)
        _close(conversation.channel)
        transport = self.client.get_transport()
        if pid is None or transport is None or not transport.is_active():
            return
        script = (
            'group=$(ps -o pgid= -p "$1" | tr -d " "); group=${group:-$1}; '
            'kill -s TERM -- "-$group" 2>/dev/null; sleep 0.2; kill -s KILL -- "-$group" 2>/dev/null; :'
        )
        try:
            self._execute(("/bin/sh", "-c", script, "sh", pid), root, "", KILL_DEADLINE_S)
        except HostError:
            return  # what brought us here is the error to report

    def _hint(self, result: Result) -> str:
        if "sudo:" in result.stderr and ("password" in result.stderr or "terminal" in result.stderr):
            return SUDO_HINT
        return ""


class Conversation:
    """Both streams of one running command."""

    def __init__(self, channel: paramiko.Channel, given: str):
        self.channel = channel
        self._chunks: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        work = (self._send, given.encode()), (self._receive, "stdout"), (self._receive, "stderr")
        self._threads = [threading.Thread(target=job, args=(what,), daemon=True) for job, what in work]
        for thread in self._threads:
            thread.start()

    def _send(self, given: bytes) -> None:
        try:
            self.channel.sendall(given)
            self.channel.shutdown_write()
        except LOST:
            return  # it did not want its input; its exit code tells

    def _receive(self, stream: str) -> None:
        receive: Any = self.channel.recv if stream == "stdout" else self.channel.recv_stderr
        chunks, total = self._chunks[stream], 0
        try:
            while data := receive(65536):
                total += len(data)
                if total <= LARGEST_OUTPUT:  # beyond it, it is read and forgotten
                    chunks.append(data)
        except LOST:
            return

    def wait(self, deadline: float) -> bool:
        """Wait for the end of the command and of its output; False where the deadline (monotonic) came first."""
        for thread in self._threads:
            while thread.is_alive():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                thread.join(min(left, 1.0))
        while not self.channel.status_event.wait(min(max(deadline - time.monotonic(), 0.0), 1.0)):
            if time.monotonic() >= deadline:
                return False
        return True

    @property
    def exit_code(self) -> int | None:
        """The exit code; None where the connection ended before the command."""
        return self.channel.exit_status if self.channel.exit_status >= 0 else None

    def _text(self, stream: str) -> str:
        return b"".join(self._chunks[stream]).decode("utf-8", errors="replace")

    @property
    def stdout(self) -> str:
        """What it printed so far."""
        return self._text("stdout")

    @property
    def pid(self) -> str | None:
        """Its process id on the host, once known."""
        found = PID_LINE.search(self._text("stderr"))
        return found[1] if found else None

    def wait_for_pid(self, seconds: float) -> str | None:
        """Its process id; None where it is still not known after ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.pid is None and self._threads[2].is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.pid

    @property
    def errors(self) -> str:
        """What it wrote to standard error so far, without our own line."""
        return PID_LINE.sub("", self._text("stderr"), count=1)


@contextmanager
def _closing_at(channel: paramiko.Channel, deadline: float) -> Iterator[None]:
    """Close a channel from outside at a deadline (monotonic): what waits for it inside then fails."""
    timer = threading.Timer(max(deadline - time.monotonic(), 0.0), _close, [channel])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _close(channel: paramiko.Channel) -> None:
    """Close a channel, and wake who waits for an answer on it; one whose connection ended first is closed already."""
    with suppress(*LOST):
        channel.close()
    channel.event.set()
