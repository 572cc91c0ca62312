"""Counts around a transfer: what grew, and what can only have begun again."""

from __future__ import annotations

import pytest
from fakes import FakeHost

from lab.errors import LabFailure, TransferError
from lab.platforms import Counters
from lab.platforms.linux import Linux

BEFORE = Counters(1000, 2000, 5.0, 7)


def test_what_was_counted_is_the_difference() -> None:
    state = {"mtu": "1500"}
    assert Counters(1500, 2001, 5.5, 7, state).since(BEFORE) == Counters(500, 1, 0.5, 0, state)


def test_an_interface_that_began_again_fails_the_trial() -> None:
    with pytest.raises(LabFailure, match="it was reset during the transfer"):
        Counters(1500, 3, 5.5, 7).since(BEFORE)


def test_counts_that_are_missing_or_went_back_are_not_known() -> None:
    grown = Counters(1500, 2500, 4.9, 6).since(BEFORE)
    assert (grown.cpu_s, grown.retransmits) == (None, None)
    assert Counters(1500, 2500, None, None).since(BEFORE) == Counters(500, 500, None, None)


REPORT = """\
clock wall
before.tx_bytes 0
before.rx_bytes 0
after.tx_bytes 9
after.rx_bytes 9
elapsed_s {seconds}
exit 0
flushed fsync
"""


@pytest.mark.parametrize("seconds", ["0", "-3599.2"])
def test_a_clock_that_was_set_back_fails_the_trial(seconds: str) -> None:
    host = FakeHost()
    host.on(("perl", "/tmp/lab/stopwatch.pl", "eth0", "", "cp", "a", "b"), REPORT.format(seconds=seconds))
    platform = Linux(host)
    platform.directory = "/tmp/lab"
    with pytest.raises(TransferError, match="the clock was set back"):
        platform.timed("eth0", "", ("cp", "a", "b"), 10)
