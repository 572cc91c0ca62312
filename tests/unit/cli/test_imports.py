"""What a command imports before it does anything: every command that is typed waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

NUMERICAL = ("numpy", "pandas", "scipy", "matplotlib")
DRAWING = ("matplotlib", "PIL")
RUN = """
import contextlib, io, sys
from lab.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    assert main(sys.argv[1].split()) == 0
print(*sys.modules.keys() & set(sys.argv[2:]))
"""
LIST = "import sys, {}; print(*sys.modules.keys() & set(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("lab.cli.main", (*NUMERICAL, "paramiko", "rich", "pydantic", "zeroconf", "subprocess", "lab.local.state")),
        ("lab.results.reader", ("pandas", "scipy", "matplotlib", "paramiko", "rich", "pydantic")),
        ("lab.run.lifecycle", NUMERICAL),
        ("lab.check.doctor", NUMERICAL),
        ("lab.design.plan_text", (*NUMERICAL, "paramiko")),
        ("lab.run.catalogue", (*NUMERICAL, "paramiko")),
        ("lab.local.proxy_command", (*NUMERICAL, "paramiko", "pydantic")),
        ("lab.local.supervisor", (*NUMERICAL, "paramiko", "pydantic")),
    ],
)
def test_what_is_slow_is_imported_only_where_it_is_needed(module: str, unneeded: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", LIST.format(module), *unneeded]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        ("--version", (*NUMERICAL, "paramiko", "rich", "pydantic", "subprocess")),
        ("--help", (*NUMERICAL, "paramiko", "rich", "pydantic", "subprocess")),
        ("show --help", (*NUMERICAL, "paramiko", "rich", "pydantic", "subprocess")),
        ("plan demo", (*NUMERICAL, "paramiko", "rich", "lab.run.lifecycle", "lab.results.run_folder")),
        ("plan demo --order", (*NUMERICAL, "paramiko", "rich")),
        ("list", (*NUMERICAL, "paramiko", "pydantic", "lab.run.lifecycle", "lab.protocols")),
        ("show example", (*DRAWING, "paramiko", "pydantic", "lab.run.lifecycle", "lab.protocols")),
        ("compare example example-delay", (*DRAWING, "paramiko", "pydantic", "lab.run.lifecycle", "lab.protocols")),
    ],
)
def test_a_command_imports_nothing_that_it_does_not_use(
    command: str, unneeded: tuple[str, ...], tmp_path: Path
) -> None:
    words = [sys.executable, "-c", RUN, command, *unneeded]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
