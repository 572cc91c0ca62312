"""Makes limits true between real hosts and servers, one or two at a time, and adds other load on the machine.

The verdict must name an injected limit and say why, and never be certain of another.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.local_lab import Bench, succeeded
from support.scarce import MIB, quota, slow_disk

from lab.results import run_folder
from lab.stats.bottleneck import verdicts

WAY = {"protocol round trips", "one request at a time", "latency × window"}  # effects of a long round trip


def judged(bench: Bench, hosts: Path | None = None, **factors: Any) -> pd.DataFrame:
    succeeded(bench.run(**factors, hosts=hosts))
    rows = verdicts(run_folder.load(bench.newest()))
    assert len(rows) > 0
    return rows


def assert_all(rows: pd.DataFrame, limit: str, words: str) -> None:
    table = rows[["protocol", "tool", "direction", "limited_by", "evidence"]].to_string()
    assert set(rows["limited_by"]) == {limit}, table
    assert rows["evidence"].str.contains(words).all(), table


@pytest.fixture(scope="module")
def far(new_bench: Callable[..., Bench]) -> Bench:
    """A round trip of 20 ms, next to which the delays of a busy machine are short."""
    return new_bench("--rate", "none", "--delay", "10ms", ceilings=True)


@pytest.fixture(scope="module")
def near(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench("--rate", "none", ceilings=True)


def test_a_slow_link(new_bench: Callable[..., Bench]) -> None:
    # so slow that processors are no limit, even on a busy machine
    rows = judged(new_bench("--rate", "20mbit", ceilings=True), size="10 MiB", protocol=["smb", "nfs", "ssh"])
    assert len(rows) == 6
    assert_all(rows, "link", "link: .*% of the ceiling")
    assert (rows["link_share"] >= 0.85).all()


def test_small_tcp_buffers_on_a_long_way(far: Bench) -> None:
    # Ceilings of larger buffers beside theirs: then it does not matter how well iperf3 fills the small ones
    rows = judged(far, size="8 MiB", protocol=["smb", "ssh"], tcp_space=["64 KiB", "default"])
    small = rows[rows["tcp_space"] != "default"]
    assert len(small) == 4
    assert_all(small, "latency × window", "window: (?:[0-9]+ KiB per .* ms is|.*% of a ceiling that is itself)")


def test_one_request_after_the_other_on_a_long_way(far: Bench) -> None:
    rows = judged(far, size="80 MiB", protocol=["nfs", "afp"], tool=["cp"])
    assert_all(rows, "protocol round trips", "KiB per round trip of 20 ms, where TCP allowed|requests of .* KiB")


@pytest.mark.parametrize("role", ["server", "client"])
def test_a_host_with_a_share_of_a_core(near: Bench, role: str) -> None:
    with quota(near.name, role, 0.1):
        rows = judged(near, size="16 MiB")
    assert_all(rows, f"{role} CPU", f"{role} CPU: a quota kept it waiting .*% of the time")


def test_a_slow_disk_in_the_server(near: Bench, tmp_path: Path) -> None:
    with slow_disk(near.name, tmp_path, "/srv/slow", 10 * MIB):
        hosts = near.changed_hosts(share_path="/srv/slow")
        caches = ["warm", "cold"]
        rows = judged(near, hosts, size="32 MiB", protocol=["nfs", "ssh"], store=["disk"], server_cache=caches)
    cold = rows["options"].map(lambda options: options["server_cache"] == "cold")
    flushed = (rows["protocol"] == "nfs") & (rows["direction"] == "write")  # others end in memory
    assert (cold.sum(), flushed.sum()) == (2, 1)
    assert_all(rows[cold | flushed], "disk", "disk: .*% of what the store itself takes")
    unflushed = (rows["protocol"] == "ssh") & (rows["direction"] == "write")
    assert rows.loc[unflushed, "limited_by"].tolist() != ["disk"]


def test_a_file_system_of_the_labs_on_a_slow_disk_at_each_level_of_its_options(near: Bench, tmp_path: Path) -> None:
    sweep: dict[str, Any] = {"size": "24 MiB", "protocol": ["nfs"], "tool": ["cp"], "direction": ["write"]}
    sweep |= {"store": ["ext4"], "ext4.data": ["ordered", "journal"]}
    with slow_disk(near.name, tmp_path, "/srv/slow", 10 * MIB):
        slow = near.changed_hosts(server_mount_base="/srv/slow", share_image_size="160 MiB")
        rows = judged(near, slow, **sweep)
    assert len(rows) == 2
    assert_all(rows, "file system", "file system: (?:.*% of what the store itself takes|nothing was on the way while)")
    level = rows["options"].map(lambda options: options["ext4.data"])
    own = (rows["bytes_per_s"] / rows["disk_share"]).groupby(level).median()
    assert own["journal"] < 0.7 * own["ordered"], "each has a ceiling of its own: a journal has all twice"
    rows = judged(near, near.changed_hosts(share_image_size="160 MiB"), **sweep | {"ext4.data": ["ordered"]})
    assert "file system" not in set(rows["limited_by"])


def test_a_disk_that_is_waited_for_when_all_has_crossed_the_link(
    new_bench: Callable[..., Bench], tmp_path: Path
) -> None:
    bench = new_bench("--rate", "40mbit", ceilings=True)
    with slow_disk(bench.name, tmp_path, "/srv/slow", 5 * MIB):
        hosts = bench.changed_hosts(share_path="/srv/slow")
        rows = judged(
            bench, hosts, size="16 MiB", protocol=["nfs"], tool=["cp"], direction=["write"], store=["disk"],
            client_sync=["fsync", "close"],
        )  # fmt: skip
    waits = rows["options"].map(lambda options: options.get("client_sync") != "close")
    assert_all(rows[waits], "flush to disk", "which took turns, for nothing was on the way")
    assert_all(rows[~waits], "link", "link: .*% of the ceiling")


def assert_only(rows: pd.DataFrame, *limits: str) -> None:
    assert set(rows["limited_by"]) <= set(limits), rows[["case_id", "limited_by", "grade", "evidence"]].to_string()


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Other programs, each of which takes a core."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


@pytest.fixture(scope="module")
def slow(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench("--rate", "40mbit", ceilings=True)


def test_small_buffers_that_the_sweep_raises_are_the_cause(far: Bench) -> None:
    rows = judged(far, size="8 MiB", protocol=["smb", "nfs"], tool=["cp"], tcp_space=["64 KiB", "default"], blocks=3)
    small = rows[rows["tcp_space"] != "default"]
    assert_only(small, "TCP buffer")
    assert small["evidence"].str.startswith("TCP buffer: default in place of 64 KiB, all else alike, made it").all()
    assert "link" not in set(rows["limited_by"])


def test_a_share_of_a_core_and_small_buffers(far: Bench) -> None:
    with quota(far.name, "server", 0.05):
        rows = judged(far, size="8 MiB", protocol=["smb"], tool=["cp"], tcp_space=["64 KiB", "default"], blocks=3)
    small = rows["tcp_space"] != "default"
    assert_only(rows[small], "server CPU", "TCP buffer", "latency × window")
    assert_only(rows[~small], "server CPU", *WAY)


def test_a_share_of_a_core_and_a_slow_link(slow: Bench) -> None:
    with quota(slow.name, "client", 0.05):
        rows = judged(slow, size="8 MiB", protocol=["smb", "nfs"], tool=["cp"], blocks=2)
    assert_only(rows, "client CPU", "link")


def test_a_slow_disk_and_a_long_way(far: Bench, tmp_path: Path) -> None:
    with slow_disk(far.name, tmp_path, "/srv/slow", 4 * MIB):
        hosts = far.changed_hosts(share_path="/srv/slow")
        rows = judged(far, hosts, size="16 MiB", protocol=["nfs"], tool=["cp"], direction=["write"], store=["disk"])
    assert_only(rows, "disk", "flush to disk", *WAY)


def test_a_start_that_takes_longer_than_the_file(far: Bench) -> None:
    rows = judged(far, size="2 MiB", protocol=["ssh"], direction=["write"], blocks=2)
    assert_only(rows, "start-up")
    assert rows["evidence"].str.contains("passed before the first byte and after the last one").all()


def test_others_who_take_every_core_come_before_anything_else(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--rate", "none", ceilings=True)
    with busy_cores(8):
        rows = judged(bench, size="64 MiB", protocol=["smb", "nfs"], tool=["cp"])
    assert_only(rows, "disturbed")
    assert (rows["grade"] == "certain").all()


def test_others_who_do_no_harm_leave_a_slow_link_what_it_is(slow: Bench) -> None:
    with busy_cores(8):
        rows = judged(slow, size="16 MiB", protocol=["smb", "nfs"], tool=["cp"])
    assert_only(rows, "link", "disturbed")
