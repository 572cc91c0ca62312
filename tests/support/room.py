"""A server with three clients, and the moment when all of them transfer."""

import time
from collections.abc import Callable

import pytest

from support.local_lab import Bench


@pytest.fixture(scope="module")
def room(new_bench: Callable[..., Bench]) -> Bench:
    """Three clients, of which the third has a slower link, and one server."""
    return new_bench("--clients", "3", "--rate", "400mbit", "--rate", "client.3=50mbit")


def wait_for_transfer(room: Bench, client: str) -> None:
    """Wait until a client copies."""
    deadline = time.monotonic() + 600
    while "cp" not in room.inside(client, "ps -eo comm="):
        assert time.monotonic() < deadline
        time.sleep(0.02)
