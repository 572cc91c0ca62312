"""Runs that are restored from another folder."""

from pathlib import Path

from support.killed_runs import HOST_JOURNALS, elsewhere
from support.local_lab import HOSTS, Bench

from lab.hosts.hosts_file import load_hosts
from lab.hosts.ssh import connected
from lab.settings.host_journal import HostJournal


def test_a_run_is_restored_from_another_folder(bench: Bench, killed: Path, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    restored = elsewhere(bench, tmp_path, same_account=True).lab("restore")
    assert restored.returncode == 0, restored.stderr
    assert f"{killed}: " in restored.stdout
    assert "put back" in restored.stdout
    assert "nothing is left" in bench.lab("restore").stdout


def test_a_lock_that_an_ended_run_left_goes_when_the_hosts_are_asked(bench: Bench) -> None:
    """Without records, as a forged journal used to leave it."""
    with connected(load_hosts(bench.hosts)) as hosts:
        for one in hosts.values():
            HostJournal(one, "deadbeef", {"who": "a test", "pid": "1", "since": "now"}, 60).take()
    bench.wait_until_free()
    done = bench.lab("restore", "--hosts", str(bench.hosts))
    assert done.returncode == 0, done.stderr
    for host in HOSTS:
        assert bench.inside(host, HOST_JOURNALS) == ""
