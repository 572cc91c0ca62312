"""Hosts for tests: scripted answers, emulated commands, or a record of all commands."""

import shlex
import shutil
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import DeadlineExceeded
from lab.hosts import Host, Result
from lab.hosts.command import Command
from lab.protocols import Attached, Share
from lab.settings.operation import Setting
from support.pairs import OWN, side_of
from support.paths import LINUX_CAPTURES


class LocalHost(Host):
    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        take_over()

    def close(self) -> None:
        pass


class FakeHost(LocalHost):
    """Gives each command the answers of :meth:`on`, in that order; a command without an answer fails the test."""

    def __init__(self, role: str = "client"):
        super().__init__(role)
        self.sent: list[tuple[str, ...]] = []
        self._answers: dict[tuple[tuple[str, ...], bool], list[Result]] = {}

    def on(
        self, asked: Sequence[str] | Command, stdout: str = "", *, stderr: str = "", exit_code: int = 0,
        root: bool = False, times: int = 1,
    ) -> None:  # fmt: skip
        """Set the answer of a command for the next ``times`` times."""
        argv, root = (asked.argv, asked.root) if isinstance(asked, Command) else (tuple(asked), root)
        self._answers.setdefault((argv, root), []).extend([Result(argv, exit_code, stdout, stderr, 0.0)] * times)

    def unused(self) -> list[str]:
        """The commands whose answers were not used."""
        return [typed(argv, root) for (argv, root), answers in self._answers.items() if answers]

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        self.sent.append(argv)
        answers = self._answers.get((argv, root))
        if not answers:
            waiting = "\n".join(f"    {line}" for line in self.unused()) or "    nothing"
            raise AssertionError(f"{self.name}: no answer scripted for\n    {typed(argv, root)}\nbut for\n{waiting}")
        return answers.pop(0)


class EmulatedHost(LocalHost):
    """Runs commands in a folder, where they find only ``commands`` (shell scripts) and ``real`` tools.

    So no test reaches this machine's own ifconfig or mount. Scripts keep their state in files of the folder; ``calls``
    has a line for each call.
    """

    def __init__(self, folder: Path, commands: Mapping[str, str], real: Sequence[str], role: str = "client"):
        super().__init__(role)
        self.folder = folder
        self._programs = folder / "bin"
        self._programs.mkdir()
        for name in set(real) - set(commands):  # else a script would overwrite the real tool through the link
            (self._programs / name).symlink_to(shutil.which(name) or f"/no/{name}")
        for name, text in commands.items():
            program = self._programs / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/calls"\n{text}\n', encoding="utf-8")
            program.chmod(0o755)

    def calls(self, *names: str) -> list[str]:
        """The calls of emulated commands so far, or only of these."""
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


def typed(argv: Sequence[str], root: bool) -> str:
    return ("# " if root else "$ ") + shlex.join(argv)


SECRET = "hunter2-do-not-show"
SMBSTATUS = (LINUX_CAPTURES / "smbstatus-4.22.json").read_text(encoding="utf-8")


class RecordingHost(LocalHost):
    """Answers as a host that has everything except what it ``lacks``, and records all commands."""

    def __init__(self, role: str, lacks: tuple[str, ...]):
        super().__init__(role)
        self.lacks = lacks
        self.told: list[tuple[tuple[str, ...], str]] = []

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        self.told.append((argv, given))
        line = " ".join(argv)
        answers = {
            "mount -i -t": "no\n" if "kernel" in self.lacks else "yes\n",
            "for folder in": "" if "gvfs" in self.lacks else f"/usr/libexec/{argv[-1]}\n",
            "smbstatus": SMBSTATUS, "Login by": "Login by lab (AFP3.3)\n", "ssh-keygen": "ssh-ed25519 AAAA lab\n",
            "for sign": "apt-get\n", "command -v sshd": "/usr/sbin/sshd\n", "id -u": "1000\n1000\n",
            "ip -o address": "4: eth0    inet 192.0.2.2/24 scope global eth0\n",
            "grep -F": "//192.0.2.2/lab /lab/mnt cifs rw,vers=3.1.1 0 0\n",
            "local path": f"{OWN}/gvfs/run/gvfs/share\n",
        }  # fmt: skip
        output = next((answer for part, answer in answers.items() if part in line), "")
        code = int(any(f'command -v "$1" sh {name}' in line for name in self.lacks))
        return Result(argv, code, output, "", 0.0)


class Stage:
    """A protocol from serving to attaching, on recording hosts, with every setting that it asked for."""

    def __init__(self, name: str, lacks: tuple[str, ...] = (), served: bool = True, **options: str):
        self.hosts = {role: RecordingHost(role, lacks) for role in ("client", "server")}
        self.client = side_of(self.hosts["client"], "linux", "192.0.2.1", OWN, "me")
        self.server = side_of(self.hosts["server"], "linux", "192.0.2.2", OWN, "me")
        self.share = Share(f"{OWN}/ram", "share", "account", SecretStr(SECRET), served, options=options)
        protocol = protocols.find(name)
        drivers = {role: protocol.driver("linux") for role in self.hosts}
        self.settings: list[Setting] = []
        if served:
            self.take(drivers["server"].serve(self.server, self.share))
        self.take(drivers["client"].prepare(self.client))
        self.attached: Attached = self.take(drivers["client"].attach(self.client, self.server, self.share))

    def take(self, steps: Generator[Setting, None, Any]) -> Any:
        while True:
            try:
                self.settings.append(next(steps))
            except StopIteration as end:
                return end.value

    def told(self) -> list[tuple[tuple[str, ...], str]]:
        """Every command: those that ran, and those that the settings would run."""
        steps = ((made.read, *made.apply, *made.operation.undo("absent")) for made in self.settings)
        ran = [told for host in self.hosts.values() for told in host.told]
        return [*ran, *((step.argv, step.given) for of_setting in steps for step in of_setting)]
