"""Completion in real shells: bash and fish are asked what they would offer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import Lab
from support.paths import ROOT

from lab.base import shipped
from lab.cli.completion import SHELLS, script
from lab.cli.main import COMMANDS, parser

ASK_BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _shtab_lab
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
exit 0
"""
ASK_FISH = "source $argv[1]; complete --do-complete $argv[2]"
# The zsh line editor is not there: its functions say what they are given
ASK_ZSH = """
compdef() { }
_files() { print -r -- "files $*" }
compadd() { (( ${(P)#2} )) && print -rl -- ${(P)2} }
eval "$(<$1)"
words=("${@[2,-1]}")
_lab_runs
_lab_sweeps
"""
ELSEWHERE = "20300107T000000Z-elsewhere"
RUNS = ["20300101T000000Z-demo", "20300102T000000Z-macs"]
CASES = {
    "l": ["list", "local"], "show --ta": ["--table"],
    "show --table s": ["speeds", "shares", "settings", "store", "store-effects"], "show 2030": RUNS,
    "show --json 20300102": RUNS[1:], "run --resume 20300101": RUNS[:1], f"compare {RUNS[0]} 20300102": RUNS[1:],
    "show --results other 2030": [ELSEWHERE], "show --results ~/other 2030": [ELSEWHERE],
    "show --results none 2030": [], "plan sw": ["sweep.toml"], "plan ma": ["mac-volumes", "macs"],
    "show exam": sorted(shipped.examples()), "check --hosts hos": ["hosts.ini"], "local re": ["reboot"],
    "local up --kernel o": ["own"], "completion ": list(SHELLS),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with what can be completed, and with names that must be no commands."""
    names = (*RUNS, "20300103T000000Z-$(touch pwned)", "20300104T000000Z-`touch pwned`", "a b;touch pwned")
    for run in (*(f"results/{name}" for name in names), f"other/{ELSEWHERE}"):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "run.json").touch()
    (tmp_path / "results" / "20300105T000000Z-no-run").mkdir()
    for name in ("sweep.toml", "hosts.ini", "notes.txt"):
        (tmp_path / name).touch()
    return tmp_path


def offered(*command: str | Path) -> list[str]:
    """What a shell prints, each once."""
    environment = os.environ | {"HOME": str(Path.cwd()), "XDG_CONFIG_HOME": str(Path.cwd())}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert done.stderr == ""
    return list(dict.fromkeys(line.split("\t")[0] for line in done.stdout.splitlines()))


def completed(place: Path, shell: str, *words: str) -> list[str]:
    """What a shell offers for the last word of a command. In zsh, the runs and sweeps that it would offer."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    path = place / f"lab.{shell}"
    path.write_text(script(shell, parser()))
    if shell == "bash":
        return offered("bash", "-c", ASK_BASH, "bash", path, *words)
    if shell == "fish":
        return offered("fish", "-c", ASK_FISH, path, " ".join(words))
    return offered("zsh", "-f", "-c", ASK_ZSH, "zsh", path, *words)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_and_its_shell_can_read_it(lab: Lab, tmp_path: Path, shell: str) -> None:
    code, out, err = lab("completion", shell)
    assert (code, err) == (0, "")
    assert "_lab_run" in out
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(out)
        assert offered(shell, "-n", path) == []


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize("line", CASES)
def test_a_shell_completes(place: Path, shell: str, line: str) -> None:
    assert sorted(completed(place, shell, "lab", *line.split(" "))) == sorted(CASES[line])
    assert not (place / "pwned").exists()


def test_bash_knows_every_command_and_runs_no_name(place: Path) -> None:
    assert completed(place, "bash", "lab", "") == list(COMMANDS)
    names = completed(place, "bash", "lab", "show", "")
    assert sorted(names) == sorted([*RUNS, *shipped.examples(), "other", "results"])
    assert not (place / "pwned").exists()


def test_fish_knows_the_folder_of_runs_that_follows_an_equals_sign(place: Path) -> None:
    assert completed(place, "fish", "lab", "show", "--results=other", "2030") == [ELSEWHERE]


def test_zsh_is_given_sweeps_and_runs_of_the_folder_that_the_line_names(place: Path) -> None:
    for options in ("--results other", "--results ~/other", "--results=other"):
        names = completed(place, "zsh", "lab", "show", *options.split(), "")
        assert (ELSEWHERE in names, {*RUNS} & {*names}) == (True, set()), options
    names = completed(place, "zsh")
    assert {*RUNS, *shipped.examples(), *shipped.sweeps(), "files -/", "files -g *.toml"} < set(names)
    assert "20300105T000000Z-no-run" not in names
    assert not (place / "pwned").exists()


def test_the_functions_of_shells_are_part_of_the_package() -> None:
    """Whatever the wheel has beside modules is named in pyproject.toml."""
    assert '"cli/completion.*sh"' in (ROOT / "pyproject.toml").read_text()
    assert sorted(path.suffix for path in (ROOT / "lab/cli").glob("completion.*sh")) == [".bash", ".fish", ".zsh"]
