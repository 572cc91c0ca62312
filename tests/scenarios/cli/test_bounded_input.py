"""A megabyte of anything, as a sweep, a hosts file or a run folder, costs seconds and says in a line what is wrong.

Each command has limits of memory and processor time, far above the aim of 2 s and 200 MB: the machine may be slow.
"""

import json
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.input_files import HOSTS, SWEEP
from support.lab_server import lab_server
from support.paths import ROOT
from support.synthetic_runs import RUN, trial

from lab.local import state

MIB = 1 << 20
# seconds, and bytes of address space, of which numerical libraries reserve much and use little
LIMITS = {resource.RLIMIT_CPU: 60, resource.RLIMIT_AS: 3 << 30}

SWEEPS: dict[str, tuple[str, str]] = {
    "dots in a key": ("a." * 50_000 + "a = 1\n", "line 1: more than 200 dots"),
    "dots in many keys": ("".join(f"{'a.' * 190}k{i} = 1\n" for i in range(320)), "[a]: unknown"),
    "dotted keys": ("".join(f"a.k{i} = 1\n" for i in range(50_000)), "characters: at most 131,072|larger than 128 KiB"),
    "a megabyte": ("#" * MIB, "larger than 128 KiB"),
    "tables": ("".join(f"[t{i}]\n" for i in range(12_000)), "and 11,983 more"),
    "unknown keys": ("".join(f"k{i}=1\n" for i in range(12_000)), "and 11,983 more"),
    "deep lists": ("a = " + "[" * 100_000, "not valid TOML"),
    "deep tables": ("a = " + "{a=" * 40_000, "not valid TOML"),
    "a long name": (SWEEP.replace("smb", "s" * 100_000), "unknown protocol 'sss"),
    "options": (SWEEP + "".join(f"smb.o{i}=[1]\n" for i in range(8000)), "smb.o0: unknown"),
    "effects": (f"effects = {[f'e{i}' for i in range(10_000)]}\n{SWEEP}", "'e0' is no effect"),
    "the same effects": (f"effects = {['mtu'] * 10_000}\n{SWEEP}mtu = [1500, 9000]\n", "an effect twice"),
    "a long key": (f"{'k' * 100_000} = 1\n{SWEEP}", "kkk"),
    "levels": (f"{SWEEP}placebo = {[f'p{i}' for i in range(9000)]}\n", "placebo: 9,000 levels: at most 100"),
    "cases": (
        f"{SWEEP}placebo = {[f'p{i}' for i in range(90)]}\nmtu = {list(range(1000, 1090))}\n", "more than 1,000 cases",
    ),
}  # fmt: skip
HOSTS_FILES: dict[str, tuple[str, str]] = {
    "a megabyte of sections": ("".join(f"[s{i}]\n" for i in range(110_000)), "larger than 128 KiB"),
    "sections": ("".join(f"[s{i}]\n" for i in range(12_000)), "and 11,983 more"),
    "keys": (HOSTS + "".join(f"k{i}=1\n" for i in range(12_000)), "and 11,980 more"),
    "a value": (HOSTS.replace("mac.example", "x" * 120_000), "hosts.ini: "),
    "brackets": (HOSTS + "[" * 120_000, "neither [section] nor"),
}


def line(**changes: Any) -> str:
    return json.dumps(trial().to_json() | changes) + "\n"


def lines(change: Callable[[int], dict[str, Any]], count: int = 1000) -> str:
    return "".join(line(trial_id=f"t{i}", case_id=f"c{i}", position=i + 1, **change(i)) for i in range(count))


def names(count: int) -> dict[str, str]:
    return {f"name{i}": "x" for i in range(count)}


def some_of_a_grid_of_four(i: int) -> dict[str, Any]:
    """Each of four options has one of 30 levels: 35 s and 1.2 GB before there was a bound."""
    chance = random.Random(i)
    return {"protocol": "smb", "options": {f"smb.o{number}": str(chance.randrange(30)) for number in range(4)}}


TRIALS: dict[str, tuple[Callable[[], str], str]] = {
    "a protocol": (lambda: line(protocol="p" * 100_000), "line 1: protocol cannot be 'ppp"),
    "options": (lambda: line(options=names(20_000)), "line 1: options cannot be {'name0"),
    "a level": (lambda: line(options={"placebo": "p" * 100_000}), "line 1: options cannot be"),
    "keys": (lambda: json.dumps(json.loads(line()) | names(50_000)) + "\n", "and 49,990 more"),
    "a line": (lambda: line(reason="r" * 3 * MIB), "a line of more than 1024 KiB"),
    "no line end": (lambda: "x" * 5 * MIB, "a line of more than 1024 KiB"),
    "options of mounts": (lambda: lines(lambda i: {"options": {f"smb.o{i}": "x"}}), "different options of mounts"),
    "cases": (lambda: lines(lambda i: {"mtu": 1000 + i}, 1400), "the run has 1,400 different cases: at most 1,000"),
    "levels": (lambda: lines(lambda i: {"mtu": 1000 + i}), "levels of mtu: at most 100"),
    "levels of four factors": (lambda: lines(some_of_a_grid_of_four), "combinations of two levels: at most 1,100"),
    "long levels": (lambda: lines(lambda i: {"protocol": f"{i}{'p' * 190}"}), "levels of protocol: at most 100"),
    "a digit": (lambda: line().replace('"mtu": 1500', f'"mtu": {"9" * 900_000}'), "line 1: not a trial"),
    "brackets": (lambda: "[" * 900_000 + "\n", "line 1: not a trial: brackets"),
}
RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "keys": (names(50_000), "keys: at most 100"),
    "facts": ({"hosts": {"client": names(50_000)}}, "hosts: more than 100 hosts, or facts"),
    "cases left out": ({"left_out": {name: name for name in names(40_000)}}, "left_out: 40,000 cases: at most 1,000"),
    "hosts": ({"hosts": {name: {} for name in names(30_000)}}, "hosts: more than 100 hosts, or facts"),
    "a name": ({"name": "n" * 900_000}, "name has 900,000 characters: at most 2,000"),
    "a title": ({"title": "n" * 900_000}, "title has 900,000 characters: at most 2,000"),
    "a megabyte and more": ({"sweep_text": "t" * 9 * MIB}, "larger than 8192 KiB"),
}


def lab(folder: Path, *argv: str) -> tuple[int, str, str]:
    """Run a command as a person does, with limits; exit code, standard output, standard error."""

    def limit() -> None:
        for kind, most in LIMITS.items():
            resource.setrlimit(kind, (most, most))

    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    if sys.platform == "linux":  # a fork of a process with all imports: a new process needs two seconds to start
        done = lab_server().run(argv, folder, 600, environment, LIMITS)
    else:
        command, options = [sys.executable, "-m", "lab", *argv], {"capture_output": True, "text": True}
        done = subprocess.run(command, cwd=folder, env=environment, check=False, preexec_fn=limit, **options)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def assert_refused(folder: Path, refusal: str, *argv: str) -> None:
    code, _, error = lab(folder, *argv)
    assert code == 2, error[-500:]
    assert any(words in error for words in refusal.split("|")), error[:500]
    assert len(error) < 5000
    assert max(map(len, error.splitlines())) < 600


def write_run(folder: Path, trials: str, **run: Any) -> None:
    (folder / "run").mkdir()
    (folder / "run" / "run.json").write_text(json.dumps({"schema": 2, "name": "x", **RUN, **run}))
    (folder / "run" / "trials.jsonl").write_text(trials)


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep(tmp_path: Path, name: str) -> None:
    text, refusal = SWEEPS[name]
    (tmp_path / "a.toml").write_text(text)
    assert_refused(tmp_path, refusal, "plan", "a.toml")


@pytest.mark.parametrize("name", HOSTS_FILES)
def test_a_hosts_file(tmp_path: Path, name: str) -> None:
    text, refusal = HOSTS_FILES[name]
    (tmp_path / "a.toml").write_text(SWEEP)
    (tmp_path / "hosts.ini").write_text(text)
    assert_refused(tmp_path, refusal, "plan", "a.toml", "--hosts", "hosts.ini")


@pytest.mark.parametrize("name", TRIALS)
def test_trials(tmp_path: Path, name: str) -> None:
    make, refusal = TRIALS[name]
    write_run(tmp_path, make())
    for command in ("show", "report"):
        assert_refused(tmp_path, refusal, command, "run")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_json(tmp_path: Path, name: str) -> None:
    run, refusal = RUNS[name]
    write_run(tmp_path, line(), **run)
    assert_refused(tmp_path, refusal, "show", "run")


def test_a_megabyte_of_different_cases_is_shown_compared_and_reported(tmp_path: Path) -> None:
    """As many cases as a sweep may have, in the fewest bytes. Figures draw some rows: all took 18 s of a processor."""
    write_run(tmp_path, lines(lambda i: {"mtu": 1000 + i % 25, "options": {"placebo": f"p{i // 25}"}}))
    shutil.copytree(tmp_path / "run", tmp_path / "again")
    for command in ("show run", "show run --full", "show run --json", "compare run again"):
        code, out, error = lab(tmp_path, *command.split())
        count = "1000 cases" if command == "show run" else "1001"
        assert (code, count in out, error) == (0, True, "")
    assert lab(tmp_path, "report", "run")[0] == 0
    drawings = {path.stem: path.read_text() for path in (tmp_path / "run" / "report" / "figures").glob("*.svg")}
    for name in ("throughput", "cpu_cost", "effects", "interactions"):
        assert "rows drawn: " in drawings[name], name
    assert max(map(len, drawings.values())) < MIB


def test_megabytes_of_unknown_counters_are_in_no_table_and_refused_as_columns(tmp_path: Path) -> None:
    """As columns of a table they would be 200 million cells."""
    write_run(tmp_path, lines(lambda i: {"observed": {f"{i}.{number}": 1 for number in range(200)}}), finished_at="now")
    assert lab(tmp_path, "report", "run")[0] == 0
    for command in (("export", "run", "--to", "csv"), ("dataset", "add", "run")):
        assert_refused(tmp_path, "names of what was observed or in effect: at most 1,000", *command)


def test_a_reason_may_be_as_long_as_a_line(tmp_path: Path) -> None:
    write_run(tmp_path, line(reason="r" * 900_000, status="failed", elapsed_s=None) + line(trial_id="b"))
    for command in ("show", "report"):
        assert lab(tmp_path, command, "run")[0] == 0


def test_the_state_of_a_local_lab_is_of_one_with_a_name() -> None:
    """A run folder names the lab whose state `lab restore` looks for."""
    with pytest.raises(Exception, match="cannot name a lab"):
        state.load("../../tmp/mine")
