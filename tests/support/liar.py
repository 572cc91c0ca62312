"""A lab whose hosts may be left in any state: what a liar says was put back may well not be."""

import shutil
from collections.abc import Callable, Iterator

import pytest

from support.local_lab import Bench


@pytest.fixture(scope="module")
def liar(new_bench: Callable[..., Bench]) -> Bench:
    """A lab that may be left in any state: what a liar says was put back may well not be."""
    bench = new_bench()
    bench.changed_hosts(client_ram_disk="64 MiB", server_ram_disk="64 MiB")
    return bench


@pytest.fixture
def clean_hosts(liar: Bench) -> Iterator[None]:
    yield
    liar.lab("restore")
    shutil.rmtree(liar.directory / "results", ignore_errors=True)
