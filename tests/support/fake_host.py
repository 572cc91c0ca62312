"""Hosts for tests: one answers from a script, one runs emulated commands. Both refuse what they do not know."""

import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lab.base.errors import DeadlineExceeded
from lab.hosts import Host, Result
from lab.hosts.command import Command


class FakeHost(Host):
    """Answers each command from what :meth:`on` was told, in that order; a command without an answer fails the test."""

    def __init__(self, role: str = "client"):
        super().__init__(role)
        self.sent: list[tuple[str, ...]] = []
        self._answers: dict[tuple[tuple[str, ...], bool], list[Result]] = {}

    def on(
        self,
        asked: Sequence[str] | Command,
        stdout: str = "",
        *,
        stderr: str = "",
        exit_code: int = 0,
        root: bool = False,
        times: int = 1,
    ) -> None:
        """What this command answers the next ``times`` times."""
        argv, root = (asked.argv, asked.root) if isinstance(asked, Command) else (tuple(asked), root)
        self._answers.setdefault((argv, root), []).extend([Result(argv, exit_code, stdout, stderr, 0.0)] * times)

    def unused(self) -> list[str]:
        """The commands that still have an answer waiting."""
        return [typed(argv, root) for (argv, root), answers in self._answers.items() if answers]

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        self.sent.append(argv)
        answers = self._answers.get((argv, root))
        if not answers:
            waiting = "\n".join(f"    {line}" for line in self.unused()) or "    nothing"
            raise AssertionError(f"{self.name}: no answer scripted for\n    {typed(argv, root)}\nbut for\n{waiting}")
        return answers.pop(0)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """There is no connection to lose."""
        take_over()

    def close(self) -> None:
        """Nothing to let go of."""


class EmulatedHost(Host):
    """Runs commands here, in a folder, where they find nothing but ``commands`` (shell scripts) and ``real`` tools.

    What a test starts thus never reaches this machine's own ifconfig or mount. Scripts run in the folder and keep
    their state in files there; each call of one is a line in ``calls``, which :meth:`calls` returns.
    """

    def __init__(self, folder: Path, commands: Mapping[str, str], real: Sequence[str], role: str = "client"):
        super().__init__(role)
        self.folder = folder
        self._programs = folder / "bin"
        self._programs.mkdir()
        for name in set(real) - set(commands):  # or a script would be written through the link, into the real tool
            (self._programs / name).symlink_to(shutil.which(name) or f"/no/{name}")
        for name, text in commands.items():
            program = self._programs / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/calls"\n{text}\n', encoding="utf-8")
            program.chmod(0o755)

    def calls(self, *names: str) -> list[str]:
        """Every call of an emulated command so far, or of these."""
        file = self.folder / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [line for line in lines if not names or line.split(" ")[0] in names]

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        environment = {"PATH": str(self._programs), "LC_ALL": "C", "HOME": "/Users/lab"}
        try:
            done = subprocess.run(
                argv, env=environment, cwd=self.folder, input=given, capture_output=True, text=True, timeout=deadline_s
            )
        except FileNotFoundError as error:
            raise AssertionError(f"{self.name}: not emulated: {typed(argv, root)}") from error
        except subprocess.TimeoutExpired as error:
            raise DeadlineExceeded(self.name, argv, deadline_s, str(error.output or "")) from error
        return Result(argv, done.returncode, done.stdout, done.stderr, 0.0)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """There is no connection to lose."""
        take_over()

    def close(self) -> None:
        """Nothing to let go of."""


def typed(argv: Sequence[str], root: bool) -> str:
    """A command as a person types it."""
    return ("# " if root else "$ ") + shlex.join(argv)
