"""--results: every command that reads or writes runs takes their folder, and believes nothing in it."""

import argparse
import shlex
from pathlib import Path
from unittest.mock import Mock

import pytest
from support.commands import Command, Lab, write
from support.input_files import HOSTS, SWEEP
from support.synthetic_runs import make_trials, write_run

from lab.check import doctor
from lab.cli.main import parser
from lab.design.pace import Pace
from lab.results.run_folder import RunFolder
from lab.run import lifecycle
from lab.run.begin import pace
from lab.run.runner import Ending

pytestmark = pytest.mark.usefixtures("empty_figures")


@pytest.fixture
def folder() -> RunFolder:
    return write_run(Path("mine"), make_trials(2, combinations=[("smb", "cp")]))


@pytest.mark.parametrize("line", ["show", "show -1", "show synthetic --json", "report", "compare -2 -1", "list --json"])
def test_runs_are_read_from_the_folder_that_is_named(lab: Lab, folder: RunFolder, line: str) -> None:
    words = shlex.split(line)
    if words[0] == "compare":
        write_run(Path("mine"), make_trials(2, combinations=[("smb", "cp")]))
    code, out, err = lab(*words, "--results", "mine")
    assert (code, err.startswith("replaced 2 names")) == (0, line == "report")
    assert folder.path.name in out or words[0] == "compare"
    assert lab(*words, "--results", "other")[0] == (0 if words[0] == "list" else 2)
    assert not Path("results").exists()


def test_a_run_and_its_pace_are_there(done: Command, monkeypatch: pytest.MonkeyPatch, folder: RunFolder) -> None:
    check, start = Mock(return_value=([], {})), Mock(return_value=(folder, Ending("", 0)))
    newest = Mock(return_value=Pace())
    for module, name, mock in ((doctor, "check", check), (lifecycle, "start", start), (pace, "newest", newest)):
        monkeypatch.setattr(module, name, mock)
    write("a.toml", SWEEP)
    for line in ("run a.toml", "plan a.toml", "check --jumbo"):
        done(*line.split(), "--results", "mine")
    for mock, at in ((start, 2), (newest, 0), (check, 1)):
        assert [call.args[at] for call in mock.call_args_list] == [Path("mine")]


def test_a_run_to_resume_or_restore_is_found(lab: Lab, monkeypatch: pytest.MonkeyPatch, folder: RunFolder) -> None:
    resume = Mock(return_value=(folder, Ending("", 0)))
    monkeypatch.setattr(lifecycle, "resume", resume)
    assert lab("run", "--resume", "synthetic", "--results", "mine")[0] == 0
    resume.return_value = (folder, Ending("", 3, to_retry=2))
    code, _, err = lab("run", "--resume", "synthetic", "--retry-failed", "--results", "mine")
    assert code == 1, "failed trials of the first part count"
    assert f"3 trials failed or are void: `lab show {folder.path} --table lost` lists them\n" in err
    assert f"2 failed: `lab run --resume {folder.path} --retry-failed` measures them again\n" in err
    assert [call.args[1] for call in resume.call_args_list] == [folder.path] * 2
    assert [call.args[2].retry_failed for call in resume.call_args_list] == [False, True]
    assert lab("restore", "-1", "--results", "mine")[2].startswith(f"{folder.path}: ")


WITH_HOSTS = ("check", "plan a.toml", "run a.toml", "run --resume -1", "run --resume -1 --trust", "restore",
              "restore -1 --trust", "fidelity")  # fmt: skip


def test_these_are_all_commands_with_both_options() -> None:
    (commands,) = (action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    options = {name: command._option_string_actions.keys() for name, command in commands.items()}
    both = {name for name, known in options.items() if known >= {"--hosts", "--results"}}
    assert both == {line.split()[0] for line in WITH_HOSTS}


@pytest.mark.parametrize("line", WITH_HOSTS)
def test_a_hosts_file_among_these_results_is_not_read(refused: Command, folder: RunFolder, line: str) -> None:
    write("a.toml", SWEEP)
    write("mine/hosts.ini", HOSTS)
    message = "among results, and those may be somebody else's: it is not read"
    assert message in refused(*line.split(), "--results", "mine", "--hosts", "mine/hosts.ini")


@pytest.mark.parametrize("line", ["check", "run a.toml"])
def test_nor_is_the_default(refused: Command, monkeypatch: pytest.MonkeyPatch, folder: RunFolder, line: str) -> None:
    write("mine/a.toml", SWEEP)
    write("mine/hosts.ini", HOSTS)
    monkeypatch.chdir("mine")
    err = refused(*line.split(), "--results", ".")
    assert ("hosts.ini: lies in " in err, "among results" in err) == (True, True)
