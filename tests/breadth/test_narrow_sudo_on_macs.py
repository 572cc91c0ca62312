"""Macs with the helper alone: what they have is measured, put back after a crash too, and no more is given."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.local_lab import HOSTS, Bench
from support.macs import SERVE, run, state
from support.narrow_sudo import on_macs
from support.waiting import last_look

PLATFORMS = ("macos@15.5", "macos@10.13")
FACTORS = {"tcp_space": ["64 KiB"], "store": ["disk"], "tool": ["cp"], "size": "1 MiB"}
# the folder of the share belongs to the account that logs in; another account writes there
OF_YOU = """
for folder in /Users/lab/shared /Volumes/labram; do rm $folder/f; chown you $folder; chmod 1777 $folder; done
"""


@pytest.fixture(scope="module")
def narrow(new_bench: Callable[..., Bench]) -> Iterator[tuple[Bench, Path]]:
    """Two Macs with the helper on both; the server's own programs serve."""
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
    """The same without results; afterwards both must be as before."""
    bench = narrow[0]
    shutil.rmtree(bench.directory / "results", ignore_errors=True)
    before = state(bench, PLATFORMS)
    yield narrow
    assert state(bench, PLATFORMS) == before
    assert bench.inside("server", "find /Users/lab/shared /Volumes/labram -mindepth 1") == ""


def test_both_are_found_well(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    assert bench.check_output("check", "--hosts", str(hosts)).count("sudo of the lab's helper alone") == 2


@pytest.mark.parametrize(
    ("protocol", "path", "mtus", "layout"),
    [("smb", "/Users/lab/shared", [1500, 9000], "hfs"), ("nfs", "/Volumes/labram", [9000], "apfs")],
)
def test_a_share_is_measured_and_restored(
    unchanged: tuple[Bench, Path], protocol: str, path: str, mtus: list[int], layout: str
) -> None:
    bench, _ = unchanged
    hosts = on_macs(bench, path, client_ram_disk_format=layout)
    trials = bench.measure(hosts=hosts, protocol=[protocol], mtu=mtus, **FACTORS)
    assert [trial["status"] for trial in trials] == ["ok"] * 2 * len(mtus)
    for trial in trials:
        assert {"nosuid", "nodev"} <= set(trial["effective"]["mount_options"].split(","))
    commands = (bench.newest() / "commands.log").read_text()
    program = {"hfs": "newfs_hfs", "apfs": "createContainer"}[layout]
    for words in ("purge", program, "net.inet.tcp.sendspace", "ifconfig"):
        assert words in commands, words


def kill_a_run(bench: Bench, **changes: str) -> None:
    """Kill the controller of a run that has changed both Macs."""
    hosts = on_macs(bench, "/Volumes/labram", HOSTS, **changes)
    bench.kill_run('"b001-0001"', hosts=hosts, protocol=["nfs"], blocks=50, mtu=[9000], **FACTORS)
    for host in HOSTS:
        assert "mtu 9000" in bench.inside(host, "ifconfig en0")


def test_what_a_killed_controller_left_is_restored(unchanged: tuple[Bench, Path]) -> None:
    bench, _ = unchanged
    kill_a_run(bench)
    bench.wait_until_free()
    assert "put back" in bench.check_output("restore")


def test_both_restore_themselves_after_their_controller_was_killed(unchanged: tuple[Bench, Path]) -> None:
    bench, _ = unchanged
    before = state(bench, PLATFORMS)
    kill_a_run(bench, lab_lease="30 s")
    assert last_look(lambda: state(bench, PLATFORMS), before, 240) == before
    restored = bench.lab("restore")
    assert (restored.returncode, restored.stderr) == (0, "")
    assert "both hosts were already unlocked (the lease expired" in restored.stdout
