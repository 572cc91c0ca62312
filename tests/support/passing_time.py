"""A clock for deadlines of commands: they pass once something is so, and a slow machine has the time that it needs."""

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from lab.hosts import connection, ssh


def pass_once(patch: pytest.MonkeyPatch, is_so: Callable[[], bool]) -> None:
    """Let every deadline of up to 1000 s pass once something is so, which then stays so."""

    def monotonic() -> float:
        return time.monotonic() + (1000 if is_so() else 0)

    for module in (connection, ssh):
        patch.setattr(module, "time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))
