"""Counts around a transfer: what grew, and what can only have begun again."""

from dataclasses import replace

import pytest
from support.emulated_mac import capture
from support.fake_host import FakeHost
from support.stopwatch import REPORT

from lab.base.errors import LabFailure, TransferError
from lab.platforms import Counters
from lab.platforms.macos import clock
from lab.platforms.macos.platform import MacOS
from lab.platforms.timing import Moved

BEFORE = Counters(1000, 2000, 5.0, 7)


def test_counts_are_subtracted_for_each_interface_and_one_that_began_again_fails_the_trial() -> None:
    state = {"mtu": "1500"}
    assert Counters(1500, 2001, 5.5, 7, state).since(BEFORE) == Counters(500, 1, 0.5, 0, state)
    before, now = replace(BEFORE, carrier_changes=3), replace(BEFORE, carrier_changes=5)
    assert (now.since(before).carrier_changes, now.since(BEFORE).carrier_changes) == (2, None)
    grown = Counters(1500, 2500, 4.9, 6).since(BEFORE)
    assert (grown.cpu_s, grown.retransmits) == (None, None)
    assert Counters(1500, 2500, None, None).since(BEFORE) == Counters(500, 500, None, None)
    before = replace(BEFORE, others={"en1": Moved(100, 200), "en2": Moved(10**9, 0)})
    others = {"en1": Moved(150, 200), "en2": Moved(7, 8), "en3": Moved(1, 2)}
    assert replace(BEFORE, others=others).since(before).others == others | {"en1": Moved(50, 0)}
    with pytest.raises(LabFailure, match="it was reset during the transfer"):
        Counters(1500, 3, 5.5, 7).since(BEFORE)


COUNTS = "".join(
    f"{when}|{line}\n"
    for when in ("before", "after")
    for line in (
        "clock:1.5",
        *(f"vm_stat:{line}" for line in capture("vm_stat-16k-pages.txt").splitlines()),
        *(f"netstat:{line}" for line in capture("netstat-en0.txt").splitlines()),
        "sysctl:net.inet.tcp.sendspace: 131072",
        "sysctl:net.inet.tcp.recvspace: 131072",
    )
)
TCP = """\
tcp:
\t51848278 packets sent
\t\t46007627 data packets (3984696233 bytes)
\t\t{} data packets ({} bytes) retransmitted
\t\t0 resends initiated by MTU discovery
"""


def asked(host: FakeHost, seconds: str, *resent: int) -> MacOS:
    """A Mac that transfers for so long, and has sent so many segments again before and after."""
    for number in resent:
        host.on(("netstat", "-s", "-p", "tcp"), TCP.format(number, number * 1448), root=True)
    report = REPORT.format(counts=COUNTS, seconds=seconds)
    host.on(("perl", "/tmp/lab/stopwatch.pl", "en0", "", "", "", "cp", "a", "b"), report)
    platform = MacOS(host)
    platform.clock.directory = "/tmp/lab"
    return platform


@pytest.mark.parametrize("seconds", ["0", "-3599.2"])
def test_a_clock_that_was_set_back_fails_the_trial(seconds: str) -> None:
    platform = asked(FakeHost(), seconds, 16916)
    with pytest.raises(TransferError, match="the clock was set back"):
        platform.clock.time_transfer("en0", "", ("cp", "a", "b"), 10)


def test_on_a_mac_what_was_sent_again_is_asked_as_root_around_the_transfer() -> None:
    host = FakeHost()
    timing = asked(host, "2.5", 16916, 16921).clock.time_transfer("en0", "", ("cp", "a", "b"), 10)
    assert (timing.counted.retransmits, timing.counted.cpu_s, timing.tool_cpu_s) == (5, None, 0.25)
    assert host.sent[0] == host.sent[2] == ("netstat", "-s", "-p", "tcp")


def test_tcp_counts_that_are_all_zero_are_not_known() -> None:
    assert clock.parse_resent(TCP.format(16916, 21095873)) == 16916
    assert clock.parse_resent("tcp:\n\t1 packet sent\n\t\t1 data packet (1 byte) retransmitted\n") == 1
    assert clock.parse_resent("tcp:\n\t0 packets sent\n\t\t0 data packets (0 bytes) retransmitted\n") is None
    assert clock.parse_resent("") is None
