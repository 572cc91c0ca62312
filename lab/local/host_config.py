"""The files by which hosts and controller reach one another: keys, accounts, sshd's settings, the hosts file."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from lab.base.own_python import PYTHON
from lab.local import backends, platforms, state
from lab.local.state import ADDRESS, Lab

SSHD_CONFIG = """\
HostKey /etc/ssh/ssh_host_{kind}_key
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

# An emulated Mac has this before it: the PATH that its sshd gives to commands, and people who log in by password
MAC_SSHD_CONFIG = """\
SetEnv PATH=/usr/bin:/bin:/usr/sbin:/sbin
PasswordAuthentication yes
AuthorizedKeysFile /etc/ssh/lab_authorized_keys .ssh/authorized_keys
"""


def write(directory: Path, name: str, host_platforms: Mapping[str, str]) -> None:
    """Write the keys and the files that each host copies into its /etc; secrets are readable by root alone."""
    while not directory.is_dir():
        with suppress(FileNotFoundError):  # a lab that ends now may remove the folder above
            state.RUN.mkdir(mode=0o755, exist_ok=True)
            directory.mkdir(mode=0o700)
    kinds = {_key_kind(platform) for platform in host_platforms.values()}
    public_keys = {kind: _write_key_pair(state.identity(name, kind), kind) for kind in kinds}
    password = secrets.token_urlsafe(12)
    _write_secret(directory / "password", password)
    known_hosts = []
    for host in host_platforms:
        etc = directory / host / "etc"
        (etc / "ssh").mkdir(parents=True)
        kind = _key_kind(host_platforms[host])
        host_key = _write_key_pair(etc / "ssh" / f"ssh_host_{kind}_key", kind)
        known_hosts.append(f"{state.alias(name, host)} {host_key}\n")
        (etc / "ssh" / "lab_authorized_keys").write_text(public_keys[kind] + "\n")
        (etc / "ssh" / "sshd_config").write_text(_sshd_config(host_platforms[host]))
        version = platforms.mac_version(host_platforms[host])
        if version:
            (etc / "emulated-mac-version").write_text(f"{version}\n")
            # a Mac's file servers keep databases of passwords, which are filled from this
            _write_secret(etc / "emulated-mac-password", password)
        (etc / "hostname").write_text(_host_name(host) + "\n")
        (etc / "resolv.conf").write_text("")
        names = [
            f"127.0.0.1 localhost {host.replace('.', '-')}",
            *(f"{ADDRESS[other]} {other}-data" for other in host_platforms),
        ]
        (etc / "hosts").write_text("\n".join(names) + "\n")
    (directory / "known_hosts").write_text("".join(known_hosts))


def _host_name(host: str) -> str:
    """What a host calls itself: a point would part its name from that of a domain."""
    return host.replace(".", "-")


def _write_secret(path: Path, text: str) -> None:
    """Write a file that root alone may read."""
    path.touch(0o600)
    path.write_text(text)


def _key_kind(platform: str) -> str:
    """The kind of a host's key, and of the controller's key to it: ``rsa`` for a Mac before 10.11, else ``ed25519``."""
    return "rsa" if platforms.old_algorithms(platform) else "ed25519"


def _sshd_config(platform: str) -> str:
    config = SSHD_CONFIG.format(kind=_key_kind(platform))
    if not platforms.mac_version(platform):
        return config
    limits = "".join(f"{name} {value}\n" for name, value in platforms.old_algorithms(platform).items())
    return MAC_SSHD_CONFIG + limits + config


def _write_key_pair(path: Path, kind: str) -> str:
    """Write a private key of mode 0600 and the public one beside it; returns that, as a line of authorized_keys."""
    key = rsa.generate_private_key(65537, 2048) if kind == "rsa" else Ed25519PrivateKey.generate()
    path.touch(0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    path.with_name(f"{path.name}.pub").write_text(f"{public}\n")
    return public


def hosts_ini(lab: Lab) -> str:
    """The hosts file of a running local lab."""
    directory = state.directory(lab.name)
    title = f"{_link_title(lab)}{_clients_title(lab)}{_kernel_title(lab)}{platforms.title(lab.platforms)}"
    sections = [
        f"# Written by `lab local up`; removed when this lab goes down.\n"
        f"[lab]\n"
        f"title = local lab on {socket.gethostname()}: {title}\n"
        f"instance = {lab.name}/{lab.instance}\n"
    ]
    for host in sorted(lab.platforms, key=lambda host: host == "server"):  # which has the last section
        sections.append(
            f"[{host}]\n"
            f"host = {state.alias(lab.name, host)}\n"
            f"{_account(lab, host)}"
            f"{_transport(lab.platforms[host])}"
            f"identity = {state.identity(lab.name, _key_kind(lab.platforms[host]))}\n"
            f"known_hosts = {directory / 'known_hosts'}\n"
            f"proxy_command = {' '.join(PYTHON)} -m lab.local.proxy_command {lab.name} {host}\n"
            f"data_address = {ADDRESS[host]}\n"
            f"ram_disk = {backends.find(lab.backend).ram_disk}\n"
        )
    sections.append(
        f"[share]\nserve = lab\npath = {_shared_folder(lab)}\naccount = lab\npassword = file:{directory / 'password'}\n"
    )
    return "\n".join(sections)


def _account(lab: Lab, host: str) -> str:
    """The keys for the account: root, or on an emulated Mac its user, who may use sudo."""
    if platforms.mac_version(lab.platforms[host]):
        return "user = lab\nsudo = nopasswd\n"
    return "user = root\nsudo = none\n"


def _transport(platform: str) -> str:
    """The keys for old Macs, with whose algorithms only OpenSSH still speaks."""
    return "transport = openssh\nssh_algorithms = ssh-rsa\n" if _key_kind(platform) == "rsa" else ""


def _shared_folder(lab: Lab) -> str:
    """The path on the server of a folder on this machine's own disk; a Mac has no /srv."""
    return "/Users/Shared/disk" if platforms.mac_version(lab.platforms["server"]) else "/srv/disk"


def _clients_title(lab: Lab) -> str:
    """How many clients there are, where that is more than one."""
    clients = len(lab.platforms) - 1
    return f", {clients} clients" if clients > 1 else ""


def _kernel_title(lab: Lab) -> str:
    """Guests are slower than the machine that they run on: nobody should take their figures for its own."""
    return f", {backend.title}" if (backend := backends.find(lab.backend)).own_kernel else ""


def _link_title(lab: Lab) -> str:
    rate = _rate_title(lab.rate)
    rate += "".join(f", {host} {_rate_title(own)}" for host, own in lab.rates.items())
    delay = re.sub(r"(us|ms|s)$", r" \1", lab.delay)
    return f"{rate}, no added delay" if delay == "none" else f"{rate}, {delay} of delay each way"


def _rate_title(rate: str) -> str:
    if rate == "none":
        return "unshaped"
    return re.sub(r"([kmg]?)bit$", lambda match: f" {match[1].upper().replace('K', 'k')}bit/s", rate)
