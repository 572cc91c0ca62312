"""Macs with the helper alone: what they have is measured, put back after a crash too, and no more is given."""

import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.local_lab import HOSTS, Bench, end
from support.macs import SERVE, run, state
from support.narrow_sudo import on_macs

PLATFORMS = ("macos@15.5", "macos@10.13")
FACTORS = {"mtu": [1500, 9000], "tcp_space": ["64 KiB"], "store": ["disk"], "tool": ["cp"], "size": "1 MiB"}
# The share is that of the account that logs in; who writes there is another one
OF_YOU = """
for folder in /Users/lab/shared /Volumes/labram; do rm $folder/f; chown you $folder; chmod 1777 $folder; done
"""


@pytest.fixture(scope="module")
def narrow(new_bench: Callable[..., Bench]) -> Iterator[tuple[Bench, Path]]:
    """Two Macs, with the helper on both; the server's own servers serve."""
    bench = new_bench("--platform", f"client={PLATFORMS[0]}", "--platform", f"server={PLATFORMS[1]}")
    before = state(bench, PLATFORMS)
    assert run(bench, "server", SERVE).returncode == 0
    bench.inside("server", OF_YOU)
    hosts = on_macs(bench, "/Users/lab/shared")
    for _ in range(2):
        installed = bench.lab("host", "install", "--hosts", str(hosts))
        assert (installed.returncode, installed.stdout.count("put there: ")) == (0, 4), installed.stderr
    yield bench, hosts
    removed = bench.lab("host", "remove", "--hosts", str(hosts))
    assert (removed.returncode, removed.stdout.count("removed: ")) == (0, 4), removed.stderr
    assert state(bench, PLATFORMS)["client"] == before["client"]


@pytest.fixture
def unchanged(narrow: tuple[Bench, Path]) -> Iterator[tuple[Bench, Path]]:
    """The same, with no results yet; both must be afterwards as they were before."""
    bench = narrow[0]
    shutil.rmtree(bench.directory / "results", ignore_errors=True)
    before = state(bench, PLATFORMS)
    yield narrow
    assert state(bench, PLATFORMS) == before
    assert bench.inside("server", "find /Users/lab/shared /Volumes/labram -mindepth 1") == ""


def test_both_are_found_well(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    done = bench.lab("check", "--hosts", str(hosts))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("sudo of the lab's helper alone") == 2


@pytest.mark.parametrize(
    ("protocol", "path", "mtus", "layout"),
    [("smb", "/Users/lab/shared", [1500, 9000], "hfs"), ("nfs", "/Volumes/labram", [9000], "apfs")],
)
def test_a_share_is_measured_and_everything_put_back(
    unchanged: tuple[Bench, Path], protocol: str, path: str, mtus: list[int], layout: str
) -> None:
    bench, _ = unchanged
    hosts = on_macs(bench, path, client_ram_disk_format=layout)
    done = bench.run(hosts=hosts, protocol=[protocol], **(FACTORS | {"mtu": mtus}))
    trials = bench.trials()
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in trials])
    assert [trial["status"] for trial in trials] == ["ok"] * 2 * len(mtus)
    for trial in trials:
        assert {"nosuid", "nodev"} <= set(trial["effective"]["mount_options"].split(","))
    commands = (bench.newest() / "commands.log").read_text()
    for words in (
        "purge",
        {"hfs": "newfs_hfs", "apfs": "createContainer"}[layout],
        "net.inet.tcp.sendspace",
        "ifconfig",
    ):
        assert words in commands, words


def test_what_a_killed_controller_left_is_restored(unchanged: tuple[Bench, Path]) -> None:
    bench, _ = unchanged
    hosts = on_macs(bench, "/Volumes/labram")
    sweep = bench.sweep(protocol=["nfs"], blocks=50, **(FACTORS | {"mtu": [9000]}))
    with bench.started("run", "--hosts", str(hosts), str(sweep)) as controller:
        bench.wait_for('"b001-0001"', controller)
        end(controller, signal.SIGKILL)
    for host in HOSTS:
        assert "mtu 9000" in bench.inside(host, "ifconfig en0")
    bench.wait_until_free()
    restored = bench.lab("restore")
    assert (restored.returncode, "put back" in restored.stdout) == (0, True), restored.stdout + restored.stderr


def test_both_put_themselves_back_after_a_controller_that_was_killed(unchanged: tuple[Bench, Path]) -> None:
    bench, _ = unchanged
    before = state(bench, PLATFORMS)
    hosts = on_macs(bench, "/Volumes/labram", lab_lease="30 s")
    sweep = bench.sweep(protocol=["nfs"], blocks=50, **(FACTORS | {"mtu": [9000]}))
    with bench.started("run", "--hosts", str(hosts), str(sweep)) as controller:
        bench.wait_for('"b001-0001"', controller)
        end(controller, signal.SIGKILL)
    for host in HOSTS:
        assert "mtu 9000" in bench.inside(host, "ifconfig en0")
    deadline = time.monotonic() + 240
    while state(bench, PLATFORMS) != before and time.monotonic() < deadline:
        time.sleep(1)
    assert state(bench, PLATFORMS) == before
    restored = bench.lab("restore")
    assert (restored.returncode, restored.stderr) == (0, "")
    assert "both hosts were already unlocked (the lease expired" in restored.stdout
