"""A lab whose client runs the lab's helper as root, and nothing else."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.hosts.root_helper import SUDOERS
from lab.hosts.ssh import HELPER
from support.local_lab import Bench
from support.narrow_sudo import TRACES, give_password, narrow_hosts, serving

MTU = "/sys/class/net/eth0/mtu"


@pytest.fixture(scope="module")
def narrow(new_bench: Callable[..., Bench]) -> Iterator[tuple[Bench, Path]]:
    """A lab of its own with the helper on its client, and its hosts file."""
    bench = new_bench()
    give_password(bench)
    before = bench.state()
    hosts = narrow_hosts(bench)
    for _ in range(2):  # again, and it is the same
        installed = bench.lab("host", "install", "--hosts", str(hosts))
        assert (installed.returncode, installed.stdout.count("client: put there: ")) == (0, 2), installed.stderr
    with serving(bench):
        yield bench, hosts
    for text in ("removed", "not there"):
        removed = bench.lab("host", "remove", "--hosts", str(hosts))
        assert removed.stdout == f"client: {text}: {SUDOERS}\nclient: {text}: {HELPER}\n", removed.stderr
    assert bench.inside("client", TRACES) == ""
    assert bench.state()["client"] == before["client"]


@pytest.fixture
def unchanged(narrow: tuple[Bench, Path]) -> Iterator[tuple[Bench, Path]]:
    """The same, with no results yet; the client must be afterwards as it was before, and the server's settings."""
    bench = narrow[0]
    shutil.rmtree(bench.directory / "results", ignore_errors=True)
    before = bench.state()
    yield narrow
    after = bench.state()
    assert (after["client"], after["server"][:3]) == (before["client"], before["server"][:3])
