"""Injects faults between the lab and its hosts, at one command of a run.

``python -m faults.inject WORDS SCRIPT COMMAND...`` runs a `lab` command after ``replace_first(WORDS, SCRIPT)``.
"""

import json
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.cli import main as cli
from lab.hosts import Result
from lab.hosts.host import Dialogue
from lab.hosts.ssh import SshHost

from . import kinds, space

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Site:
    """A command to a host. ``number`` counts the commands to the host from 1.

    With the role ``controller``: a file that the lab opens to write, or a folder that it makes.
    """

    role: str
    number: int

    @property
    def site(self) -> str:
        return f"{self.role}-{self.number}"


@dataclass(frozen=True)
class Sent(Site):
    """A command that the lab sent."""

    text: str
    elapsed_s: float = 0.0
    ran_before: tuple[str, ...] = ()
    ran_after: tuple[str, ...] = ()

    @property
    def moves_trial(self) -> bool:
        """Whether it is a transfer, whose duration depends on the link."""
        return trial_of(self.text) is not None and "stopwatch.pl" in self.text and " together " not in self.text


@dataclass(frozen=True)
class Call:
    """A command on its way to a host. ``begin`` takes its words and deadline.

    ``begin`` returns a Result, or a dialogue if the lab talks with the command while it runs.
    """

    host: SshHost
    argv: tuple[str, ...]
    deadline_s: float
    begin: Callable[[tuple[str, ...], float], Any]
    is_spoken_with: bool = False

    def go(self) -> Any:
        return self.begin(self.argv, self.deadline_s)

    def go_and(self, script: str, when: str, deadline_s: float) -> Any:
        """Run a script in place of the command, or after the command has had its effect."""
        wrapped = script if when == "before" else f'"$@"\n{script}'
        return self.begin(("/bin/sh", "-c", wrapped, "sh", *self.argv), deadline_s)


@dataclass(frozen=True)
class Fault(Site):
    """A fault at a command, before or after its effect."""

    kind: str
    when: str


def normal(argv: tuple[str, ...]) -> str:
    """A command as text, without what differs from run to run."""
    text = re.sub(r"(file-share-lab|b\d{3}-[a-z0-9-]+)-[0-9a-f]{16}", r"\1-NAME", " ".join(" ".join(argv).split()))
    text = re.sub(r"\d{8}T\d{6}Z|[0-9a-f]{12,}", "NAME", text)
    return re.sub(r"/dev/loop\d+", "/dev/loopN", text)  # all labs share the loop devices of one kernel


def trial_of(command: str) -> str | None:
    """The trial that a command moves or verifies, if any."""
    trial_id = re.search(r"/(b\d{3}-\d{4})(?:-\d+)?-[0-9A-Za-z]+\.bin", command)
    return trial_id[1] if trial_id and re.search(r"stopwatch\.pl|-- check ", command) else None


def record(lab: str, target: Path) -> None:
    """Write each command that the lab sends, and each file that it opens, as a line of JSON."""
    count: Counter[str] = Counter()
    lock = threading.Lock()

    def note(sent: Sent) -> None:
        with lock, target.open("a") as file:
            file.write(json.dumps(asdict(sent)) + "\n")

    def execute(call: Call) -> Any:
        number, ran_before = _next(count, lock, call.host.name), kinds.what_runs(lab)
        started = time.monotonic()
        result = call.go()
        elapsed_s = time.monotonic() - started
        note(Sent(call.host.name, number, normal(call.argv), elapsed_s, ran_before, kinds.what_runs(lab)))
        return result

    wrap(execute)
    watch_files(lambda path: note(Sent(kinds.CONTROLLER, _next(count, lock, kinds.CONTROLLER), normal((path,)))))


def inject(lab: str, fault: Fault, usual_s: float, target: Path) -> None:
    """Strike once, at the command or file that the fault names; ``target`` then holds what was struck."""
    count: Counter[str] = Counter()
    lock = threading.Lock()
    kind = kinds.KINDS[fault.kind]

    def is_here(role: str, text: tuple[str, ...]) -> bool:
        if (role, _next(count, lock, role)) != (fault.role, fault.number):
            return False
        target.write_text(json.dumps(asdict(Sent(fault.role, fault.number, normal(text)))))
        return True

    def execute(call: Call) -> Any:
        if not is_here(call.host.name, call.argv):
            return call.go()
        return kind.strike(kinds.Scene(call, fault.when, lab, usual_s))

    def opened(path: str) -> None:
        if is_here(kinds.CONTROLLER, (path,)):
            space.fill_controller()

    wrap(execute)
    watch_files(opened)


def _next(count: Counter[str], lock: threading.Lock, role: str) -> int:
    with lock:
        count[role] += 1
        return count[role]


def watch_files(handle: Callable[[str], None]) -> None:
    """Call ``handle`` before a file of the working folder is opened for writing, or a folder is made there."""
    here = str(Path.cwd())

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "os.mkdir") or not isinstance(arguments[0], str | Path):
            return
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITES):
            return
        path = str(arguments[0])
        if path.startswith(here) or not (path.startswith("/") or space.FILLER in path):
            handle(path.removeprefix(f"{here}/"))

    sys.addaudithook(hook)


def replace_first(words: str, script: str) -> None:
    """Run a script in place of the first command to the server that has these words; it gets the command as "$@"."""
    replaced: list[str] = []

    def execute(call: Call) -> Any:
        if replaced or call.host.name != "server" or words not in normal(call.argv):
            return call.go()
        replaced.append(words)
        print(f"struck at {words}", flush=True)
        return call.go_and(script, "before", call.deadline_s)

    wrap(execute)


def wrap(handle: Callable[[Call], Any]) -> None:
    """Let ``handle`` run every command that the lab sends."""
    original: Any = SshHost._execute
    original_converse: Any = SshHost.converse

    def execute(
        self: SshHost, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = ""
    ) -> Result:
        def begin(words: tuple[str, ...], within_s: float) -> Any:
            return original(self, words, root, given, within_s, stop_mark)

        result: Result = handle(Call(self, argv, deadline_s, begin))
        return result

    @contextmanager
    def converse(self: SshHost, *argv: str, deadline_s: float) -> Iterator[Dialogue]:
        with ExitStack() as stack:

            def begin(words: tuple[str, ...], within_s: float) -> Any:
                return stack.enter_context(original_converse(self, *words, deadline_s=within_s))

            yield handle(Call(self, argv, deadline_s, begin, is_spoken_with=True))

    SshHost._execute = execute  # type: ignore[method-assign]
    SshHost.converse = converse  # type: ignore[method-assign]


if __name__ == "__main__":
    replace_first(*sys.argv[1:3])
    sys.exit(cli.main(sys.argv[3:]))
