"""A host as everything above sees it: run a command, get what it printed."""

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
from typing import TYPE_CHECKING

from lab.base import durable
from lab.base.errors import CommandError
from lab.base.secret_texts import without_secrets
from lab.base.untrusted import printable
from lab.hosts.role import Role, role_of

if TYPE_CHECKING:
    from lab.hosts.dialogue import Dialogue

DEADLINE_S = 30.0
STOPPED = -1  # in place of an exit code, of a command that was ended for what it had printed
LONGEST_WORD = 120  # characters of a word that each command of the log writes out: of most paths
LONGEST_COMMAND = 100  # characters of a command that the log writes out again and again
MOST_PRINTED, LONGEST_PRINTED = 40, 500  # last lines of what a command printed that failed, and characters of each


@dataclass(frozen=True)
class Result:
    """A command that has ended: what it printed, its exit code, and how long it took as seen from here."""

    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    elapsed_s: float

    @property
    def output(self) -> str:
        """Standard output and standard error, for messages."""
        return "\n".join(part for part in (self.stdout.strip(), self.stderr.strip()) if part)


class CommandLog:
    """``commands.log``: a line for every command sent to a host, with its duration; never what went to its stdin.

    A word that is long, or of several lines, such as a script, stands in a line of its own before the first command
    that has it: ``w3f2a91bc=$'…'``, and in commands as ``"$w3f2a91bc"``. So does a long command that comes again, as
    ``eval "$w…"``. All of it is what a shell reads, but for what a command printed that failed, after ``|``.
    """

    def __init__(self, path: Path | None = None):
        self.path = path
        self._named: set[str] = set()
        self._written_out: set[str] = set()

    def write(self, host: str, argv: tuple[str, ...], root: bool, ending: str, elapsed_s: float) -> None:
        """Append the command, and before it the long words that the log does not have yet."""
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
        with suppress(OSError):  # a full disk here must not keep a host from being put back
            durable.append_line(self.path, "\n".join(lines))
            self._named.update(new)

    def write_output(self, output: str) -> Path | None:
        """Append what the command printed that failed last; returns the log, None where there is none."""
        printed = without_secrets(output).splitlines()[-MOST_PRINTED:]
        lines = [f"    | {printable(line[:LONGEST_PRINTED])}" for line in printed]
        if self.path is not None and lines:
            with suppress(OSError):
                durable.append_line(self.path, "\n".join(lines))
        return self.path


def _name_of(word: str) -> str:
    return f"w{hashlib.sha256(word.encode(errors='surrogatepass')).hexdigest()[:8]}"


def _ansi_quote(word: str) -> str:
    """A word on one line, as bash, zsh and ksh read it, with nothing in it that a terminal acts on."""
    quoted = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"$'{printable(quoted)}'"


class Host(ABC):
    """A machine that the controller runs commands on. Its ``name`` is that of its section in the hosts file.

    One that ``is_narrow`` runs as root only the commands that its helper knows (:mod:`lab.root_helper`). On one that
    ``needs_no_sudo`` every command has the rights of whoever logs in. It ``lacks_root`` if that is not root.
    """

    is_narrow: bool = False
    needs_no_sudo: bool = False
    lacks_root: bool = False

    def __init__(self, name: str):
        self.name = str(name)
        self.log = CommandLog()
        self.explain: Callable[[str], str] = lambda _: ""  # set by the platform, which knows its system's messages

    @property
    def role(self) -> Role:
        """The part that it plays."""
        return role_of(self.name)

    def run(
        self,
        *argv: str,
        root: bool = False,
        given: str = "",
        deadline_s: float = DEADLINE_S,
        check: bool = True,
        stop_mark: str = "",
    ) -> Result:
        """Run one command (no shell sees the words of ``argv``) under ``LC_ALL=C`` and wait for its end.

        ``given`` is its standard input and appears in no log or message. Raises CommandError where ``check`` and the
        exit code is not zero, DeadlineExceeded where it took longer than ``deadline_s`` seconds (it is ended then),
        HostLost where the connection broke. Once its standard output has ``stop_mark`` in it (none if empty), it is
        ended as at its deadline, within a second or two; its exit code is STOPPED then.
        """
        try:
            result = self._execute_logged(argv, root, given, deadline_s, stop_mark)
            if check and result.exit_code != 0:
                remedy = self._hint(result) or self.explain(result.output)
                raise CommandError(self.name, argv, result.exit_code, result.output, remedy)
        except CommandError as error:
            error.log = self.log.write_output(error.output)
            raise
        return result

    def _execute_logged(
        self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str
    ) -> Result:
        started = time.monotonic()
        ending = "lost"
        try:
            result = self._execute(argv, root, given, deadline_s, stop_mark)
            ending = f"exit={result.exit_code}"
        finally:
            self.log.write(self.name, argv, root, ending, time.monotonic() - started)
        return result

    def as_root(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The words by which the account itself runs a command as root there; where it is root, the command's own."""
        return argv

    def converse(self, *argv: str, deadline_s: float) -> AbstractContextManager[Dialogue]:
        """Run one command that is spoken with while it runs; it is ended with the context.

        Raises HostError where it cannot be begun, or the connection breaks.
        """
        raise NotImplementedError(f"{type(self).__name__} takes no command that is spoken with")

    def shell(
        self,
        script: str,
        *args: str,
        root: bool = False,
        given: str = "",
        deadline_s: float = DEADLINE_S,
        check: bool = True,
    ) -> Result:
        """Run a script in ``/bin/sh``; ``args`` are its ``$1``, ``$2``, … (data goes there, never into the script)."""
        argv = ("/bin/sh", "-c", script, "sh", *args)
        return self.run(*argv, root=root, given=given, deadline_s=deadline_s, check=check)

    @abstractmethod
    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        """Run it, whatever its exit code."""

    def _hint(self, result: Result) -> str:
        """What to do about a failure that has a well-known cause; empty for the others."""
        return ""

    @abstractmethod
    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """Make a new connection, call ``take_over``, and let go of the one before, whatever has become of it.

        So what is tied to a connection is handed to the next one without a gap. Raises HostError.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection."""
