"""What a command imports before it does anything: every command that is typed waits for it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.paths import ROOT

NUMERICAL = ("numpy", "pandas", "scipy", "matplotlib")
LIST = "import sys, {}; print(*sys.modules.keys() & set(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("lab.cli.main", (*NUMERICAL, "paramiko", "rich", "pydantic", "subprocess", "lab.local.state")),
        ("lab.results.reader", ("pandas", "scipy", "matplotlib", "paramiko", "rich", "lab.design.sweep_file")),
        ("lab.run.lifecycle", NUMERICAL),
        ("lab.check.doctor", NUMERICAL),
        ("lab.design.plan", (*NUMERICAL, "paramiko")),
        ("lab.local.proxy_command", (*NUMERICAL, "paramiko", "pydantic")),
        ("lab.local.supervisor", (*NUMERICAL, "paramiko", "pydantic")),
    ],
)
def test_what_is_slow_is_imported_only_where_it_is_needed(module: str, unneeded: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", LIST.format(module), *unneeded]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
