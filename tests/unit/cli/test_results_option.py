"""--results: every command that reads or writes runs takes their folder, and believes nothing in it."""

import argparse
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.commands import lab, write
from support.input_files import HOSTS, SWEEP
from support.synthetic_runs import make_trials, write_run

from lab.check import doctor
from lab.cli.main import parser
from lab.design.pace import Pace
from lab.results.run_folder import RunFolder
from lab.run import lifecycle
from lab.run.begin import pace
from lab.run.runner import Ending

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")


@pytest.fixture
def folder() -> RunFolder:
    return write_run(Path("mine"), make_trials(2, combinations=[("smb", "cp")]))


@pytest.mark.parametrize("line", ["show", "show -1", "show synthetic --json", "report", "compare -2 -1", "list --json"])
def test_runs_are_read_from_the_folder_that_is_named(
    capsys: pytest.CaptureFixture[str], folder: RunFolder, line: str
) -> None:
    words = shlex.split(line)
    if words[0] == "compare":
        write_run(Path("mine"), make_trials(2, combinations=[("smb", "cp")]))
    code, out, err = lab(capsys, *words, "--results", "mine")
    assert (code, err.startswith("replaced 2 names")) == (0, line == "report")
    assert folder.path.name in out or words[0] == "compare"
    assert lab(capsys, *words, "--results", "other")[0] == (0 if words[0] == "list" else 2)
    assert not Path("results").exists()


def test_runs_are_written_into_it_and_their_pace_is_read_from_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder
) -> None:
    folders: list[Path] = []

    def start(_: Path, __: Path, results: Path, ___: Any) -> tuple[RunFolder, Ending]:
        folders.append(results)
        return folder, Ending("", 0)

    def newest(results: Path, _: Path) -> Any:
        folders.append(results)
        return Pace()

    def check(_: Path, results: Path, *__: Any) -> tuple[list[Any], dict[str, Any]]:
        folders.append(results)
        return [], {}

    monkeypatch.setattr(doctor, "check", check)
    monkeypatch.setattr(lifecycle, "start", start)
    monkeypatch.setattr(pace, "newest", newest)
    write("a.toml", SWEEP)
    for line in ("run a.toml", "plan a.toml", "check --jumbo"):
        assert lab(capsys, *line.split(), "--results", "mine")[0] == 0
    assert folders == [Path("mine")] * 3


def test_a_run_to_resume_and_one_to_restore_are_found_by_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder
) -> None:
    resumed: list[Path] = []

    def resume(_: Path, path: Path, *__: Any) -> tuple[RunFolder, Ending]:
        resumed.append(path)
        return folder, Ending("", 0)

    monkeypatch.setattr(lifecycle, "resume", resume)
    assert lab(capsys, "run", "--resume", "synthetic", "--results", "mine")[0] == 0
    assert resumed == [folder.path]
    _, _, err = lab(capsys, "restore", "-1", "--results", "mine")
    assert err.startswith(f"{folder.path}: ")


WITH_HOSTS = ("check", "plan a.toml", "run a.toml", "run --resume -1", "run --resume -1 --trust", "restore",
              "restore -1 --trust", "fidelity")  # fmt: skip


def test_these_are_all_commands_with_both_options() -> None:
    (commands,) = (action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    both = {
        name for name, command in commands.items() if {"--hosts", "--results"} <= command._option_string_actions.keys()
    }
    assert both == {line.split()[0] for line in WITH_HOSTS}


@pytest.mark.parametrize("line", WITH_HOSTS)
def test_a_hosts_file_among_these_results_is_not_read(
    capsys: pytest.CaptureFixture[str], folder: RunFolder, line: str
) -> None:
    write("a.toml", SWEEP)
    write("mine/hosts.ini", HOSTS)
    code, _, err = lab(capsys, *line.split(), "--results", "mine", "--hosts", "mine/hosts.ini")
    assert code == 2
    assert "among results, and those may be somebody else's: it is not read" in err


@pytest.mark.parametrize("line", ["check", "run a.toml"])
def test_nor_is_the_one_that_is_there_by_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder, line: str
) -> None:
    write("mine/a.toml", SWEEP)
    write("mine/hosts.ini", HOSTS)
    monkeypatch.chdir("mine")
    code, _, err = lab(capsys, *line.split(), "--results", ".")
    assert code == 2
    assert "hosts.ini: lies in " in err
    assert "among results" in err
