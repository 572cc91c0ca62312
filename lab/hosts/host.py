"""A host as everything above sees it: run a command, get what it printed, or exchange lines with it."""

from __future__ import annotations

import hashlib
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.base import durable
from lab.base.errors import CommandError, DeadlineExceeded, HostError
from lab.base.os_errors import reason_of
from lab.base.secret_texts import without_secrets
from lab.base.untrusted import printable
from lab.hosts.connection import Conversation
from lab.hosts.role import Role, role_of

DEADLINE_S = 30.0
STOPPED = -1  # exit code of a command that was ended because of its output
LONGEST_WORD = 120  # characters; a longer word gets a line of its own in the log
LONGEST_COMMAND = 100  # characters; a longer command that is repeated is written once
MOST_PRINTED, LONGEST_PRINTED = 40, 500  # last lines of a failed command's output, and characters of each


@dataclass(frozen=True)
class Result:
    """A command that has ended: its output and exit code, and how long it took as seen from here."""

    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    elapsed_s: float

    @property
    def output(self) -> str:
        return "\n".join(part for part in (self.stdout.strip(), self.stderr.strip()) if part)


class CommandLog:
    """``commands.log``: a line for every command sent to a host, with its duration, never with its standard input.

    A long word or one of several lines, such as a script, is written once as ``w3f2a91bc=$'…'`` before the first
    command that has it. Commands name it ``"$w3f2a91bc"``. A long command that is repeated becomes ``eval "$w…"``.
    A shell can read all of it, except for the output of failed commands, after ``|``.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self._named: set[str] = set()
        self._written_out: set[str] = set()

    def write(self, host: str, argv: tuple[str, ...], root: bool, ending: str, elapsed_s: float) -> None:
        if self.path is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        long = {word: _name_of(word) for word in argv if len(word) > LONGEST_WORD or not word.isprintable()}
        command = " ".join(f'"${long[word]}"' if word in long else shlex.quote(word) for word in argv)
        name = _name_of(command)
        if name in self._written_out:
            long[command], command = name, f'eval "${name}"'
        elif len(command) > LONGEST_COMMAND:
            self._written_out.add(name)
        new = {name: text for text, name in long.items() if name not in self._named}
        lines = [f"{name}={_ansi_quote(text)}" for name, text in new.items()]
        lines.append(f"{now} {host} {elapsed_s:.3f}s {ending} {'#' if root else '$'} {command}")
        with suppress(OSError):  # a full disk here must not stop a restore
            durable.append_line(self.path, "\n".join(lines))
            self._named.update(new)

    def write_output(self, output: str) -> Path | None:
        """Append the output of a failed command; returns the path of the log, if there is one."""
        printed = without_secrets(output).splitlines()[-MOST_PRINTED:]
        lines = [f"    | {printable(line[:LONGEST_PRINTED])}" for line in printed]
        if self.path is not None and lines:
            with suppress(OSError):
                durable.append_line(self.path, "\n".join(lines))
        return self.path


def _name_of(word: str) -> str:
    return f"w{hashlib.sha256(word.encode(errors='surrogatepass')).hexdigest()[:8]}"


def _ansi_quote(word: str) -> str:
    """A word on one line, as bash, zsh and ksh read it, without anything that a terminal acts on."""
    quoted = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"$'{printable(quoted)}'"


class Host(ABC):
    """A machine on which the controller runs commands; its ``name`` is the section in the hosts file.

    If it ``is_narrow``, only commands known to its helper run as root (:mod:`lab.root_helper`). If it
    ``needs_no_sudo``, every command has the rights of the login account; it ``lacks_root`` if that is not root. It
    ``is_here`` if it is the machine that the lab runs on.
    """

    is_narrow: bool = False
    needs_no_sudo: bool = False
    lacks_root: bool = False
    is_here: bool = False

    def __init__(self, name: str):
        self.name = str(name)
        self.log = CommandLog()
        self.explain: Callable[[str], str] = lambda _: ""  # set by the platform, which knows its system's messages

    @property
    def role(self) -> Role:
        return role_of(self.name)

    def run(
        self, *argv: str, root: bool = False, given: str = "", deadline_s: float = DEADLINE_S, check: bool = True,
        stop_mark: str = "",
    ) -> Result:  # fmt: skip
        """Run one command under ``LC_ALL=C``, without a shell, and wait for its end.

        ``given`` is its standard input and appears in no log or message. Raises CommandError for an exit code other
        than zero if ``check``, DeadlineExceeded after ``deadline_s`` seconds (the command is ended then), HostLost if
        the connection broke. A command whose standard output contains ``stop_mark`` (if any) is ended within a second
        or two, with the exit code STOPPED.
        """
        started, ending = time.monotonic(), "lost"
        try:
            try:
                result = self._execute(argv, root, given, deadline_s, stop_mark)
                ending = f"exit={result.exit_code}"
            finally:
                self.log.write(self.name, argv, root, ending, time.monotonic() - started)
            if check and result.exit_code != 0:
                remedy = self._hint(result) or self.explain(result.output)
                raise CommandError(self.name, argv, result.exit_code, result.output, remedy)
        except CommandError as error:
            error.log = self.log.write_output(error.output)
            raise
        return result

    def as_root(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The command line by which the login account runs a command as root."""
        return argv

    def converse(self, *argv: str, deadline_s: float) -> AbstractContextManager[Dialogue]:
        """Run one command and exchange lines with it; it ends with the context. Raises HostError."""
        raise NotImplementedError(f"{type(self).__name__} takes no command that is spoken with")

    def shell(
        self, script: str, *args: str, root: bool = False, given: str = "", deadline_s: float = DEADLINE_S,
        check: bool = True,
    ) -> Result:  # fmt: skip
        """Run a script in ``/bin/sh``; ``args`` are its ``$1``, ``$2``, … (data goes there, never into the script)."""
        argv = ("/bin/sh", "-c", script, "sh", *args)
        return self.run(*argv, root=root, given=given, deadline_s=deadline_s, check=check)

    @abstractmethod
    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        """Run it, whatever its exit code."""

    def _hint(self, result: Result) -> str:
        return ""

    @abstractmethod
    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """Make a new connection, call ``take_over``, then close the old one. Raises HostError."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


class Nobody(Host):
    """A server that nobody logs in to: it has an address, and every command is an error that says why."""

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        message = f"nobody logs in there: [{self.name}] of the hosts file has no host"
        raise HostError(message, "give it one, where there is a login", host=self.name)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        self._execute((), False, "", 0)

    def close(self) -> None:
        pass


@dataclass
class Dialogue:
    """A running command. ``lost`` makes the error about a broken connection; ``began`` is on the monotonic clock."""

    name: str
    argv: tuple[str, ...]
    conversation: Conversation
    began: float
    deadline_s: float
    lost: Callable[[str], HostError]
    exit_code: int | None = None  # after it has ended by itself
    _heard: int = 0  # lines returned so far

    @property
    def deadline(self) -> float:
        return self.began + self.deadline_s

    def ask(self, line: str) -> None:
        """Send a line. Raises HostError if the connection broke."""
        try:
            self.conversation.say(line)
        except ConnectionError as error:
            raise self.lost(reason_of(error)) from error

    def next_line(self) -> str:
        """The next line of output; empty at its end. Raises DeadlineExceeded if none comes in time."""
        wanted = self._heard + 1
        if not self._wait_until(lambda text: text.count("\n") >= wanted):
            return ""
        self._heard = wanted
        return self.conversation.stdout.split("\n")[wanted - 1]

    def hear(self, is_last: Callable[[str], bool]) -> str:
        """All output so far, once ``is_last`` accepts it or it has ended. Raises DeadlineExceeded."""
        self._wait_until(is_last)
        self._heard = self.conversation.stdout.count("\n")
        return self.conversation.stdout

    def _wait_until(self, is_said: Callable[[str], bool]) -> bool:
        has_come = self.conversation.wait_until(is_said, self.deadline)
        if not has_come and time.monotonic() >= self.deadline:
            raise self._late()
        return has_come

    def _late(self) -> DeadlineExceeded:
        return DeadlineExceeded(self.name, self.argv, self.deadline_s, self.conversation.errors)

    def finish(self) -> Result:
        """End its standard input and wait for its end. Raises as :meth:`lab.hosts.Host.run` without ``check``."""
        self.conversation.end_input()
        if not self.conversation.wait(self.deadline):
            raise self._late()
        self.exit_code = self.conversation.exit_code
        if self.exit_code is None:
            raise self.lost("")
        return self._result(self.exit_code)

    def stopped(self) -> Result:
        """The output so far of a command that is ended early."""
        return self._result(STOPPED)

    def _result(self, code: int) -> Result:
        elapsed_s = time.monotonic() - self.began
        return Result(self.argv, code, self.conversation.stdout, self.conversation.errors, elapsed_s)
