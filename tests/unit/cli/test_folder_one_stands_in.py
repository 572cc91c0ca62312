"""The current folder is data. tests/scenarios/cli/test_hostile_runs.py tries all commands in a hostile one."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import Command, Lab
from support.hostile_runs import HOSTS
from support.paths import ROOT

import lab as package
from lab.base.own_python import leave_out_current_folder
from lab.run.begin import origin as version


def modules(word: str) -> Iterator[tuple[str, ast.AST]]:
    """The modules of the lab that have a word, parsed."""
    for path in sorted((ROOT / "lab").rglob("*.py")):
        if word in (text := path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), ast.parse(text)


@pytest.fixture
def bait(tmp_path: Path) -> Path:
    """What the hosts file of this folder would make."""
    Path("hosts.ini").write_text(HOSTS.format(bait=tmp_path / "bait"))
    Path("hosts.ini").chmod(0o600)
    return tmp_path / "bait"


@pytest.mark.parametrize("line", ["check", "run demo", "fidelity", "host install client"])
def test_a_hosts_file_that_nobody_named_runs_nothing_here(refused: Command, bait: Path, line: str) -> None:
    err = refused(*line.split())
    assert err.startswith("hosts.ini: [client] proxy_command: not taken from a file that was only found in the current")
    assert "`--hosts hosts.ini`" in err
    assert not bait.exists()


def test_one_that_is_named_does_and_an_unnamed_one_does_not_say_whose_keys_to_believe(lab: Lab, bait: Path) -> None:
    assert lab("check", "--hosts", "hosts.ini")[0] == 1
    assert bait.exists()
    text = re.sub("(?m)^proxy_command.*\n", "", Path("hosts.ini").read_text())
    Path("hosts.ini").write_text(text.replace("[server]", "[server]\nknown_hosts = known_hosts"))
    assert lab("check")[2].startswith("hosts.ini: [server] known_hosts: not taken from a file")


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        (":/usr/bin", "/usr/bin"),
        ("/usr/bin:.:bin:/bin:", "/usr/bin:/bin"),
        *((path, os.defpath) for path in ("", ".", None)),
    ],
)
def test_no_program_is_looked_for_in_it(monkeypatch: pytest.MonkeyPatch, path: str | None, safe: str) -> None:
    monkeypatch.setenv("PATH", path) if path is not None else monkeypatch.delenv("PATH")
    leave_out_current_folder()
    assert os.environ["PATH"] == safe


def test_every_python_of_the_labs_is_started_without_it() -> None:
    """One by PYTHON, of lab.base.own_python; the other one is isolated, and has no package at all."""
    names = {
        name for name, tree in modules("executable") for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable"
    }  # fmt: skip
    assert names == {"lab/base/own_python.py", "lab/fleet/attempt.py"}


def test_no_repository_around_the_lab_tells_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git runs what the settings of a repository name."""
    who = ["-c", "user.name=x", "-c", "user.email=x"]
    for words in (["init", "-q"], ["config", "core.fsmonitor", f"touch {tmp_path}/bait;"],
                  [*who, "commit", "-q", "--allow-empty", "-m", "x"]):  # fmt: skip
        subprocess.run(["git", *words], check=True)
    (tmp_path / "bait").unlink(missing_ok=True)
    (tmp_path / "site-packages/lab/run").mkdir(parents=True)
    monkeypatch.setattr(version, "__file__", str(tmp_path / "site-packages/lab/run/begin/origin.py"))
    assert version.code_version() == package.__version__
    assert not (tmp_path / "bait").exists()


def test_matplotlib_is_imported_by_one_module_first() -> None:
    """In packages whose first import is of that one; elsewhere it would read what lies in the folder."""
    names = {
        name for name, tree in modules("matplotlib") for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "matplotlib")
        or (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "matplotlib" for alias in node.names))
    }  # fmt: skip
    assert {name for name in names if not name.startswith(("lab/report/figures/", "lab/notebook/"))} == set()
    assert not names & {"lab/report/figures/__init__.py", "lab/notebook/__init__.py"}


@pytest.mark.parametrize("module", ["lab.report.figures", "lab.notebook"])
@pytest.mark.parametrize("is_pipe", [False, True])
def test_figures_begin_with_matplotlibs_own_settings(is_pipe: bool, module: str) -> None:
    settings = b"text.usetex : True\nfont.size : 40\nbackend : no\nno.such.key : 1\n: \xff\n"
    for path in (Path("matplotlibrc"), Path("others")):
        os.mkfifo(path) if is_pipe else path.write_bytes(settings)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "no", "MATPLOTLIBRC": str(path.resolve())}
    command = [sys.executable, "-P", "-c", f"import {module}, matplotlib; print(matplotlib.rcParams['font.size'])"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "10.0\n", "")
