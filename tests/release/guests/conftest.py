"""Guests that need virtualization, or take hours without it."""

from collections.abc import Callable

import pytest
from support.guests import booted, first_that_boots, guests, skip_unless_it_boots
from support.local_lab import Bench

from lab.local.backends import WITH_ZFS

__all__ = ["booted", "guests"]


@pytest.fixture(scope="module", params=["kvm", "tcg"])
def backend(request: pytest.FixtureRequest) -> str:
    return skip_unless_it_boots(str(request.param))


@pytest.fixture(scope="module")
def with_zfs(new_bench: Callable[..., Bench]) -> Bench:
    """Two guests with ZFS, by the first backend that boots here; builds ZFS if it is missing."""
    first_that_boots(WITH_ZFS)
    return new_bench("--kernel", "own", "--zfs")
