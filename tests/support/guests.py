"""Guests of local labs: how to boot them, what a test leaves on them, and runs with block devices as RAM disks."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lab.base.errors import LabFailure
from lab.local import state as lab_state
from lab.local.backends import GUESTS
from lab.local.backends.base import Backend
from support.local_lab import Bench
from support.waiting import wait_until

MIB = 1 << 20
# Kernel threads come and go, and libmount keeps three empty files after its first use
NOT_OURS = ("[", "/run/mount/")
# Libraries of ZFS keep these after their first use: names of devices, and locks for exports
KEPT_BY_ZFS = {"/run/blkid", "/run/blkid/blkid.tab", "/var/lib/nfs/.etab.lock", "/var/lib/nfs/export-lock"}
WAITING = "ps -eo stat=,args= | grep '^D' || :"  # processes that no signal ends


def left(bench: Bench) -> dict[str, list[str]]:
    """The state of both hosts, without the kernel's own."""
    state = bench.state()
    return {host: [line for line in lines if not line.startswith(NOT_OURS)] for host, lines in state.items()}


def left_but_for_zfs(bench: Bench) -> dict[str, list[str]]:
    """The state of both hosts, without what the libraries of ZFS keep."""
    return {host: [line for line in lines if line not in KEPT_BY_ZFS] for host, lines in left(bench).items()}


def in_ext4(guests: Bench) -> Path:
    return guests.changed_hosts(client_ram_disk_format="ext4", server_ram_disk_format="ext4")


def a_long_run(guests: Bench) -> AbstractContextManager[subprocess.Popen[str]]:
    return guests.started_run(hosts=in_ext4(guests), protocol=["nfs"], tool=["cp"], blocks=50)


def modules(guests: Bench) -> set[str]:
    """What both hosts know of the module brd."""
    return {guests.inside(host, "ls -d /sys/module/brd /dev/ram* 2>/dev/null || :") for host in lab_state.HOSTS}


def wait_for_a_pool(bench: Bench, run: subprocess.Popen[str]) -> None:
    """Wait for the pool of a trial. Looks for the module first, because zpool would load it."""
    list_pools = "[ ! -e /sys/module/zfs ] || zpool list -H -o name"
    wait_until(lambda: bench.inside("server", list_pools).startswith("file-share-lab-"), "the pool", 600, run)


def first_that_boots(backends: Mapping[str, Backend]) -> str:
    """The name of the first backend that boots here; skips the test if none does."""
    problems = []
    for name, backend in backends.items():
        try:
            problem = backend.prepare()
        except LabFailure as error:
            problem = str(error)
        if not problem:
            return name
        problems.append(f"{name}: {problem}")
    pytest.skip("; ".join(problems))


def skip_unless_it_boots(name: str) -> str:
    return first_that_boots({name: GUESTS[name]})


@pytest.fixture(scope="module")
def booted(new_bench: Callable[..., Bench], backend: str) -> Bench:
    return new_bench("--kernel", "own", "--backend", backend)


@pytest.fixture
def guests(booted: Bench) -> Bench:
    """The guests without results of earlier tests."""
    shutil.rmtree(booted.directory / "results", ignore_errors=True)
    return booted
