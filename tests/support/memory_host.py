"""Hosts in memory: named values, two commands, and a fault at any command."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lab.base import signals
from lab.base.errors import DeadlineExceeded, HostLost
from lab.hosts import Result
from lab.hosts.command import Command, command
from lab.settings.changes import Settings
from lab.settings.journal import Journal, LineFormat
from lab.settings.operation import Operation, Setting
from support.fake_host import LocalHost

SECRET = "hunter2-do-not-show"


class Killed(BaseException):
    """The program was killed (``kill -9``): no command reaches a host until the counter is healed."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong at command number ``at``, counted from 0 over both hosts; before or after its effect.

    ``refused``: exit code 1; ``lies``: exit code 0 without effect; ``lost``: no connection for this command; ``dead``:
    for all from here on; ``stuck``: past its deadline; ``signal``: SIGTERM arrives; ``killed``: see :class:`Killed`.
    """

    at: int
    kind: str
    after: bool = False


KINDS = ("refused", "lies", "lost", "dead", "stuck", "signal")


class Counter:
    """One count of commands and one fault for both hosts."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.count = 0
        self.gone: BaseException | None = None
        self.struck_while_held: bool | None = None

    def next(self) -> Fault | None:
        """The fault of the next command."""
        if self.gone is not None:
            raise self.gone
        fault = self.fault if self.fault is not None and self.fault.at == self.count else None
        self.count += 1
        if fault is not None:
            self.struck_while_held = bool(signals._depth)
        return fault

    def heal(self) -> None:
        self.fault, self.gone = None, None


class MemoryHost(LocalHost):
    """Knows ``read KEY``, ``write KEY VALUE`` and ``true``; else the test fails. Each write calls ``watch`` first."""

    def __init__(self, role: str, counter: Counter | None = None, **values: str):
        super().__init__(role)
        self.values = dict(values)
        self.counter = counter or Counter()
        self.writes: list[tuple[str, str]] = []
        self.stuck_keys: set[str] = set()
        self.says = ""  # what writing a key that is stuck prints on standard error
        self.watch: Callable[[MemoryHost, str, str], None] = lambda *_: None

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        fault = self.counter.next()
        if fault is not None and not fault.after:
            self._strike(fault, argv)
        has_effect = fault is None or fault.after or fault.kind == "signal" or argv[0] == "read"
        printed = self._effect(*argv) if has_effect else ""
        if fault is not None and fault.after:
            self._strike(fault, argv)
        exit_code = 1 if fault is not None and fault.kind == "refused" else 0
        said = self.says if argv[0] == "write" and argv[1] in self.stuck_keys else ""
        return Result(argv, exit_code, printed, "refused" if exit_code else said, 0.0)

    def _strike(self, fault: Fault, argv: tuple[str, ...]) -> None:
        if fault.kind == "stuck":
            raise DeadlineExceeded(self.name, argv, 1.0, "")
        if fault.kind == "signal":
            signal.raise_signal(signal.SIGTERM)
        if fault.kind in ("lost", "dead", "killed"):
            self.counter.gone = {"dead": HostLost("gone"), "killed": Killed()}.get(fault.kind)
            raise self.counter.gone or HostLost(f"{self.name}: the connection was lost")

    def _effect(self, verb: str, key: str = "", value: str = "") -> str:
        if verb in ("read", "true"):  # true: whether the host still answers
            return self.values[key] if key else ""
        assert verb == "write", f"{self.name}: no such command: {verb}"
        self.watch(self, key, value)
        if key not in self.stuck_keys:
            self.values[key] = value
            self.writes.append((key, value))
        return ""

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        if self.counter.gone is not None:
            raise self.counter.gone
        take_over()


@dataclass(frozen=True)
class Knob(Operation):
    kind = "knob"
    values = r"[\w ]{1,100}"

    key: Annotated[str, Field(pattern="^[a-z]{1,20}$")]

    @property
    def label(self) -> str:
        return f"knob {self.key}"

    def read(self) -> Command:
        return command("read", self.key)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("write", self.key, old, root=True),)


@dataclass(frozen=True)
class HoldingKnob(Knob):
    """A value that later ones need."""

    kind = "holding-knob"
    holds = True


@dataclass(frozen=True)
class SlowKnob(Knob):
    """A value that is restored in two steps."""

    kind = "slow-knob"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return command("write", self.key, "half gone"), command("write", self.key, old)


LINES = LineFormat({kind.kind: kind for kind in (Knob, HoldingKnob, SlowKnob)})


def knob(host: str, key: str, wanted: str, kind: type[Knob] = Knob) -> Setting:
    """A setting of a memory host with two steps, the second of which needs a secret."""
    steps = command("write", key, f"nearly {wanted}"), command("write", key, wanted, root=True, given=SECRET)
    return Setting(host, kind(key), wanted, steps)


@contextmanager
def lab_signals() -> Iterator[None]:
    """Install the lab's signal handlers for the time of a test."""
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    signals.install()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signals._pending.clear()


BEFORE = {"mtu": "1500", "space": "131072", "mount": "absent"}
ROLES = ("client", "server")


class World:
    def __init__(self, folder: Path):
        self.counter = Counter()
        self.hosts = {role: MemoryHost(role, self.counter, **BEFORE) for role in ROLES}
        self.path = folder / "journal.jsonl"
        self.settings = Settings(self.hosts, Journal(self.path, LINES), patience_s=0)

    def state(self) -> dict[str, dict[str, str]]:
        return {role: dict(host.values) for role, host in self.hosts.items()}

    def writes(self) -> int:
        return sum(len(host.writes) for host in self.hosts.values())

    def run(self, program: Any) -> None:
        """Apply changes; a list is a scope, which must restore the state at its begin."""
        if isinstance(program, tuple):
            self.settings.apply(knob(*program))
            return
        before = self.state()
        with self.settings.scope():
            for step in program:
                self.run(step)
        assert self.state() == before

    def restore(self) -> None:
        """Restore as `lab restore` does in a new process."""
        Settings(self.hosts, Journal(self.path, LINES), patience_s=0).unwind()


def untouched() -> dict[str, dict[str, str]]:
    return {role: dict(BEFORE) for role in ROLES}
