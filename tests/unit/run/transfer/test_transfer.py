"""What a failed transfer says of its cause."""

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from support.parts import case_of

from lab.base.errors import CommandError, LabFailure, TransferError
from lab.design.case import Case
from lab.results.together import Together
from lab.run.transfer.several_clients import SomeFailed
from lab.run.transfer.transfer import transfer

FAILED = TransferError("cp: exit code 1: Input/output error", "look there", host="client")
REFUSED = CommandError("client", ["gio", "mount"], 2, "gio: Connection refused")
SMBD = SimpleNamespace(name="process smbd", host="server")


def fail(error: LabFailure, ended: Any) -> LabFailure:
    """The error of a transfer during which the process ``ended``."""

    def set_up(_: Case) -> NoReturn:
        raise error

    session: Any = SimpleNamespace(set_up=set_up, settings=SimpleNamespace(find_ended=lambda *_: ended))
    with pytest.raises(LabFailure) as raised:
        transfer(session, case_of(), "b001-0001", 60.0)
    return raised.value


def test_the_process_that_ended_comes_first() -> None:
    message = "server: process smbd ended during the transfer; cp: exit code 1: Input/output error: look there"
    assert str(fail(FAILED, SMBD)) == message
    assert str(fail(REFUSED, SMBD)).startswith("server: process smbd ended during the transfer; gio mount: exit code 2")
    assert fail(FAILED, None) is FAILED


def test_the_numbers_of_the_other_clients_are_kept() -> None:
    together = Together(skew_s=0.1)
    raised = fail(SomeFailed(FAILED, together), SMBD)
    assert isinstance(raised, SomeFailed)
    assert (raised.together is together, raised.message.startswith("process smbd ended")) == (True, True)
