"""A narrow sudo and the host's own guard: the client puts itself back."""

import signal
import time
from pathlib import Path

from support.local_lab import Bench, end
from support.narrow_runs import MTU
from support.narrow_sudo import connected_to_client, narrow_hosts
from support.sshd import wait_for

from lab.platforms.linux.settings import LinuxMtu
from lab.settings.host_journal import HostJournal
from lab.settings.journal import Record


def test_a_client_puts_itself_back_after_a_controller_that_was_killed(unchanged: tuple[Bench, Path]) -> None:
    """Its guard is the account's, and has the helper do what the controller would."""
    bench = unchanged[0]
    before = bench.state()["client"]
    hosts = narrow_hosts(bench, lab_lease="30 s")
    try:
        sweep = bench.sweep(protocol=["smb"], tool=["cp"], mtu=[9000], tcp_space=["64 KiB"], store=["disk"], blocks=50)
        with bench.started("run", "--hosts", str(hosts), str(sweep)) as run:
            bench.wait_for('"b001-0001"', run)
            guard = bench.inside("client", "ps -u lab -o args= | grep '[:] lease'")
            end(run, signal.SIGKILL)
        assert guard == "file-share-lab: lease\n"
        assert bench.inside("client", f"cat {MTU}") == "9000\n"
        deadline = time.monotonic() + 180
        while bench.state()["client"] != before and time.monotonic() < deadline:
            time.sleep(1)
        assert bench.state()["client"] == before
        restored = bench.lab("restore")
    finally:
        narrow_hosts(bench)
    assert restored.returncode == 0, restored.stderr
    assert "already unlocked (the lease expired" in restored.stdout


def test_the_host_takes_an_mtu_back_by_itself(unchanged: tuple[Bench, Path]) -> None:
    _, hosts = unchanged
    with connected_to_client(hosts) as host:
        journal = HostJournal(host, "0123abcd", {"who": "a test"}, 1)
        record = Record(2, "client", LinuxMtu("eth0"), "1500", "9000", "0123abcd")
        journal.take()
        journal.note(record)
        journal.arm(record)
        LinuxMtu("eth0").change("9000")[0].run(host)
        assert host.run("cat", MTU).stdout == "9000\n"
        wait_for(lambda: host.run("cat", MTU).stdout == "1500\n")
        journal.strike([record])
        for step in journal.record(1).undo:
            step.run(host)
