"""The faults, and the place where they strike: between the lab and its hosts, at one command of a run."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.hosts import Result
from lab.hosts.dialogue import Dialogue
from lab.hosts.ssh import SshHost
from lab.local import lifecycle

from . import space
from .observe import Observer, daemons

WHENS = ("before", "after")
HANG_S = 1.0
RESULTS = Path("results")
# All of sshd that serves this connection: those above this script that are not the listener. None of them is left to
# tell how the command ended. An emulated Mac has no /proc, but the Linux below has.
LOSE = """
pid=$$ sessions= proc=/proc
[ -d /proc/self ] || proc=/linux/proc
while [ "$pid" -gt 1 ]; do
    [ "$(cat "$proc/$pid/comm")" = sshd-session ] && sessions="$sessions $pid"
    pid=$(sed 's/^.*) //' "$proc/$pid/stat" | cut -d ' ' -f 2)
done
kill -s KILL $sessions
"""


@dataclass(frozen=True)
class Sent:
    """A command as the lab sends it. ``number`` counts those to its host, from 1; ``elapsed_s`` is known afterwards."""

    role: str
    number: int
    text: str
    elapsed_s: float = 0.0
    daemons: tuple[bool, bool] = (False, False)

    @property
    def site(self) -> str:
        """Its name in a sweep."""
        return f"{self.role}-{self.number}"


@dataclass(frozen=True)
class Call:
    """One command on a host, to be gone on with. ``begin`` takes its words and its deadline.

    What it gives is a Result; or, where the command is spoken with while it runs, that conversation.
    """

    host: SshHost
    argv: tuple[str, ...]
    deadline_s: float
    begin: Callable[[tuple[str, ...], float], Any]
    is_spoken_with: bool = False

    def go(self) -> Any:
        """As the lab meant it."""
        return self.begin(self.argv, self.deadline_s)

    def go_and(self, script: str, when: str, deadline_s: float) -> Any:
        """A script on the host, in place of the command or when that has had its effect."""
        wrapped = script if when == "before" else f'"$@"\n{script}'
        return self.begin(("/bin/sh", "-c", wrapped, "sh", *self.argv), deadline_s)


@dataclass(frozen=True)
class Fault:
    """What to inject: at which command of which host, before or after its effect."""

    role: str
    number: int
    kind: str
    when: str

    @property
    def site(self) -> str:
        """The name of the command in a sweep."""
        return f"{self.role}-{self.number}"

    def strike(self, call: Call, lab: str, usual_s: float) -> Any:
        """Go on with a command, and have the fault happen. ``usual_s`` is how long the command takes without it.

        Of a command that is spoken with, "after" a deed is once it has begun: nothing but its end tells more.
        """
        if self.kind == "error" and call.is_spoken_with:
            return call.go_and("exit 1", self.when, call.deadline_s)
        if self.kind == "error":
            if self.when == "after":
                call.go()
            return Result(call.argv, 1, "", "an injected error", 0.0)
        if self.kind == "hang":
            return call.go_and("sleep 3600", self.when, HANG_S + (usual_s if self.when == "after" else 0.0))
        if self.kind == "lost":
            return call.go_and(LOSE, self.when, call.deadline_s)
        if self.when == "before":
            DEEDS[self.kind](lab)
            return call.go()
        result = call.go()
        DEEDS[self.kind](lab)
        return result


def _signal(number: signal.Signals) -> Callable[[str], None]:
    return lambda _: os.kill(os.getpid(), number)


def _kill_daemons(lab: str) -> None:
    for process in daemons(Observer(lab).init("server")):
        os.kill(process.pid, signal.SIGKILL)


DEEDS: dict[str, Callable[[str], None]] = {
    "SIGINT": _signal(signal.SIGINT),
    "SIGTERM": _signal(signal.SIGTERM),
    "SIGKILL": _signal(signal.SIGKILL),
    "reboot-client": lambda lab: lifecycle.reboot(lab, "client"),
    "reboot-server": lambda lab: lifecycle.reboot(lab, "server"),
    "reboot-client.3": lambda lab: lifecycle.reboot(lab, "client.3"),
    "full-controller": lambda _: space.fill_controller(RESULTS),
    "full-client": lambda lab: space.fill_host(lab, "client"),
    "full-server": lambda lab: space.fill_host(lab, "server"),
    "server-killed": _kill_daemons,
}
KINDS = ("error", "hang", "lost", *DEEDS)
# Not on emulated Macs: what stands for their kernel needs room on the host's disk, as no kernel does.
FILL_HOSTS = ("full-client", "full-server")
OF_SEVERAL_CLIENTS = ("reboot-client.3",)  # where there are so many clients
FROM_OUTSIDE = (*FILL_HOSTS, "server-killed")  # not in guests: their disks and processes are not this machine's
# Where one of these meets the transfer of a trial, or the look at its content, that trial cannot be ok.
SPOILS = ("error", "hang", "lost", "SIGINT", "SIGTERM", "SIGKILL")


def normal(argv: tuple[str, ...]) -> str:
    """A command as text that is the same in every run."""
    text = re.sub(r"(file-share-lab|b\d{3}-[a-z0-9-]+)-[0-9a-f]{16}", r"\1-NAME", " ".join(" ".join(argv).split()))
    return re.sub(r"/dev/loop\d+", "/dev/loopN", text)  # all labs have those of one kernel


def trial_of(command: str) -> str | None:
    """The trial that a command moves or verifies, if it does."""
    trial_id = re.search(r"/(b\d{3}-\d{4})(?:-\d+)?-[0-9A-Za-z]+\.bin", command)
    return trial_id[1] if trial_id and re.search(r"stopwatch\.pl|-- check ", command) else None


def record(lab: str, target: Path) -> None:
    """From here on, write down every command that the lab sends, as lines of JSON."""
    count: Counter[str] = Counter()
    lock = threading.Lock()

    def execute(call: Call) -> Any:
        with lock:
            count[call.host.name] += 1
            number = count[call.host.name]
        running = [bool(daemons(Observer(lab).init("server")))]
        started = time.monotonic()
        result = call.go()
        elapsed_s = time.monotonic() - started
        running.append(bool(daemons(Observer(lab).init("server"))))
        sent = Sent(call.host.name, number, normal(call.argv), elapsed_s, (running[0], running[1]))
        with lock, target.open("a") as file:
            file.write(json.dumps(asdict(sent)) + "\n")
        return result

    wrap(execute)


def inject(lab: str, fault: Fault, usual_s: float, target: Path) -> None:
    """From here on, wait for the command and strike, once; ``target`` then tells at what."""
    count: Counter[str] = Counter()
    lock = threading.Lock()

    def execute(call: Call) -> Any:
        with lock:
            count[call.host.name] += 1
            struck = (call.host.name, count[call.host.name]) == (fault.role, fault.number)
        if not struck:
            return call.go()
        target.write_text(json.dumps(asdict(Sent(fault.role, fault.number, normal(call.argv)))))
        return fault.strike(call, lab, usual_s)

    wrap(execute)


def wrap(handle: Callable[[Call], Any]) -> None:
    """From here on, have ``handle`` go on with every command that the lab sends."""
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
