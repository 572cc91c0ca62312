"""Both programs that run the lab's scripts on Macs: perl, and python3 where a Mac has no perl."""

from __future__ import annotations

import sys

import pytest

from lab.hosts.interpreter import for_python, run_script
from support.fake_host import EmulatedHost

EACH = pytest.mark.parametrize("python", ["", sys.executable], ids=["perl", "python"])


def words_of(python: str, text: str, *args: str) -> tuple[str, ...]:
    """The command that runs a script, by perl where ``python`` is empty."""
    argv = run_script(text, *args)
    return for_python(python, argv, "")[0] if python else argv


def equipped(host: EmulatedHost, python: str) -> EmulatedHost:
    """A host that has perl, or in its place this python."""
    host.python = python
    if python:
        (host.folder / "bin" / "perl").unlink(missing_ok=True)
    return host
