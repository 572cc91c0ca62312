"""Runs programs of the emulated Mac in the test's process; a table of answers replaces the kernel."""

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from emulated_mac import interfaces, profiles
from emulated_mac.programs import diskutil, hdiutil, mount
from lab.base.present import present
from support.paths import capture as capture

# Runs a program: version, name and words of the command line, answers; returns exit code, output and errors
Run = Callable[..., tuple[int, str, str]]
# Prepares a program: module, version, and answers by the name of the system call
Choose = Callable[..., None]


def emulate(monkeypatch: pytest.MonkeyPatch, version: str, answers: Mapping[str, Any], *modules: ModuleType) -> None:
    """Let modules of programs run as on a version; ``answers`` of the kernel are values or functions of arguments."""
    profile = present(profiles.find(version))

    def call(name: str, /, **arguments: Any) -> Any:
        answer = {"fault": False, **answers}[name]
        return answer(**arguments) if callable(answer) else answer

    monkeypatch.setattr(profiles, "current", lambda: profile)
    for module in modules:
        if hasattr(module, "call"):
            monkeypatch.setattr(module, "call", call)


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    return lambda module, version, **answers: emulate(monkeypatch, version, answers, module)


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:

    def run(version: str, program: str, *words: str, answers: Mapping[str, Any] | None = None) -> tuple[int, str, str]:
        module = importlib.import_module(f"emulated_mac.programs.{program}")
        emulate(monkeypatch, version, answers or {}, module, hdiutil, diskutil, mount)
        try:
            code = module.main(list(words))
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def refusing(code: int, text: str) -> Callable[..., None]:
    """A function that raises OSError, whatever its arguments are."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, text)

    return refuse


def show_card(monkeypatch: pytest.MonkeyPatch, *modules: Any, **changes: Any) -> None:
    """Let programs see the network card of the captured ifconfig, with changes."""
    card = SimpleNamespace(
        name="en0", index=15, mtu=1500, mac="d0:11:e5:96:31:35", is_up=True, is_active=True,
        address=interfaces.Address(0x0AFE6402, 0xFFFF0000), local_ipv6="fe80::1885:6e74:1e1e:e717", ipv6=(),
        mbit_per_s=10000,
    )  # fmt: skip
    card.__dict__.update(changes)
    loopback = SimpleNamespace(name="lo0", index=1, mtu=16384, is_up=True, address=None)
    for module in modules:
        monkeypatch.setattr(module, "find", {"en0": card, "lo0": loopback}.get)
        if hasattr(module, "names"):
            monkeypatch.setattr(module, "names", lambda: ["lo0", "en0"])


# The jobs of launchd, as the kernel answers them
JOBS = [
    {"label": "com.apple.smbd", "path": "/System/Library/LaunchDaemons/com.apple.smbd.plist", "disabled": True,
     "program": "/usr/sbin/smbd", "loaded": False, "pid": None},
    {"label": "com.apple.nfsd", "path": "/System/Library/LaunchDaemons/com.apple.nfsd.plist", "disabled": None,
     "program": "/sbin/nfsd", "loaded": True, "pid": 2140},
]  # fmt: skip
