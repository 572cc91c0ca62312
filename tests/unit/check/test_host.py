"""The check on one host: becoming root."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fake_host import FakeHost
from support.input_files import write_hosts

from lab.check import host as host_check
from lab.check.machine import Machine
from lab.hosts.hosts_file import load_hosts
from lab.platforms.linux.platform import Linux

MAY = "`sudo visudo -f /etc/sudoers.d/file-share-lab` there, and in it `you ALL=(root) "


@pytest.mark.parametrize(
    ("stderr", "remedy"),
    [
        (
            "sudo: sorry, a password is required to run sudo",
            f"give sudo = password in [client], or {MAY}NOPASSWD: ALL`",
        ),
        ("sudo: a terminal is required to read the password; either use the -S option", "give sudo = password in"),
        ("Sorry, try again.\nsudo: 1 incorrect password attempt", "the password that sudo_password in [client] leads"),
        ("you is not in the sudoers file.", f"let you use sudo: {MAY}ALL`"),
        ("sudo: sorry, you must have a tty to run sudo", "`sudo visudo` there, and in it `Defaults:you !requiretty`"),
        ("sh: 1: sudo: not found", "install sudo there, or log in as root: user = root and sudo = none in [client]"),
    ],
)
def test_why_nobody_becomes_root(tmp_path: Path, stderr: str, remedy: str) -> None:
    host = FakeHost()
    host.on(("id", "-un"), "you\n")
    host.on(("id", "-u"), stderr=stderr, exit_code=1, root=True)
    config = load_hosts(write_hosts(tmp_path))
    machine = Machine("client", config.client, host, Linux(host), None)
    (found,) = host_check._check_root(machine, "client sudo", config)
    assert (found.level, found.message) == (
        "problem",
        f"you cannot become root (sudo = nopasswd): {stderr.splitlines()[-1]}",
    )
    assert remedy.replace("or `sudo", "or for the time of the measurements `sudo") in found.remedy
