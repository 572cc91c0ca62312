"""A user without rights gets nothing of root and plants no payload; no program or file of a sweep holds a password."""

import time
from pathlib import Path
from typing import Any

import pytest
from support.attackers import attacked, daemon_of_roots, planted, root_files
from support.local_lab import Bench
from support.other_servers import other_samba
from support.secret_watch import SECRET, assert_nowhere, forms, watch, watching


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("attack", ["swap"])
def test_a_run_under_attack_gives_nothing_of_roots_away(bench: Bench, attack: str) -> None:
    before = root_files(bench)
    with attacked(bench, attack) as booty:
        done = bench.run(protocol=["smb", "ssh"], store=["ram", "disk"], size="1 MiB")
        restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert root_files(bench) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert {trial["status"] for trial in bench.trials()} == {"ok"}
    assert "nothing is left" in restored.stdout, restored.stderr
    if attack == "first":
        assert not [line for line in booty if "/var/lib" in line], booty
    if attack != "plant":
        assert any("/tmp/file-share-lab" in line for line in booty), "the attacker was not at work"


@pytest.mark.parametrize("user", [65534, 1000])
def test_no_daemon_ends_because_one_of_its_processes_has_the_words_of_the_lab(bench: Bench, user: int) -> None:
    with daemon_of_roots(bench, "client", user):
        assert "nothing is left" in bench.check_output("restore", "--hosts", str(bench.hosts))


@pytest.mark.parametrize("writer", ["root"])
def test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there(bench: Bench, writer: str) -> None:
    with other_samba(bench, "media", writer=writer, mode="1777"):
        assert planted(bench, writer) == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_the_attacker_would_win_where_all_could_write_into_it(bench: Bench) -> None:
    """Otherwise the test above would prove nothing."""
    with other_samba(bench, "media", writer="root", mode="1777"):
        assert planted(bench, "root", before="chmod 1777 {folder}") != "theirs\n"


def test_it_is_in_no_words_and_no_file_of_a_whole_sweep(keeper: Bench, tmp_path: Path) -> None:
    since, seen = time.time(), watch(keeper)
    hosts = keeper.changed_hosts(share_password=f"file:{tmp_path / 'password'}")
    everything: dict[str, Any] = {"protocol": ["afp", "smb", "nfs", "ssh"], "tool": ["cp", "rsync"], "size": "1 MiB"}
    with watching(seen):
        done = keeper.run(hosts=hosts, **everything)
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in keeper.trials()])
    assert {"gio", "smbpasswd"} <= seen.names  # programs that get the password were looked at while they had it
    assert not [form for form in forms(SECRET) if form in (done.stdout + done.stderr).encode()]
    assert_nowhere(keeper, seen, since)
