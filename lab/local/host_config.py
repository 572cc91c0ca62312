"""The files by which controller and hosts reach each other: keys, accounts, sshd's settings, the hosts file."""

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

# Stands before it on an emulated Mac: the PATH for commands, and logins by password
MAC_SSHD_CONFIG = """\
SetEnv PATH=/usr/bin:/bin:/usr/sbin:/sbin
PasswordAuthentication yes
AuthorizedKeysFile /etc/ssh/lab_authorized_keys .ssh/authorized_keys
"""

ROOT_ACCOUNT, MAC_ACCOUNT = "user = root\nsudo = none\n", "user = lab\nsudo = nopasswd\n"
OLD_TRANSPORT = "transport = openssh\nssh_algorithms = ssh-rsa\n"  # only OpenSSH has the algorithms of old Macs


def write(directory: Path, name: str, host_platforms: Mapping[str, str]) -> None:
    """Write the keys and the files that each host copies into its /etc; only root can read secrets."""
    while not directory.is_dir():
        with suppress(FileNotFoundError):  # a lab that ends now may remove the parent folder
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
        config = SSHD_CONFIG.format(kind=kind)
        version = platforms.mac_version(host_platforms[host])
        if version:
            limits = platforms.old_algorithms(host_platforms[host]).items()
            config = MAC_SSHD_CONFIG + "".join(f"{name} {value}\n" for name, value in limits) + config
            (etc / "emulated-mac-version").write_text(f"{version}\n")
            # fills the password databases of a Mac's file servers
            _write_secret(etc / "emulated-mac-password", password)
        (etc / "ssh" / "sshd_config").write_text(config)
        host_name = host.replace(".", "-")  # a dot would separate the name of a domain
        (etc / "hostname").write_text(f"{host_name}\n")
        (etc / "resolv.conf").write_text("")
        names = [f"127.0.0.1 localhost {host_name}\n"]
        names += [f"{ADDRESS[other]} {other}-data\n" for other in host_platforms]
        (etc / "hosts").write_text("".join(names))
    (directory / "known_hosts").write_text("".join(known_hosts))


def _write_secret(path: Path, text: str) -> None:
    path.touch(0o600)
    path.write_text(text)


def _key_kind(platform: str) -> str:
    """The kind of a host's key and of the controller's key: ``rsa`` for a Mac before 10.11, else ``ed25519``."""
    return "rsa" if platforms.old_algorithms(platform) else "ed25519"


def _write_key_pair(path: Path, kind: str) -> str:
    """Write a private key of mode 0600 and its public key; returns the public key as a line of authorized_keys."""
    key = rsa.generate_private_key(65537, 2048) if kind == "rsa" else Ed25519PrivateKey.generate()
    path.touch(0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    path.with_name(f"{path.name}.pub").write_text(f"{public}\n")
    return public


def hosts_ini(lab: Lab) -> str:
    """The hosts file of a running local lab."""
    directory, backend = state.directory(lab.name), backends.find(lab.backend)
    clients = len(lab.platforms) - 1
    clients_title = f", {clients} clients" if clients > 1 else ""
    kernel_title = f", {backend.title}" if backend.own_kernel else ""  # guests are slower than their machine
    title = f"{_link_title(lab)}{clients_title}{kernel_title}{platforms.title(lab.platforms)}"
    sections = [
        f"# Written by `lab local up`; removed when this lab goes down.\n"
        f"[lab]\n"
        f"title = local lab on {socket.gethostname()}: {title}\n"
        f"instance = {lab.name}/{lab.instance}\n"
    ]
    for host in sorted(lab.platforms, key=lambda host: host == "server"):  # the server has the last section
        kind, is_mac = _key_kind(lab.platforms[host]), platforms.mac_version(lab.platforms[host])
        sections.append(
            f"[{host}]\n"
            f"host = {state.alias(lab.name, host)}\n"
            f"{MAC_ACCOUNT if is_mac else ROOT_ACCOUNT}"
            f"{OLD_TRANSPORT if kind == 'rsa' else ''}"
            f"identity = {state.identity(lab.name, kind)}\n"
            f"known_hosts = {directory / 'known_hosts'}\n"
            f"proxy_command = {' '.join(PYTHON)} -m lab.local.proxy_command {lab.name} {host}\n"
            f"data_address = {ADDRESS[host]}\n"
            f"ram_disk = {backend.ram_disk}\n"
        )
    # a folder on this machine's own disk; a Mac has no /srv
    folder = "/Users/Shared/disk" if platforms.mac_version(lab.platforms["server"]) else "/srv/disk"
    sections.append(f"[share]\nserve = lab\npath = {folder}\naccount = lab\npassword = file:{directory / 'password'}\n")
    return "\n".join(sections)


def _link_title(lab: Lab) -> str:
    rate = _rate_title(lab.rate)
    rate += "".join(f", {host} {_rate_title(host_rate)}" for host, host_rate in lab.rates.items())
    delay = re.sub(r"(us|ms|s)$", r" \1", lab.delay)
    return f"{rate}, no added delay" if delay == "none" else f"{rate}, {delay} of delay each way"


def _rate_title(rate: str) -> str:
    if rate == "none":
        return "unshaped"
    return re.sub(r"([kmg]?)bit$", lambda match: f" {match[1].upper().replace('K', 'k')}bit/s", rate)
