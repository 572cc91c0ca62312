"""A narrow sudo and the host's own guard: the client restores itself, and NFS is measured too."""

import signal
from pathlib import Path

from scenarios import test_runs_with_narrow_sudo as narrow_sudo
from support.again import again
from support.local_lab import Bench, end
from support.narrow_sudo import MTU, connected, narrow_hosts
from support.waiting import last_look, wait_until

from lab.platforms.linux.settings import LinuxMtu
from lab.settings.host_journal import HostJournal
from lab.settings.journal import Record

test_nfs_with_a_narrow_sudo = again(
    narrow_sudo.test_a_share_is_measured_and_restored, "protocol, mtus, buffers", ("nfs", [9000], ["64 KiB"])
)


def test_a_client_restores_itself_after_its_controller_was_killed(unchanged: tuple[Bench, Path]) -> None:
    """The guard is a process of the account; the helper does what the controller would."""
    bench = unchanged[0]
    before = bench.state()["client"]
    hosts = narrow_hosts(bench, lab_lease="30 s")
    try:
        factors = {"protocol": ["smb"], "tool": ["cp"], "mtu": [9000], "tcp_space": ["64 KiB"], "store": ["disk"]}
        with bench.started_run(hosts=hosts, blocks=50, **factors) as run:
            bench.wait_for('"b001-0001"', run)
            guard = bench.inside("client", "ps -u lab -o args= | grep '[:] lease'")
            end(run, signal.SIGKILL)
        assert guard == "file-share-lab: lease\n"
        assert bench.inside("client", f"cat {MTU}") == "9000\n"
        assert last_look(lambda: bench.state()["client"], before, 180) == before
        assert "already unlocked (the lease expired" in bench.check_output("restore")
    finally:
        narrow_hosts(bench)


def test_the_host_takes_an_mtu_back_by_itself(unchanged: tuple[Bench, Path]) -> None:
    _, hosts = unchanged
    with connected(hosts) as host:
        journal = HostJournal(host, "0123abcd", {"who": "a test"}, 1)
        record = Record(2, "client", LinuxMtu("eth0"), "1500", "9000", "0123abcd")
        journal.take()
        journal.note(record)
        journal.arm(record)
        LinuxMtu("eth0").change("9000")[0].run(host)
        assert host.run("cat", MTU).stdout == "9000\n"
        wait_until(lambda: host.run("cat", MTU).stdout == "1500\n")
        journal.strike([record])
        for step in journal.record(1).undo:
            step.run(host)
