"""What a failed transfer says of its cause."""

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from lab.base.errors import CommandError, LabFailure, TransferError
from lab.design.case import Case
from lab.design.factors import Direction
from lab.results.together import Together
from lab.run.transfer.several_clients import SomeFailed
from lab.run.transfer.transfer import transfer

CASE = Case("smb", "cp", Direction.WRITE, 1500, "default", "ram", "file", 1)
FAILED = TransferError("cp: exit code 1: Input/output error", "look there", host="client")
REFUSED = CommandError("client", ["gio", "mount"], 2, "gio: Connection refused")


SMBD = SimpleNamespace(name="process smbd", host="server")


def fail(error: LabFailure, ended: Any) -> LabFailure:
    """What is raised of it, where that process ended meanwhile."""

    def set_up(_: Case) -> NoReturn:
        raise error

    session: Any = SimpleNamespace(set_up=set_up, settings=SimpleNamespace(find_ended=lambda *_: ended))
    with pytest.raises(LabFailure) as raised:
        transfer(session, CASE, "b001-0001", 60.0)
    return raised.value


def test_the_process_that_ended_comes_first() -> None:
    told = "server: process smbd ended during the transfer; cp: exit code 1: Input/output error: look there"
    assert str(fail(FAILED, SMBD)) == told
    assert str(fail(REFUSED, SMBD)).startswith("server: process smbd ended during the transfer; gio mount: exit code 2")


def test_where_all_run_it_says_what_it_said() -> None:
    assert fail(FAILED, None) is FAILED


def test_of_several_clients_the_numbers_of_the_others_stay() -> None:
    together = Together(skew_s=0.1)
    raised = fail(SomeFailed(FAILED, together), SMBD)
    assert isinstance(raised, SomeFailed)
    assert raised.together is together
    assert raised.message.startswith("process smbd ended")
