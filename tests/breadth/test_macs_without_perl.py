"""Emulated Macs without perl: python3 of the Command Line Tools does what it did, and without them the lab says so."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest
from support.local_lab import HOSTS, Bench, end
from support.macs import check_pieces, state
from support.under_way import wait_for_process

from lab.results import run_folder
from lab.results.trial import CEILINGS

WINDOWS = "cat /linux/run/emulated_mac_windows 2>/dev/null; :"
INSTALL = "`xcode-select --install` there: with the Command Line Tools comes a python3, which stands in for perl"
PLATFORMS = ("macos@15.5", "macos@10.15")  # the last to serve AFP


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    bench = new_bench(*(word for host in zip(HOSTS, PLATFORMS, strict=True) for word in ("--platform", "=".join(host))))
    bench.hosts = bench.changed_hosts(client_ram_disk="64 MiB", server_ram_disk="64 MiB")
    for host in HOSTS:
        bench.inside(host, "rm /usr/bin/perl")
    return bench


@pytest.fixture
def equipped(macs: Bench) -> Bench:
    for host in HOSTS:
        macs.inside(host, "xcode-select -p >/dev/null 2>&1 || xcode-select --install")
    return macs


def no_window_opened(bench: Bench) -> bool:
    """The python3 of /usr/bin asks for the tools where they are missing, on a screen that nobody sees."""
    return [bench.inside(host, WINDOWS) for host in HOSTS] == ["", ""]


def test_without_either_one_finding_says_what_to_install(macs: Bench) -> None:
    for host in HOSTS:
        macs.inside(host, "rm -rf /Library/Developer")
    report = json.loads(macs.lab("check", "--hosts", str(macs.hosts), "--json").stdout)
    problems = [finding for finding in report["findings"] if finding["level"] == "problem"]
    assert [finding["subject"] for finding in problems] == ["client programs", "server programs"]
    assert {finding["message"] for finding in problems} == {"perl is missing: nothing can be measured without it"}
    assert {finding["remedy"] for finding in problems} == {INSTALL}
    assert not [finding for finding in report["findings"] if "could not be looked at" in finding["message"]]
    done = macs.run(protocol=["ssh"], tool=["rsync"], mtu=[9000], size="1 MiB")
    assert done.returncode == 1
    assert INSTALL in done.stderr
    assert no_window_opened(macs)


def test_check_says_who_stands_in(equipped: Bench) -> None:
    report = json.loads(equipped.lab("check", "--hosts", str(equipped.hosts), "--hardware", "--json").stdout)
    assert [finding for finding in report["findings"] if finding["level"] == "problem"] == []
    differing = [finding["message"] for finding in report["findings"] if finding["message"].startswith("differs: ")]
    assert [message for message in differing if "iostat" not in message and "processor time" not in message] == []
    assert not [finding for finding in report["findings"] if "perl: " in finding["message"]]
    healthy = {finding["subject"]: finding["message"] for finding in report["findings"] if finding["level"] == "ok"}
    assert healthy["client programs"].startswith("python3 3.9.6, ")
    assert {facts["tools"]["python3"] for facts in report["hosts"].values()} == {"Python 3.9.6"}
    ((level, message, remedy),) = [
        (finding["level"], finding["message"], finding["remedy"])
        for finding in report["findings"]
        if finding["subject"] == "server volume"
    ]
    assert level == "warning"
    assert "is on apfs, and is not shared by AFP: AFP does not work with APFS" in message
    assert remedy == "share a folder on a volume of HFS+ (Disk Utility: Mac OS Extended), or use SMB or NFS"


def test_a_sweep_is_measured_and_put_back(equipped: Bench) -> None:
    before = state(equipped, PLATFORMS)
    factors: dict[str, Any] = {
        "protocol": ["afp", "nfs", "smb", "ssh"],
        "tool": ["cp", "rsync"],
        "mtu": [9000],
        "store": ["ram"],
    }
    done = equipped.run(**factors, size="2 MiB")
    trials = run_folder.load(equipped.newest())
    assert done.returncode == 0, done.stdout + trials["reason"].to_string()
    assert state(equipped, PLATFORMS) == before
    trials = trials[~trials["protocol"].isin(CEILINGS)]
    assert trials["verified"].all()
    assert set(trials["protocol"]) == {"afp", "nfs", "smb", "ssh"}
    flushed = {row["protocol"]: row["effective"]["flushed"] for _, row in trials.iterrows() if row["tool"] == "cp"}
    assert flushed["nfs"] == flushed["smb"] == "F_FULLFSYNC"
    writes = trials[(trials["protocol"] == "smb") & (trials["direction"] == "write")]
    assert equipped.inside("client", "cat /linux/run/emulated_mac_smbfs/flushes-*") == "FLUSH\n" * len(writes)
    check_pieces(equipped)
    assert state(equipped, PLATFORMS) == before
    assert no_window_opened(equipped)


def test_what_a_killed_controller_left_is_put_back(equipped: Bench) -> None:
    before = state(equipped, PLATFORMS)
    sweep = equipped.sweep(protocol=["nfs", "smb"], tool=["cp"], mtu=[9000], tcp_space=["64 KiB"], size="8 MiB")
    with equipped.started("run", "--hosts", str(equipped.hosts), str(sweep)) as run:
        wait_for_process(equipped.name, "client", r"stopwatch\.pl", run)
        end(run, signal.SIGKILL)
    assert state(equipped, PLATFORMS) != before
    restored = equipped.lab("restore", timeout=1800)
    assert restored.returncode == 0, restored.stderr
    assert state(equipped, PLATFORMS) == before
    assert no_window_opened(equipped)


def test_a_narrow_sudo_is_refused(equipped: Bench) -> None:
    done = equipped.lab("host", "install", "--hosts", str(equipped.hosts), "client")
    assert done.returncode == 1
    assert "the helper is a perl script, and here is no perl: give sudo = password in the hosts file" in done.stderr


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("-c 'import sys; print(sys.platform, sys.flags.isolated)'", "darwin 1\n"),
        ("-ISc 'import sys; print(sys.argv[1:], __name__)' -- a", "['--', 'a'] __main__\n"),
        ("-IS /tmp/file a b", "['/tmp/file', 'a', 'b']\n"),
        ("-c 'import fcntl; print(fcntl.fcntl(open(\"/tmp/file\"), fcntl.F_FULLFSYNC))'", "0\n"),
        (
            "-c 'match 1:\n  case 1: pass'",
            "SyntaxError: Pattern matching is only supported in Python 3.10 and greater\n",
        ),
        ("-c 'import os; print(hasattr(os, \"memfd_create\"))'", "False\n"),
        ("-m http.server", "EMULATED MAC: python3: -m is not emulated\n"),
        ("--version", "Python 3.9.6\n"),
    ],
)
def test_the_python_of_the_tools_is_that_of_a_mac(equipped: Bench, words: str, printed: str) -> None:
    script = f"echo 'import sys; print(sys.argv)' > /tmp/file; python3 {words} 2>&1; rm /tmp/file"
    assert equipped.execute("client", "/bin/sh", "-c", script).stdout.endswith(printed)
