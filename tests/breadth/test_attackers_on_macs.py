"""A user without rights on two Macs, who attacks while the lab works there: he gets nothing of root's.

No Mac keeps root from following the links of others. What this machine has of ``fs.protected_symlinks`` holds for
emulated ones too; where it is 1 this test proves less.
"""

import shutil
from collections.abc import Callable

import pytest
from support.attackers import ON_A_MAC, attacked, daemon_of_roots, of_root
from support.local_lab import Bench


@pytest.fixture(scope="module")
def pair(new_bench: Callable[..., Bench]) -> Bench:
    """Two Macs."""
    return new_bench("--platform", "macos@10.15")


@pytest.mark.parametrize("attack", ["first", "swap", "plant"])
def test_a_run_under_attack_gives_nothing_of_roots_away(pair: Bench, attack: str) -> None:
    shutil.rmtree(pair.directory / "results", ignore_errors=True)
    before = of_root(pair, ON_A_MAC)
    with attacked(pair, attack, ON_A_MAC) as booty:
        done = pair.run(protocol=["nfs", "ssh"], direction=["write"], size="1 MiB")
        restored = pair.lab("restore", "--hosts", str(pair.hosts))
    assert of_root(pair, ON_A_MAC) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert {trial["status"] for trial in pair.trials()} == {"ok"}
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
    if attack == "first":
        assert not [line for line in booty if "/private/var/db" in line], booty
    if attack != "plant":
        assert any("/tmp/file-share-lab" in line for line in booty), "the attacker was not at work"


@pytest.mark.parametrize("user", [65534, 502])
def test_no_daemon_ends_because_one_of_its_processes_has_the_words_of_the_lab(pair: Bench, user: int) -> None:
    with daemon_of_roots(pair, "client", user):
        restored = pair.lab("restore", "--hosts", str(pair.hosts))
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
