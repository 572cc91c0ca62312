"""Every kind of lie at each command of a sweep, for each protocol. Takes an hour."""

import pytest
from breadth.test_lies_at_each_command import check_lies
from scenarios.test_lying_hosts import SWEEP
from support.local_lab import Bench


@pytest.mark.parametrize("protocols", [("smb", "ssh"), ("nfs", "afp")])
@pytest.mark.usefixtures("clean_hosts")
def test_no_lie_at_any_command_gets_anywhere(
    liar: Bench, protocols: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_lies(liar, True, monkeypatch, capsys, **SWEEP | {"protocol": list(protocols)})
