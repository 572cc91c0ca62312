"""Fixtures for two hosts with kernels of their own, booted once a module; ``backend`` says by what."""

import shutil
from collections.abc import Callable

import pytest

from lab.base.errors import LabFailure
from lab.local.backends import GUESTS
from support.local_lab import Bench


def skip_unless_it_boots(name: str) -> str:
    """The name of a backend, which boots here."""
    try:
        problem = GUESTS[name].prepare()
    except LabFailure as error:
        problem = str(error)
    if problem:
        pytest.skip(f"{name}: {problem}")
    return name


@pytest.fixture(scope="module")
def booted(new_bench: Callable[..., Bench], backend: str) -> Bench:
    """The two of them."""
    return new_bench("--kernel", "own", "--backend", backend)


@pytest.fixture
def guests(booted: Bench) -> Bench:
    """With no results yet, or those of another run could be mistaken for a test's own."""
    shutil.rmtree(booted.directory / "results", ignore_errors=True)
    return booted
