"""Sweeps between emulated Macs that go wrong: every trial says why, every journal is closed, nothing is left behind."""

import json
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from faults.observe import Observer
from support.killed_runs import left_at_the_end, wait_for_process
from support.local_lab import HOSTS, Bench, end

from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    """The versions differ in nearly everything; RAM disks are small."""
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@10.9")
    bench.hosts = bench.changed_hosts(client_ram_disk="64 MiB", server_ram_disk="64 MiB")
    Observer(bench.name).settle()
    return bench


@contextmanager
def as_before(bench: Bench) -> Iterator[None]:
    """Afterwards both hosts must be as before, and every journal closed."""
    observer = Observer(bench.name)
    before = observer.state()
    yield
    observer.settle()
    assert left_at_the_end(observer, before, 30) == []  # long before a lease would restore the hosts
    journals = [Journal(path, line_format()) for path in bench.directory.glob("results/*/journal.jsonl")]
    assert [record.name for journal in journals for record in journal.open] == []


def switch_on(bench: Bench, **faults: tuple[str, int]) -> None:
    """Switch on faults: ``name_with_underscores=(host, times)``."""
    for name, (host, times) in faults.items():
        bench.check_output("local", "fault", "--name", bench.name, host, name.replace("_", "-"), str(times))


def firewall_of_client(bench: Bench) -> set[str]:
    """What `lab check` says of it: the first clause of each message."""
    findings = json.loads(bench.lab("check", "--hosts", str(bench.hosts), "--json").stdout)["findings"]
    messages = (finding["message"] for finding in findings if finding["subject"] == "client firewall")
    return {message.partition(":")[0] for message in messages}


def test_a_firewall_is_told_before_a_run(macs: Bench) -> None:
    assert firewall_of_client(macs) == set()
    switch_on(macs, firewall_on=("client", 1), firewall_stealth=("client", 1))
    assert firewall_of_client(macs) == {"its firewall is on", "its firewall answers no ping (stealth mode)"}
    switch_on(macs, firewall_block_all=("client", 1), firewall_stealth=("client", 0))
    assert firewall_of_client(macs) == {"its firewall blocks all incoming connections"}
    switch_on(macs, firewall_on=("client", 0), firewall_block_all=("client", 0))


def test_many_faults_in_one_sweep_fail_one_trial_and_nothing_else(macs: Bench) -> None:
    """The lab retries or forces what is busy, and understands odd messages; only a refusal fails its trial."""
    with as_before(macs):
        switch_on(macs, attach_busy=("client", 2), eject_busy=("client", 9), unmount_busy=("client", 99))
        switch_on(macs, localized=("client", 99), tcc_tmutil=("client", 99), volume_clash=("server", 9))
        switch_on(macs, link_flap=("server", 1), smb_ntstatus=("client", 1))
        done = macs.run(protocol=["smb", "nfs"], tool=["cp"], direction=["write"], mtu=[9000], size="1 MiB")
        over = dict.fromkeys(("eject_busy", "unmount_busy", "localized", "tcc_tmutil"), ("client", 0))
        switch_on(macs, **over)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stdout + done.stderr
    trials = {trial["protocol"]: trial for trial in macs.trials()}
    assert {protocol: trial["status"] for protocol, trial in trials.items()} == {"smb": "failed", "nfs": "ok"}
    assert "-1073741275" in trials["smb"]["reason"]
    assert "the server has no such share" in trials["smb"]["reason"]


def test_a_mount_that_the_client_refuses_fails_its_trial_with_what_to_do(macs: Bench) -> None:
    """One share is already mounted, and one server does not answer; the next trials mount anew."""
    with as_before(macs):
        switch_on(macs, smb_file_exists=("client", 1), nfs_times_out=("client", 1))
        done = macs.run(protocol=["smb", "nfs"], tool=["cp"], direction=["write"], blocks=2, size="1 MiB")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stdout + done.stderr
    trials = macs.trials()
    statuses = sorted((trial["protocol"], trial["status"]) for trial in trials)
    assert statuses == [("nfs", "failed"), ("nfs", "ok"), ("smb", "failed"), ("smb", "ok")]
    reasons = {trial["protocol"]: trial["reason"] for trial in trials if trial["status"] == "failed"}
    assert "exit code 64" in reasons["smb"]
    remedy = "this Mac has that share mounted already, Finder perhaps: eject it there, or `umount` it"
    assert reasons["smb"].endswith(remedy)
    assert "exit code 60" in reasons["nfs"]
    assert reasons["nfs"].endswith("is the address right, and its firewall open for NFS and mountd?")


def killed_while(bench: Bench, host: str, words: str, **factors: Any) -> None:
    """Run a sweep, and ``kill -9`` the controller as soon as a process with these words runs on a host."""
    factors |= {"tool": ["cp"], "direction": ["write"], "mtu": [9000], "tcp_space": ["64 KiB"]}
    with bench.started_run(**factors) as run:
        wait_for_process(bench.name, host, re.escape(words), run)
        end(run, signal.SIGKILL)


def test_what_was_under_way_when_the_controller_was_killed_does_not_come_about_later(macs: Bench) -> None:
    """The mount that the controller asked for is still being made when `lab restore` begins."""
    with as_before(macs):
        killed_while(macs, "client", "nobrowse //lab@", protocol=["smb"], size="1 MiB")
        macs.check_output("restore", timeout=1800)


def test_a_restart_takes_back_what_is_in_memory_and_restore_the_rest(macs: Bench) -> None:
    """Share points and exports survive on a Mac's disk; RAM disks, mounts, servers, sysctls and the MTU do not."""
    with as_before(macs):
        killed_while(macs, "client", "stopwatch.pl", protocol=["nfs", "afp"], size="8 MiB")
        for host in HOSTS:
            macs.check_output("local", "reboot", "--name", macs.name, host)
        assert "by a restart of the host" in macs.check_output("restore", timeout=1800)
