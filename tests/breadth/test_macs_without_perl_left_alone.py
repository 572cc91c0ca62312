"""Macs without perl put themselves back. It waits for leases, so it is a file that a second worker can run."""

from __future__ import annotations

from collections.abc import Callable

from scenarios.test_hosts_left_alone import check_that_hosts_put_themselves_back
from support.local_lab import Bench

WITHOUT_PERL = ("--platform", "client=macos@26", "--platform", "server=macos@15.5")


def without_perl(bench: Bench) -> Bench:
    """Macs as Apple has announced them: the python3 of the Command Line Tools stands in."""
    for host in ("client", "server"):
        bench.inside(host, "rm /usr/bin/perl; xcode-select -p >/dev/null 2>&1 || xcode-select --install")
    return bench


def test_macs_without_perl_put_themselves_back(new_bench: Callable[..., Bench]) -> None:
    bench = without_perl(new_bench("--rate", "200mbit", *WITHOUT_PERL))
    check_that_hosts_put_themselves_back(bench, "smb", "nfs")
