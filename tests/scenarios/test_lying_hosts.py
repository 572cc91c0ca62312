"""Whatever a host says, there is no traceback, nothing runs or is written here, and results and terminal stay clean."""

import json
import os
import re
from pathlib import Path

import pytest
from support.local_lab import Bench
from support.lying_host import BAIT, lying

from lab.cli import main as cli
from lab.results.run_folder import RunFolder

FIRST, COUNT = (int(number) for number in os.environ.get("LAB_LIES", "1:1").split(":"))
SWEEP = {"size": "1 MiB", "protocol": ["smb", "ssh"], "tool": ["rsync"], "direction": ["write"]}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
@pytest.mark.usefixtures("clean_hosts")
def test_a_lying_host_gets_nowhere(
    liar: Bench, seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(liar.directory)
    for name, value in liar.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("lab.base.signals.install", lambda: None)  # `lab` is not the main program here
    sweep, before = str(liar.sweep(**SWEEP)), files(liar.directory)
    with lying(seed) as lies:
        codes = [cli.main([*command, "--hosts", "hosts.changed.ini"]) for command in (["run", sweep], ["check"])]
    story = "\n".join(lies)
    printed = capsys.readouterr()
    assert set(codes) <= {0, 1, 2}, story
    assert "Traceback" not in printed.err, story
    assert not CONTROL.search(printed.out + printed.err), story
    assert len(printed.out + printed.err) < 100_000, story
    new = {path for path in files(liar.directory) - before if not re.match(r"results(/[^/]+(/[^/]+)?)?$", path)}
    assert not new, story
    assert not [path for path in ("/tmp", str(Path.home())) if (Path(path) / BAIT).exists()], story
    for path in (liar.directory / "results").glob("*/run.json"):
        check_results(RunFolder(path.parent), capsys)


def check_results(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    """The run can be shown, and trials that are ok have possible speeds."""
    for trial in folder.trials():
        if trial.status == "ok" and trial.elapsed_s:
            assert trial.size_bytes / trial.elapsed_s < 125e9
    if folder.trials():
        assert cli.main(["show", str(folder.path)]) == 0
        assert not CONTROL.search(capsys.readouterr().out)
        assert cli.main(["show", "--json", str(folder.path)]) == 0
        json.loads(capsys.readouterr().out)
