"""A user without rights on hosts with kernels of their own, which may or may not keep him and root from links.

With 0 root follows others' symbolic links in folders for all, and anybody may give any file another name, also one that
he may not read: as on a Mac, which has neither guard.
"""

import pytest
from support.attackers import NOBODY, attacked, planted, root_files
from support.local_lab import HOSTS, Bench
from support.other_servers import other_samba

AS_NOBODY = " ".join(NOBODY)
HARD_LINK = f"{AS_NOBODY} ln /etc/shadow /var/tmp/shadow 2>/dev/null && echo linked; rm -f /var/tmp/shadow"


def guard(guests: Bench, value: str) -> None:
    """Make both kernels guard their users from links, or not."""
    for host in HOSTS:
        guests.inside(host, f"cd /proc/sys/fs && echo {value} | tee protected_symlinks > protected_hardlinks")
        assert ("linked" in guests.inside(host, HARD_LINK)) == (value == "0")


@pytest.mark.parametrize("value", ["0", "1"])
@pytest.mark.parametrize("attack", ["first", "swap", "plant"])
def test_a_run_under_attack_gives_nothing_of_roots_away(guests: Bench, attack: str, value: str) -> None:
    guard(guests, value)
    before = root_files(guests)
    with attacked(guests, attack) as booty:
        done = guests.run(protocol=["smb"], tool=["cp"], size="1 MiB", slowest=500_000)
        restored = guests.lab("restore", "--hosts", str(guests.hosts))
    assert root_files(guests) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr


@pytest.mark.parametrize("plant", ["ln -s", "ln"])
def test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there(guests: Bench, plant: str) -> None:
    guard(guests, "0")
    with other_samba(guests, "media", writer="root", mode="1777"):
        assert planted(guests, "root", plant) == "theirs\n"
    assert [trial["status"] for trial in guests.trials()] == ["ok"]


def test_a_hard_link_would_win_where_all_could_write_into_it(guests: Bench) -> None:
    """Otherwise the test above would prove nothing of hard links."""
    guard(guests, "0")
    with other_samba(guests, "media", writer="root", mode="1777"):
        assert planted(guests, "root", "ln", before="chmod 1777 {folder}") != "theirs\n"
