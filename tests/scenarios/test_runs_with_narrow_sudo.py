"""A client whose account may run the lab's helper as root, and nothing else: it measures a share, and is put back."""

import signal
import time
from pathlib import Path

import pytest
from support.local_lab import Bench, end
from support.narrow_runs import MTU
from support.narrow_sudo import connected_to_client

from lab.base.errors import DeadlineExceeded
from lab.hosts.root_helper import SUDOERS
from lab.hosts.ssh import HELPER
from lab.platforms.files import READ_ALL
from lab.root_helper import program as root_helper


def test_what_is_printed_is_what_is_there(narrow: tuple[Bench, Path]) -> None:
    bench, hosts = narrow
    printed = bench.lab("host", "install", "--hosts", str(hosts), "--print").stdout
    for path in (HELPER, SUDOERS):
        assert bench.inside("client", f"cat {path}") in printed


def test_an_account_that_may_run_everything_is_told_so(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    bench.inside("client", "echo 'lab ALL=(root) NOPASSWD: ALL' > /etc/sudoers.d/other")
    try:
        done = bench.lab("host", "install", "--hosts", str(hosts))
        assert "client: but lab may run everything without a password" in done.stdout
    finally:
        bench.inside("client", "rm /etc/sudoers.d/other")


def test_only_root_can_change_what_sudo_may_run_and_sudo_may_run_nothing_else(narrow: tuple[Bench, Path]) -> None:
    bench, hosts = narrow
    look = "stat -c '%a %u:%g' {0} {1}; sudo -l -U lab | grep NOPASSWD"
    assert bench.inside("client", look.format(HELPER, SUDOERS)) == (
        f"755 0:0\n440 0:0\n    (root) NOSETENV: NOPASSWD: {HELPER}\n"
    )
    with connected_to_client(hosts) as host:
        assert host.run("sudo", "-n", "--", "/bin/sh", "-c", "id -u", check=False).stderr == (
            "sudo: a password is required\n"
        )
        assert "sorry" in host.run("sudo", "-n", "PATH=/tmp", HELPER, "true", check=False).stderr


@pytest.mark.parametrize(("protocol", "mtus", "buffers"), [("smb", [1500, 9000], ["64 KiB"])])
def test_a_share_is_measured_and_everything_put_back(
    unchanged: tuple[Bench, Path], protocol: str, mtus: list[int], buffers: list[str]
) -> None:
    bench, hosts = unchanged
    values = {"mtu": mtus, "tcp_space": buffers, "store": ["disk"], "tool": ["cp"], "size": "1 MiB"}
    done = bench.run(hosts=hosts, protocol=[protocol], **values)
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in bench.trials()])
    trials = bench.trials()
    assert [trial["status"] for trial in trials] == ["ok"] * 2 * len(mtus) * len(buffers)
    assert {trial["effective"]["client_mtu"] for trial in trials} == set(map(str, mtus))
    commands = (bench.newest() / "commands.log").read_text()
    assert "tmpfs" in commands  # the RAM disk of the client
    assert "tcp_rmem" in commands


def test_what_a_killed_controller_left_is_restored(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], mtu=[9000], tcp_space=["64 KiB"], store=["disk"], blocks=50)
    with bench.started("run", "--hosts", str(hosts), str(sweep)) as run:
        bench.wait_for('"b001-0001"', run)
        end(run, signal.SIGKILL)
    assert bench.inside("client", f"cat {MTU}") == "9000\n"
    bench.wait_until_free()
    refused = bench.lab("host", "remove", "--hosts", str(hosts))
    assert (refused.returncode, "an earlier run left it changed" in refused.stderr) == (1, True)
    restored = bench.lab("restore")
    assert restored.returncode == 0, restored.stderr
    assert "put back" in restored.stdout


def test_the_helper_of_another_lab_is_refused_before_anything_is_changed(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    other = "0" * 16
    exchange = "sed -i 's/{}/{}/' " + HELPER
    bench.inside("client", exchange.format(root_helper.version("Linux"), other))
    try:
        sweep = str(bench.sweep(protocol=["smb"], store=["disk"]))
        for command in (("check",), ("run", sweep)):
            done = bench.lab(command[0], "--hosts", str(hosts), *command[1:])
            assert done.returncode == 1
            assert "its helper belongs to another version of the lab" in done.stdout + done.stderr
            assert "`lab host install client`" in done.stdout + done.stderr
    finally:
        bench.inside("client", exchange.format(other, root_helper.version("Linux")))


def test_what_it_runs_ends_with_whoever_called_it(unchanged: tuple[Bench, Path]) -> None:
    """Nobody can have it end a process, so a command of the lab's that takes too long must end so."""
    bench, hosts = unchanged
    folder = "/tmp/file-share-lab-0123456789abcdef"
    bench.inside("client", f"mkdir {folder}; truncate -s 4T {folder}/endless; chown -R lab {folder}")
    try:
        with connected_to_client(hosts) as host, pytest.raises(DeadlineExceeded):
            host.shell(READ_ALL, f"{folder}/endless", root=True, deadline_s=2)
        deadline = time.monotonic() + 60
        while bench.inside("client", "pgrep -fa '[e]ndless|[r]oot-helper' || :"):
            assert time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        bench.inside("client", f"rm -r {folder}")
