"""Guests that need virtualization, or hours without it."""

from collections.abc import Callable

import pytest
from support.booted_guests import booted, guests, skip_unless_it_boots
from support.local_lab import Bench

from lab.base.errors import LabFailure
from lab.local.backends import WITH_ZFS

__all__ = ["booted", "guests"]


@pytest.fixture(scope="module", params=["kvm", "tcg"])
def backend(request: pytest.FixtureRequest) -> str:
    """One that boots here."""
    return skip_unless_it_boots(str(request.param))


@pytest.fixture(scope="module")
def with_zfs(new_bench: Callable[..., Bench]) -> Bench:
    """Two guests with ZFS, of the first backend that boots here; ZFS is built where it is missing."""
    problems = []
    for name, backend in WITH_ZFS.items():
        try:
            problem = backend.prepare()
        except LabFailure as error:
            problem = str(error)
        if not problem:
            return new_bench("--kernel", "own", "--zfs")
        problems.append(f"{name}: {problem}")
    pytest.skip("; ".join(problems))
