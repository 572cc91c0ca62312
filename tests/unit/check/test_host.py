"""The check on one host: becoming root, and memory."""

import os
from pathlib import Path

import pytest
from support.fake_host import FakeHost
from support.input_files import HOSTS, write_hosts

from lab.check import host as host_check
from lab.check.machine import Machine
from lab.hosts.hosts_file import load_hosts
from lab.platforms import Facts
from lab.platforms.linux.platform import Linux

MIB = 2**20
OURS = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
TWO = HOSTS.replace("data_address", "ram_disk = 1 GiB\ndata_address").replace("[share]", "[share]\nserve = lab")
LOCAL = f"{TWO}[lab]\ninstance = mine/0123\n"
MORE = "".join(f"[client.{number}]\nhost = c{number}\ndata_address = 192.0.2.1{number}\n" for number in range(2, 9))
MAY = "`sudo visudo -f /etc/sudoers.d/file-share-lab` there, and in it `you ALL=(root) "
SUDO = f"give sudo = password in [client], or for the time of the measurements {MAY}NOPASSWD: ALL`"


@pytest.mark.parametrize(
    ("stderr", "remedy"),
    [
        ("sudo: sorry, a password is required to run sudo", SUDO),
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
    (finding,) = host_check._check_root(machine, "client sudo", config)
    message = f"you cannot become root (sudo = nopasswd): {stderr.splitlines()[-1]}"
    assert (finding.level, finding.message, remedy in finding.remedy) == ("problem", message, True)


@pytest.mark.parametrize(
    ("text", "memory_bytes", "free_mib", "level", "message"),
    [
        (LOCAL, OURS, 4000, "ok", "ram_disk = 1024 MiB, 2048 MiB with the other host's, which is in the same memory"),
        (LOCAL + MORE, OURS, 20000, "ok", "9216 MiB with those of 8 other hosts, which are in the same memory; 20000"),
        (LOCAL + MORE, OURS, 9300, "warning", "9300 MiB are free: with so little left it may be swapped out"),
        (LOCAL + MORE, OURS, 9000, "problem", "9000 MiB are free: it does not fit"),
        (LOCAL + MORE, 3 << 30, 2900, "ok", "ram_disk = 1024 MiB; 2900 MiB are free"),  # a guest has its own
        (TWO + MORE, OURS, 2900, "ok", "ram_disk = 1024 MiB; 2900 MiB are free"),  # of no local lab
    ],
)
def test_ram_disks_of_all_hosts_of_a_local_lab_are_in_one_memory(
    tmp_path: Path, text: str, memory_bytes: int, free_mib: int, level: str, message: str
) -> None:
    (path := write_hosts(tmp_path)).write_text(text)
    config, host = load_hosts(path), FakeHost()
    memory = (memory_bytes, free_mib * MIB)
    facts = Facts("c", "linux", "Debian", "Linux", "x", 2, *memory, "root", True, "/", "eth0", 1500)
    machine = Machine("client", config.client, host, Linux(host), facts)
    (finding,) = host_check._check_memory(machine, "client memory", config)
    assert (finding.level, message in finding.message) == (level, True)
