"""Fixtures for two hosts with kernels of their own, booted once a module."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from support.local_lab import Bench

from lab.base.errors import LabFailure
from lab.local.backends import GUESTS, WITH_ZFS


@pytest.fixture(
    scope="module",
    params=["uml", pytest.param("kvm", marks=pytest.mark.guests), pytest.param("tcg", marks=pytest.mark.guests)],
)
def backend(request: pytest.FixtureRequest) -> str:
    """One that boots here."""
    name = str(request.param)
    try:
        problem = GUESTS[name].prepare()
    except LabFailure as error:
        problem = str(error)
    if problem:
        pytest.skip(f"{name}: {problem}")
    return name


@pytest.fixture(scope="module")
def booted(new_bench: Callable[..., Bench], backend: str) -> Bench:
    return new_bench("--kernel", "own", "--backend", backend)


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


@pytest.fixture
def guests(booted: Bench) -> Bench:
    """With no results yet, or those of another run could be mistaken for a test's own."""
    shutil.rmtree(booted.directory / "results", ignore_errors=True)
    return booted
