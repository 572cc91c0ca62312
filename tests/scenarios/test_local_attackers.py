"""A user without rights on both hosts, who attacks while the lab works as root there: he gets nothing of root's.

With both values of ``fs.protected_symlinks``, as far as this machine's may be raised; no Mac has it.
"""

import pytest
from support.attackers import attacked, daemon_of_roots, of_root
from support.local_lab import Bench


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("attack", ["swap"])
def test_a_run_under_attack_gives_nothing_of_roots_away(bench: Bench, attack: str) -> None:
    before = of_root(bench)
    with attacked(bench, attack) as booty:
        done = bench.run(protocol=["smb", "ssh"], store=["ram", "disk"], size="1 MiB")
        restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert of_root(bench) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert {trial["status"] for trial in bench.trials()} == {"ok"}
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
    if attack == "first":
        assert not [line for line in booty if "/var/lib" in line], booty
    if attack != "plant":
        assert any("/tmp/file-share-lab" in line for line in booty), "the attacker was not at work"


@pytest.mark.parametrize("user", [65534, 1000])
def test_no_daemon_ends_because_one_of_its_processes_has_the_words_of_the_lab(bench: Bench, user: int) -> None:
    with daemon_of_roots(bench, "client", user):
        restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
