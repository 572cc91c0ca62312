"""The scenarios' recoveries over further protocols and transports, at further moments, and from other folders."""

import signal
from pathlib import Path

from scenarios import test_dead_servers as dead_servers
from scenarios import test_failed_trials as failed_trials
from scenarios import test_hosts_left_alone as left_alone
from scenarios import test_recovery as recovery
from scenarios import test_several_clients as several_clients
from support.again import again
from support.killed_runs import HOST_JOURNALS, elsewhere
from support.local_lab import HOSTS, Bench

from lab.hosts.hosts_file import load_hosts
from lab.hosts.ssh import connected
from lab.settings.host_journal import HostJournal

FURTHER = {
    signal.SIGINT: ("stopwatch.pl eth0", "smbd.process", "iperf3", '"$@" || :'),
    signal.SIGTERM: ("mkdir -m", "gvfsd-fuse", "smbd.process", "iperf3", '"$@" || :'),
}

test_a_link_that_is_down_is_taken_back = again(left_alone.test_a_host_undoes_what_cuts_it_off, "change", "down")
test_an_unplugged_controller = again(left_alone.test_a_host_undoes_what_a_lost_controller_did, "how", "unplugged")
test_a_sudo_password_over_ssh = again(failed_trials.test_an_ordinary_user_with_a_sudo_password, "protocol", "ssh")
test_a_sweep_over_its_link_by_openssh = again(recovery.test_a_sweep_over_the_link_it_changes, "transport", "openssh")
test_further_shares_are_mounted_anew = again(dead_servers.test_a_used_share_is_mounted_anew, "protocol", "nfs", "afp")
test_a_server_that_is_cut_off_by_nfs_and_from_macs = again(
    dead_servers.test_a_server_that_is_cut_off_costs_one_trial_and_little_time,
    "platform, protocol, direction, program",
    ("client=linux", "nfs", "read", "ganesha"),
    ("client=macos@15.5", "nfs", "write", "ganesha"),
    ("client=macos@15.5", "smb", "write", "smbd"),
)
test_stopped_at_further_moments = again(
    recovery.test_stopped_at_any_moment_a_run_restores_everything,
    "number, moment",
    *((number, moment) for number in FURTHER for moment in FURTHER[number]),
)
test_several_clients_are_put_back_after_ctrl_c = again(
    several_clients.test_all_clients_are_restored_after_a_run_that_ended_early, "number", signal.SIGINT
)
test_a_sweep_of_clients_over_nfs_and_in_bands = again(
    several_clients.test_a_sweep_of_one_and_three_clients,
    "protocols, tools",
    (["smb", "nfs", "ssh"], ["cp", "rsync", "bands"]),
)


def test_a_run_is_restored_from_another_folder(bench: Bench, killed: Path, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    restored = elsewhere(bench, tmp_path, same_account=True).check_output("restore")
    assert f"{killed}: " in restored
    assert "put back" in restored
    assert "nothing is left" in bench.lab("restore").stdout


def test_a_lock_that_an_ended_run_left_goes_when_the_hosts_are_asked(bench: Bench) -> None:
    """The journal has no records: a forged journal used to leave a lock like this."""
    with connected(load_hosts(bench.hosts)) as hosts:
        for host in hosts.values():
            HostJournal(host, "deadbeef", {"who": "a test", "pid": "1", "since": "now"}, 60).take()
    bench.wait_until_free()
    bench.check_output("restore", "--hosts", str(bench.hosts))
    assert [bench.inside(name, HOST_JOURNALS) for name in HOSTS] == ["", ""]
