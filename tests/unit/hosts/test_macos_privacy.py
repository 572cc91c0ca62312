"""Refusals of macOS, as they were printed; and errors that read alike and are none."""

import errno
import os
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from support.fake_host import FakeHost
from support.stopwatch import REPORT

from lab.base.errors import CommandError, HostError, TransferError
from lab.check.finding import of_error
from lab.hosts import paramiko
from lab.hosts.host_config import HostConfig
from lab.hosts.macos_privacy import FULL_DISK, NFSD, NO_ROUTE, SIP, explain, find_starter
from lab.platforms.linux.platform import Linux
from lab.platforms.macos.platform import MacOS

ENGAGED = "Operation not permitted while System Integrity Protection is engaged"


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("setremotelogin: Turning Remote Login on or off requires Full Disk Access privileges.", FULL_DISK),
        ("tmutil: latestbackup requires Full Disk Access privileges.\nTo allow this operation, select Full Disk Access "
         "in the Privacy\ntab of the Security & Privacy preference pane, and add Terminal\nto the list of applications "
         "which are allowed Full Disk Access.", FULL_DISK),
        ("ls: /Volumes/Backups: Operation not permitted", FULL_DISK),
        ("touch: /Users/you/Desktop/x: Operation not permitted", FULL_DISK),
        ("total 0\ncp: /Volumes/share/b001-0001.bin: Operation not permitted\n", FULL_DISK),
        ('rsync: mkstemp "/Volumes/share/.x.bin.TDgzTk" failed: Operation not permitted (1)', FULL_DISK),
        ("rsync(4711): error: /Volumes/share/x: open: Operation not permitted", FULL_DISK),
        ("cannot open /Volumes/share/x to flush it: Operation not permitted", FULL_DISK),
        ('sandbox_check failed. nfsd has no read access to "/Volumes/lab"', NFSD),
        (f"Boot-out failed: 150: {ENGAGED}", SIP),
        (f"/System/Library/LaunchDaemons/com.apple.metadata.mds.plist: {ENGAGED}", SIP),
        ("mount_smbfs: server connection failed: No route to host", NO_ROUTE),
        ("ping: sendto: No route to host", NO_ROUTE),
        ("ssh: connect to host 192.168.77.2 port 22: No route to host", NO_ROUTE),
        # said about what only root may do, or no refusal
        ("ifconfig: ioctl (set mtu): Operation not permitted", ""), ("kill: 42: Operation not permitted", ""),
        ("sysctl: net.inet.tcp.sendspace=65536: Operation not permitted", ""), ("ping: sendto: Message too long", ""),
        ("Unable to purge disk buffers: Operation not permitted", ""), ("cp: /Volumes/share/x: Permission denied", ""),
        ("mount_nfs: can't mount /srv/x from 192.168.124.18 onto /Users/tao/nfs_mount: Operation not permitted", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_refusal_is_known_with_the_switch_to_flip_and_other_errors_are_not(message: str, remedy: str) -> None:
    assert explain(message) == remedy
    assert not remedy or " > " in remedy or remedy == NO_ROUTE


ZSH = {"TERM": "xterm-256color", "XPC_SERVICE_NAME": "0"}
JOB = {"XPC_SERVICE_NAME": "share-speed"}  # launchd gives a job no TERM_PROGRAM


@pytest.mark.parametrize(
    ("environ", "uid", "name", "is_let_through", "remedy"),
    [
        ({**ZSH, "SSH_CONNECTION": "192.0.2.9 50000 192.0.2.1 22"}, 501, "commands over SSH", True, "remote users"),
        ({**ZSH, "TERM_PROGRAM": "Apple_Terminal"}, 501, "Terminal", True, "answer macOS's question"),
        ({**ZSH, "TERM_PROGRAM": "iTerm.app"}, 501, "iTerm.app", False, "Network Volumes for iTerm.app"),
        ({"TERM_PROGRAM": "tmux", **JOB}, 501, "tmux", False, "Network Volumes for tmux"),
        ({"XPC_SERVICE_NAME": "application.com.a.b.1.2"}, 501, "a program other than Terminal", False, "in Terminal"),
        (JOB, 501, "the launchd job share-speed", False, "try the same command in Terminal"),
        (JOB, 0, "the launchd job share-speed", True, "try the same command in Terminal"),
    ],
)  # fmt: skip
def test_macos_goes_by_what_started_a_program(
    environ: dict[str, str], uid: int, name: str, is_let_through: bool, remedy: str
) -> None:
    starter = find_starter(environ, uid)
    assert (starter.name, starter.is_let_through) == (name, is_let_through)
    assert remedy in starter.remedy
    assert explain("ls: /Volumes/nas: Operation not permitted", starter) == starter.remedy
    told = explain("iperf3: error - unable to connect to server: No route to host", starter)
    assert (f"may keep {name} off the local network" in told) != is_let_through


def test_a_refusal_of_privacy_is_explained_in_messages_checks_and_transfers_of_a_mac_alone() -> None:
    refused = "touch: /Volumes/x: Operation not permitted"
    hosts = {"mac": FakeHost(), "linux": FakeHost("server")}
    MacOS(hosts["mac"])
    Linux(hosts["linux"])
    errors = {}
    for name, host in hosts.items():
        host.on(("touch", "/Volumes/x"), stderr=refused, exit_code=1)
        with pytest.raises(CommandError, match="touch") as raised:
            host.run("touch", "/Volumes/x")
        errors[name] = raised.value
    assert str(errors["mac"]).endswith(FULL_DISK)
    assert FULL_DISK not in str(errors["linux"])
    assert [of_error("warning", "x", errors[name]).remedy for name in ("mac", "linux")] == [FULL_DISK, ""]
    host = FakeHost()
    platform = MacOS(host)
    platform.clock.directory = "/tmp/lab"
    host.on(("netstat", "-s", "-p", "tcp"), root=True)
    report = REPORT.format(counts="", seconds=1).replace("exit 0", "exit 1")
    timed = ("perl", "/tmp/lab/stopwatch.pl", "en0", "", "", "", "cp", "a", "b")
    host.on(timed, report, stderr="cp: /Volumes/share/x: Operation not permitted\n")
    with pytest.raises(TransferError, match=r"exit code 1: cp: /Volumes/share/x: Operation not permitted: System Sett"):
        platform.clock.time_transfer("en0", "", ("cp", "a", "b"), 10)


def test_a_mac_as_the_controller_may_be_kept_off_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = OSError(errno.EHOSTUNREACH, "No route to host")
    monkeypatch.setattr(os, "geteuid", lambda: 501)
    monkeypatch.setattr("paramiko.SSHClient.connect", Mock(side_effect=refusal))
    for system, starter in (("darwin", JOB), ("darwin", {"SSH_CONNECTION": "x"}), ("linux", JOB)):
        monkeypatch.setattr(os, "environ", {"HOME": str(tmp_path), **starter})
        monkeypatch.setattr(sys, "platform", system)
        with pytest.raises(HostError, match="No route to host") as raised:
            paramiko.connect("client", HostConfig(host="mac.example", data_address="192.0.2.1"))
        is_named = "the launchd job share-speed off the local network" in str(raised.value)
        assert is_named == (system == "darwin" and starter == JOB)
