"""A client whose account may run the lab's helper as root, and nothing else: it measures a share, and is put back."""

from pathlib import Path

import pytest
from support.local_lab import Bench
from support.narrow_sudo import MTU, connected
from support.waiting import wait_until

from lab.base.errors import DeadlineExceeded
from lab.hosts.ssh import HELPER
from lab.platforms.files import READ_ALL
from lab.root_helper import program as root_helper
from lab.root_helper.program import SUDOERS


def test_what_is_printed_is_what_is_there(narrow: tuple[Bench, Path]) -> None:
    bench, hosts = narrow
    printed = bench.lab("host", "install", "--hosts", str(hosts), "--print").stdout
    for path in (HELPER, SUDOERS):
        assert bench.inside("client", f"cat {path}") in printed


def test_an_account_that_may_run_everything_is_told_so(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    allow = "echo 'lab ALL=(root) NOPASSWD: ALL' > /etc/sudoers.d/other"
    with bench.changed("client", allow, "rm /etc/sudoers.d/other"):
        done = bench.lab("host", "install", "--hosts", str(hosts))
        assert "client: but lab may run everything without a password" in done.stdout


def test_only_root_can_change_what_sudo_may_run_and_sudo_may_run_nothing_else(narrow: tuple[Bench, Path]) -> None:
    bench, hosts = narrow
    look = "stat -c '%a %u:%g' {0} {1}; sudo -l -U lab | grep NOPASSWD"
    rights = f"755 0:0\n440 0:0\n    (root) NOSETENV: NOPASSWD: {HELPER}\n"
    assert bench.inside("client", look.format(HELPER, SUDOERS)) == rights
    with connected(hosts) as host:
        refused = host.run("sudo", "-n", "--", "/bin/sh", "-c", "id -u", check=False)
        assert refused.stderr == "sudo: a password is required\n"
        assert "sorry" in host.run("sudo", "-n", "PATH=/tmp", HELPER, "true", check=False).stderr


@pytest.mark.parametrize(("protocol", "mtus", "buffers"), [("smb", [1500, 9000], ["64 KiB"])])
def test_a_share_is_measured_and_restored(
    unchanged: tuple[Bench, Path], protocol: str, mtus: list[int], buffers: list[str]
) -> None:
    bench, hosts = unchanged
    values = {"mtu": mtus, "tcp_space": buffers, "store": ["disk"], "tool": ["cp"], "size": "1 MiB"}
    trials = bench.measure(hosts=hosts, protocol=[protocol], **values)
    assert [trial["status"] for trial in trials] == ["ok"] * 2 * len(mtus) * len(buffers)
    assert {trial["effective"]["client_mtu"] for trial in trials} == set(map(str, mtus))
    commands = (bench.newest() / "commands.log").read_text()
    assert "tmpfs" in commands  # the RAM disk of the client
    assert "tcp_rmem" in commands


def test_what_a_killed_controller_left_is_restored(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    factors = {"protocol": ["smb"], "tool": ["cp"], "mtu": [9000], "tcp_space": ["64 KiB"], "store": ["disk"]}
    bench.kill_run('"b001-0001"', hosts=hosts, blocks=50, **factors)
    assert bench.inside("client", f"cat {MTU}") == "9000\n"
    bench.wait_until_free()
    assert "an earlier run left it changed" in bench.refusal(1, "host", "remove", "--hosts", str(hosts))
    assert "put back" in bench.check_output("restore")


def test_the_helper_of_another_lab_is_refused_before_anything_is_changed(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    other = "0" * 16
    exchange = "sed -i 's/{}/{}/' " + HELPER
    version = root_helper.version("Linux")
    with bench.changed("client", exchange.format(version, other), exchange.format(other, version)):
        sweep = str(bench.sweep(protocol=["smb"], store=["disk"]))
        for command in (("check",), ("run", sweep)):
            done = bench.lab(command[0], "--hosts", str(hosts), *command[1:])
            assert done.returncode == 1
            assert "its helper belongs to another version of the lab" in done.stdout + done.stderr
            assert "`lab host install client`" in done.stdout + done.stderr


def test_what_it_runs_ends_with_whoever_called_it(unchanged: tuple[Bench, Path]) -> None:
    """Nobody can make the helper end a process, so a command that takes too long must end with its caller."""
    bench, hosts = unchanged
    folder = "/tmp/file-share-lab-0123456789abcdef"
    make = f"mkdir {folder}; truncate -s 4T {folder}/endless; chown -R lab {folder}"
    with bench.changed("client", make, f"rm -r {folder}"):
        with connected(hosts) as host, pytest.raises(DeadlineExceeded):
            host.shell(READ_ALL, f"{folder}/endless", root=True, deadline_s=2)
        wait_until(lambda: not bench.inside("client", "pgrep -fa '[e]ndless|[r]oot-helper' || :"), "the end")
