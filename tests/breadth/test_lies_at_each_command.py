"""A host that lies once in a sweep, at each command in turn. Hosts are replayed, so that a run takes a moment."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from scenarios.test_lying_hosts import CONTROL, SWEEP, check_results, files
from support.lies_in_turn import Play, in_turn
from support.local_lab import Bench

from lab.results.run_folder import RunFolder

SETTINGS = {"mtu": [9000], "tcp_space": ["64 KiB"]}


@pytest.mark.usefixtures("clean_hosts")
def test_a_lie_at_any_command_gets_nowhere(
    liar: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_lies(liar, in_turn, monkeypatch, capsys, **SWEEP)


def read(folder: Path) -> str:
    trials = folder / "trials.jsonl"
    return trials.read_text(encoding="utf-8") if trials.exists() else ""


def check_lies(
    liar: Bench,
    kinds: Callable[[int], tuple[str, ...]],
    patch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    **factors: object,
) -> None:
    """No traceback, nothing written elsewhere, no trial that is ok and cannot be, and a clean terminal."""
    patch.chdir(liar.directory)
    patch.setenv("XDG_STATE_HOME", str(liar.directory / "state"))
    patch.setattr("lab.base.signals.install", lambda: None)  # it is not the main program here
    play = Play("run", "--hosts", "hosts.changed.ini", str(liar.sweep(**factors, **SETTINGS)))
    before, shown = files(liar.directory), set[str]()
    for lie in play.lies(kinds):
        for folder in play.again(lie):
            printed = capsys.readouterr()
            assert "Traceback" not in printed.err, lie
            assert not CONTROL.search(printed.out + printed.err), lie
            assert len(printed.out + printed.err) < 100_000, lie
            if (trials := re.sub(r'"started_at": "[^"]*"', "", read(folder))) not in shown:
                check_results(RunFolder(folder), capsys)
                shown.add(trials)
        assert files(liar.directory) == before, lie
