"""A host that lies once in a sweep, at each command in turn. Hosts are replayed, so that a run takes a moment."""

import re

import pytest
from scenarios.test_lying_hosts import CONTROL, SWEEP, check_results, files
from support.local_lab import Bench
from support.replayed_hosts import Play

from lab.results.run_folder import RunFolder

SETTINGS = {"mtu": [9000], "tcp_space": ["64 KiB"]}


@pytest.mark.usefixtures("clean_hosts")
def test_a_lie_at_any_command_gets_nowhere(
    liar: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_lies(liar, False, monkeypatch, capsys, **SWEEP)


def check_lies(
    liar: Bench, is_every_kind: bool, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **factors: object
) -> None:
    """There is no traceback, no file elsewhere, no impossible trial that is ok, and the terminal stays clean."""
    patch.chdir(liar.directory)
    patch.setenv("XDG_STATE_HOME", str(liar.directory / "state"))
    patch.setattr("lab.base.signals.install", lambda: None)  # `lab` is not the main program here
    play = Play("run", "--hosts", "hosts.changed.ini", str(liar.sweep(**factors, **SETTINGS)))
    before, shown = files(liar.directory), set[str]()
    for lie in play.lies(is_every_kind):
        for folder in play.again(lie):
            printed = capsys.readouterr()
            assert "Traceback" not in printed.err, lie
            assert not CONTROL.search(printed.out + printed.err), lie
            assert len(printed.out + printed.err) < 100_000, lie
            path = folder / "trials.jsonl"
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if (trials := re.sub(r'"started_at": "[^"]*"', "", text)) not in shown:
                check_results(RunFolder(folder), capsys)
                shown.add(trials)
        assert files(liar.directory) == before, lie
