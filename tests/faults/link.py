"""The link of a local lab: slow it down, cut it with and without a lost carrier, and repair it."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.local.network import DEFAULT_RATE, token_bucket

from .observe import running_lab

INTERFACE = "eth0"
SLOW_RATE = "1mbit"  # a MiB takes eight seconds
UNDER_WAY_BYTES = 100_000  # of the MiB
BEGIN_DEADLINE_S = 60.0
NOBODY = "02:00:00:00:00:99"  # no host accepts frames to this address


def _inits(lab: str) -> dict[str, int]:
    return {name: host.pid for name, host in running_lab(lab).hosts.items()}


def _inside(init: int, *words: str) -> str:
    enter = ["nsenter", "--target", str(init), "--net", "--", *words]
    return subprocess.run(enter, capture_output=True, text=True).stdout


def _moved(init: int) -> int:
    lines = Path(f"/proc/{init}/net/dev").read_text().splitlines()
    counts = next(line for line in lines if line.strip().startswith(f"{INTERFACE}:")).partition(":")[2].split()
    return int(counts[0]) + int(counts[8])


def _shape(lab: str, rate: str) -> None:
    for init in _inits(lab).values():
        _inside(init, "tc", "qdisc", "replace", "dev", INTERFACE, "root", *token_bucket(rate, relayed=False))


@contextmanager
def under_way(lab: str, deed: Callable[[], None]) -> Iterator[None]:
    """Slow the link down, and call ``deed`` once part of a transfer has crossed it."""
    server, ended = _inits(lab)["server"], threading.Event()
    enough = _moved(server) + UNDER_WAY_BYTES

    def wait() -> None:
        deadline = time.monotonic() + BEGIN_DEADLINE_S
        while _moved(server) < enough:
            if ended.wait(0.002) or time.monotonic() > deadline:
                return
        deed()

    _shape(lab, SLOW_RATE)
    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        _shape(lab, DEFAULT_RATE)


def down(seconds: float) -> Callable[[str], None]:
    """Take the carrier of the server's link away for some seconds."""

    def deed(lab: str) -> None:
        server = _inits(lab)["server"]
        _inside(server, "ip", "link", "set", "dev", INTERFACE, "down")
        time.sleep(seconds)
        join(lab)

    return deed


def silent(seconds: float) -> Callable[[str], None]:
    """Lose all frames for some seconds, without a sign."""

    def deed(lab: str) -> None:
        for init in _inits(lab).values():
            for known in _neighbours(init):
                _inside(init, "ip", "neigh", "replace", known, "dev", INTERFACE, "lladdr", NOBODY, "nud", "permanent")
        time.sleep(seconds)
        join(lab)

    return deed


def _neighbours(init: int) -> list[str]:
    return [line.split()[0] for line in _inside(init, "ip", "-4", "neigh", "show", "dev", INTERFACE).splitlines()]


def lift(lab: str) -> None:
    """Repair the link, whoever slowed or cut it."""
    join(lab)
    _shape(lab, DEFAULT_RATE)


def join(lab: str) -> None:
    """Set both ends up, and forget the neighbours' addresses."""
    for init in _inits(lab).values():
        if "state DOWN" in _inside(init, "ip", "link", "show", "dev", INTERFACE):
            _inside(init, "ip", "link", "set", "dev", INTERFACE, "up")
        for known in _neighbours(init):
            _inside(init, "ip", "neigh", "del", known, "dev", INTERFACE)
