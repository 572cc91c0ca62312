"""What a Linux host says of its TCP buffers."""

from __future__ import annotations

import pytest
from support.fake_host import FakeHost

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms.linux.platform import Linux
from lab.run.transfer.in_effect import not_in_effect

AUTOTUNED = {"tcp_rmem": "4096\t131072\t6291456", "tcp_wmem": "4096\t16384\t4194304"}


def test_the_largest_buffers_are_what_bounds_a_connection() -> None:
    assert Linux(FakeHost("client")).settings.tcp_buffers_in(AUTOTUNED) == (6291456, 4194304)


@pytest.mark.parametrize("state", [{}, AUTOTUNED | {"tcp_wmem": "4096\t16384"}, AUTOTUNED | {"tcp_rmem": "1\t2\tx"}])
def test_buffers_that_cannot_be_read_are_an_error_of_their_host(state: dict[str, str]) -> None:
    case = Case("smb", "cp", Direction.WRITE, 1500, 65536, "ram", "file", 1000)
    linux = Linux(FakeHost("client"))
    with pytest.raises(LabFailure, match="client: the TCP buffers cannot be read from"):
        not_in_effect(case, {Role.CLIENT: state | {"mtu": "1500"}}, {Role.CLIENT: linux.settings.tcp_buffers_in})
