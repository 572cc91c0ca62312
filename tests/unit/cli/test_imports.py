"""What a command imports before it does anything, because every command waits for it.

An interpreter takes several steps. What a step must not import, the steps before it must not import either.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

NUMERICAL = ("numpy", "pandas", "scipy", "matplotlib")
DRAWING = ("matplotlib", "PIL")
RUN = """
import contextlib, importlib, io, json, sys
for words, unneeded in json.loads(sys.argv[1]):
    if words.startswith("import "):
        importlib.import_module(words.split()[1])
    else:
        from lab.cli.main import main
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            assert main(words.split()) == 0
    if found := sys.modules.keys() & set(unneeded):
        print(words, "->", *found)
"""
HELP = (*NUMERICAL, "paramiko", "rich", "pydantic", "subprocess")
SHOW = (*DRAWING, "paramiko", "pydantic", "lab.run.lifecycle", "lab.protocols")
STEPS = {
    "modules": [
        ("import lab.cli.main", (*HELP, "zeroconf", "lab.local.state")),
        ("import lab.local.proxy_command", (*NUMERICAL, "paramiko", "pydantic")),
        ("import lab.local.supervisor", (*NUMERICAL, "paramiko", "pydantic")),
        ("import lab.run.case.catalogue", (*NUMERICAL, "paramiko")),
        ("import lab.design.plan_text", (*NUMERICAL, "paramiko")),
        ("import lab.run.lifecycle", NUMERICAL),
        ("import lab.check.doctor", NUMERICAL),
    ],
    "help and plans": [
        *((words, HELP) for words in ("--version", "--help", "show --help")),
        ("plan demo", (*NUMERICAL, "paramiko", "rich", "lab.run.lifecycle", "lab.results.run_folder")),
        ("plan demo --order", (*NUMERICAL, "paramiko", "rich")),
    ],
    "runs": [
        ("list", (*NUMERICAL, "paramiko", "pydantic", "lab.run.lifecycle", "lab.protocols")),
        ("import lab.results.decoder", ("pandas", "scipy", "matplotlib", "paramiko", "rich", "pydantic")),
        *((words, SHOW) for words in ("show example", "compare example example-delay")),
    ],
}


@pytest.mark.parametrize("name", STEPS)
def test_what_is_slow_is_imported_only_where_it_is_needed(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, json.dumps(STEPS[name])]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == []
