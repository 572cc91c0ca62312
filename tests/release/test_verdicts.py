"""Every limit made true between real hosts with real servers: the verdict must name it, and say why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.local_lab import Bench
from support.scarce import MIB, quota, slow_disk

from lab.results import run_folder
from lab.stats.bottleneck import verdicts


def judged(bench: Bench, hosts: Path | None = None, **factors: Any) -> pd.DataFrame:
    """The verdicts of a sweep with these factors."""
    done = bench.run(**factors, hosts=hosts)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = verdicts(run_folder.load(bench.newest()))
    assert len(rows) > 0
    return rows


def assert_all(rows: pd.DataFrame, limit: str, words: str) -> None:
    """That every case was limited by this, with evidence in these words."""
    table = rows[["protocol", "tool", "direction", "limited_by", "evidence"]].to_string()
    assert set(rows["limited_by"]) == {limit}, table
    assert rows["evidence"].str.contains(words).all(), table


@pytest.fixture(scope="module")
def far(new_bench: Callable[..., Bench]) -> Bench:
    """Two hosts with a round trip of 20 ms between them: next to that, waiting for a busy machine is short."""
    return new_bench("--rate", "none", "--delay", "10ms", ceilings=True)


@pytest.fixture(scope="module")
def near(new_bench: Callable[..., Bench]) -> Bench:
    """Two hosts whose link is as fast as this machine makes it."""
    return new_bench("--rate", "none", ceilings=True)


def test_a_slow_link(new_bench: Callable[..., Bench]) -> None:
    # so slow that the processors are not the limit on a machine that is busy with something else either
    rows = judged(new_bench("--rate", "20mbit", ceilings=True), size="10 MiB", protocol=["smb", "nfs", "ssh"])
    assert len(rows) == 6
    assert_all(rows, "link", "link: .*% of the ceiling")
    assert (rows["link_share"] >= 0.85).all()


def test_small_tcp_buffers_on_a_long_way(far: Bench) -> None:
    # With the ceilings of larger buffers beside theirs, it does not depend on how well iperf3 filled the small ones.
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
