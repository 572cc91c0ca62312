"""Two limits made true at once between real hosts, a start that takes long, and others on the machine.

The verdict must name one of what was injected, and never anything else for certain.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.local_lab import Bench
from support.scarce import MIB, quota, slow_disk

from lab.results import run_folder
from lab.stats.bottleneck import verdicts

WAY = {"protocol round trips", "one request at a time", "latency × window"}  # what a long way does to a transfer
SPIN = "while True: pass"


def judged(bench: Bench, hosts: Path | None = None, **factors: Any) -> pd.DataFrame:
    """The verdicts of a sweep with these factors."""
    done = bench.run(**factors, hosts=hosts)
    assert done.returncode == 0, done.stdout + done.stderr
    return verdicts(run_folder.load(bench.newest()))


def assert_only(rows: pd.DataFrame, *limits: str) -> None:
    """That each case was given one of these limits."""
    assert len(rows) > 0
    assert set(rows["limited_by"]) <= set(limits), rows[["case_id", "limited_by", "grade", "evidence"]].to_string()


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """So many programs of nobody's that take a core each."""
    programs = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


@pytest.fixture(scope="module")
def far(new_bench: Callable[..., Bench]) -> Bench:
    """Two hosts with a round trip of 20 ms between them."""
    return new_bench("--rate", "none", "--delay", "10ms", ceilings=True)


@pytest.fixture(scope="module")
def slow(new_bench: Callable[..., Bench]) -> Bench:
    """Two hosts with a link of 5 MB/s."""
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
