"""A user without rights on hosts with kernels of their own, which may or may not keep root from others' links."""

from __future__ import annotations

import pytest
from support.attackers import attacked, of_root
from support.local_lab import HOSTS, Bench

pytestmark = pytest.mark.guests  # on every backend some minutes


@pytest.mark.parametrize("value", ["0", "1"])
@pytest.mark.parametrize("attack", ["first", "swap", "plant"])
def test_a_run_under_attack_gives_nothing_of_roots_away(guests: Bench, attack: str, value: str) -> None:
    for host in HOSTS:
        guests.inside(host, f"echo {value} > /proc/sys/fs/protected_symlinks")
    before = of_root(guests)
    with attacked(guests, attack) as booty:
        done = guests.run(protocol=["smb"], tool=["cp"], size="1 MiB", slowest=500_000)
        restored = guests.lab("restore", "--hosts", str(guests.hosts))
    assert of_root(guests) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
