"""Clocks that somebody sets in the middle of a transfer, on hosts with kernels, and thus clocks, of their own."""

import pytest
from support.guests import MIB, left
from support.local_lab import Bench


@pytest.mark.parametrize(
    ("host", "program", "received_bytes", "ahead", "back"),
    [("client", "^cp$", MIB // 64, "+1 day", "-1 day"), ("server", "^smbd$", 4 * MIB, "-1 day", "+1 day")],
)
def test_a_clock_that_is_set_costs_no_trial_and_nothing_stays_changed(
    guests: Bench, host: str, program: str, received_bytes: int, ahead: str, back: str
) -> None:
    """The lease, which a clock must not end, takes back what the run changed: then its trials would fail."""
    before, day = left(guests), guests.inside(host, "date +%j")
    strike = guests.strike_under_way(program, received_bytes, "date", "-s", ahead, host=host)
    with guests.started(*strike) as clock:
        done = guests.run(protocol=["smb", "nfs"], tool=["cp"], mtu=[9000], size="32 MiB", direction=["write"])
        assert clock.wait(300) == 0
    moved = guests.inside(host, "date +%j") != day
    guests.inside(host, f'date -s "{back}"')
    assert moved
    assert done.returncode == 0, done.stdout + done.stderr
    assert [trial["status"] for trial in guests.trials()] == ["ok", "ok"]
    assert left(guests) == before
