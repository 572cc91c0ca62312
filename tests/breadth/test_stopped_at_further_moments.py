"""A sweep that is stopped at moments that the scenarios leave out."""

import signal

import pytest
from scenarios.test_stopped_sweeps import test_stopped_at_any_moment_everything_is_put_back as stop
from support.local_lab import Bench

FURTHER = {
    signal.SIGINT: ("stopwatch.pl eth0", "smbd.process", "iperf3", '"$@" || :'),
    signal.SIGTERM: ("mkdir -m", "gvfsd-fuse", "smbd.process", "iperf3", '"$@" || :'),
}


@pytest.mark.parametrize(("number", "moment"), [(number, moment) for number in FURTHER for moment in FURTHER[number]])
def test_it_is_put_back_at_further_moments(bench: Bench, moment: str, number: signal.Signals) -> None:
    stop(bench, moment, number)
