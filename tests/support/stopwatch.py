"""Runs the stopwatch on this system, and as on a Mac."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.platforms import Counters
from lab.platforms.clock import STOPWATCH
from lab.platforms.linux import clock as linux_clock
from lab.platforms.linux.clock import LinuxClock
from lab.platforms.linux.platform import Linux
from lab.platforms.macos.clock import MacClock
from lab.platforms.timing import values_of
from support.fake_host import FakeHost
from support.paths import MACOS_CAPTURES

# perl as on a Mac, and as before macOS 10.12 without clock_gettime
ON_A_MAC = 'BEGIN { $^O = "darwin" } my $file = shift @ARGV; do $file; die $@ if $@;'
WITHOUT_CLOCK = 'use Time::HiRes (); no warnings; *Time::HiRes::clock_gettime = sub { die "unimplemented" };'
# As smbfs: no F_FULLFSYNC without support by the server, and fsync of a read-only file sends nothing
SMBFS = """
BEGIN {
    require IO::Handle;
    *CORE::GLOBAL::fcntl = sub (*$$) { $! = 95; return undef };
    no warnings 'redefine';
    *IO::Handle::sync = sub {
        print STDERR CORE::fcntl($_[0], 3, 0) & 3 ? "FLUSH\n" : "nothing sent\n";
        return '0 but true';
    };
}
"""
# Output of the stopwatch after a transfer
REPORT = "clock wall\n{counts}elapsed_s {seconds}\ntool_cpu_s 0.25\nexit 0\nflushed fsync\n"
linux = pytest.mark.skipif(not Path("/sys/class/net/lo").exists(), reason="reads the counters of Linux")


def run(
    folder: Path, perl: tuple[str, ...], *args: str, path: str = os.environ["PATH"]
) -> tuple[dict[str, str], subprocess.CompletedProcess[str]]:
    """Time a command in perl, or only count; ``perl`` has arguments that make this system like a Mac."""
    counts = LinuxClock.counts if not perl else MacClock.counts
    return run_text(folder, ("perl", *perl), counts + STOPWATCH, *args, path=path)


def run_on_a_mac(
    folder: Path, *args: str, smbfs: bool = False
) -> tuple[dict[str, str], subprocess.CompletedProcess[str]]:
    """Time a command as on a Mac; with ``smbfs``, files are on such a mount."""
    return run_text(folder, ("perl", "-e", (SMBFS if smbfs else "") + ON_A_MAC), MacClock.counts + STOPWATCH, *args)


def run_text(
    folder: Path, interpreter: tuple[str, ...], text: str, *args: str, path: str = os.environ["PATH"]
) -> tuple[dict[str, str], subprocess.CompletedProcess[str]]:
    """Run the stopwatch; returns the values that it printed, and the process."""
    file = folder / "stopwatch.pl"
    file.write_text(text, encoding="utf-8")
    listed = "\n".join((linux_clock.KEPT, "127.0.0.1", *linux_clock.list_counted_files("lo")))
    (folder / "counted").write_text(f"{listed}\n", encoding="utf-8")
    environment = os.environ | {"PATH": f"{folder}:{path}", "LC_ALL": "C"}
    argv = [*interpreter, str(file), *args[:2], "", "", *args[2:]]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env=environment)
    return values_of(done.stdout), done


def counted(done: subprocess.CompletedProcess[str], when: str) -> Counters:
    """What the loopback interface counted before or after."""
    return Linux(FakeHost()).clock.pick_counters(done.stdout, "lo", when)


def emulate_netstat(folder: Path, name: str) -> None:
    """Make programs of a Mac that print captures, and note their calls."""
    commands = {
        "netstat": f'cat "{MACOS_CAPTURES}/{name}"',
        "sysctl": 'for name in "$@"; do echo "$name: 131072"; done',
        "vm_stat": f'cat "{MACOS_CAPTURES}/vm_stat-16k-pages.txt"',
    }
    for command, text in commands.items():
        program = folder / command
        program.write_text(f"#!/bin/sh\necho \"{command} $*\" >> '{folder}/calls'\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
