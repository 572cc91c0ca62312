"""The files that hosts and controller need to know one another: keys, accounts, sshd's settings, the hosts file."""

from __future__ import annotations

import re
import secrets
import socket
import sys
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from lab.local import state
from lab.local.state import ADDRESS, HOSTS, Lab

SSHD_CONFIG = """\
HostKey /etc/ssh/lab_host_key
AuthorizedKeysFile /etc/ssh/lab_authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
UseDNS no
PidFile none
MaxSessions 64
MaxStartups 100
Subsystem sftp internal-sftp
"""


def alias(name: str, host: str) -> str:
    """The name under which the controller knows a host; distinct for labs side by side."""
    return f"{host}.{name}.lab"


def write(directory: Path, name: str) -> None:
    """Write the keys and the files that each host copies into its /etc; secrets are readable by root alone."""
    while not directory.is_dir():
        with suppress(FileNotFoundError):  # a lab that just ended may take the empty folder above away
            directory.mkdir(mode=0o700, parents=True)
    public = _key_pair(directory / "identity")
    (directory / "password").touch(0o600)
    (directory / "password").write_text(secrets.token_urlsafe(12))
    known = []
    for host in HOSTS:
        etc = directory / host / "etc"
        (etc / "ssh").mkdir(parents=True)
        known.append(f"{alias(name, host)} {_key_pair(etc / 'ssh' / 'lab_host_key')}")
        (etc / "ssh" / "lab_authorized_keys").write_text(public + "\n")
        (etc / "ssh" / "sshd_config").write_text(SSHD_CONFIG)
        (etc / "hostname").write_text(host + "\n")
        (etc / "resolv.conf").write_text("")
        names = [f"127.0.0.1 localhost {host}", *(f"{ADDRESS[other]} {other}-data" for other in HOSTS)]
        (etc / "hosts").write_text("\n".join(names) + "\n")
    (directory / "known_hosts").write_text("\n".join(known) + "\n")


def _key_pair(path: Path) -> str:
    """Write a private key of mode 0600; the public one as a line of authorized_keys."""
    key = Ed25519PrivateKey.generate()
    path.touch(0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def hosts_ini(lab: Lab) -> str:
    """The hosts file of a running local lab."""
    directory = state.directory(lab.name)
    sections = [
        f"# Written by `lab local up`; removed when this lab goes down.\n"
        f"[lab]\n"
        f"title = local lab on {socket.gethostname()}: {_link_title(lab)}\n"
        f"instance = {lab.name}/{lab.instance}\n"
    ]
    for host in HOSTS:
        sections.append(
            f"[{host}]\n"
            f"host = {alias(lab.name, host)}\n"
            f"user = root\n"
            f"sudo = none\n"
            f"identity = {directory / 'identity'}\n"
            f"known_hosts = {directory / 'known_hosts'}\n"
            f"proxy_command = {sys.executable} -m lab.local.connect {lab.name} {host}\n"
            f"data_address = {ADDRESS[host]}\n"
            f"ram_disk = 2 GiB\n"
        )
    sections.append(
        f"[share]\nserve = lab\npath = /srv/disk\naccount = lab\npassword = file:{directory / 'password'}\n"
    )
    return "\n".join(sections)


def _link_title(lab: Lab) -> str:
    rate = re.sub(r"([kmg]?)bit$", lambda unit: f" {unit[1].upper().replace('K', 'k')}bit/s", lab.rate)
    rate = "unshaped" if rate == "none" else rate
    delay = re.sub(r"(us|ms|s)$", r" \1", lab.delay)
    return f"{rate}, no added delay" if delay == "none" else f"{rate}, {delay} of delay each way"
