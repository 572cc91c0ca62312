"""What is to be measured: which protocol, which server, over which interface, and through which folder."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass

from lab.base.errors import BadInput, LabFailure
from lab.base.untrusted import first_line
from lab.hosts import SshHost
from lab.hosts.hosts_file import HostConfig
from lab.measure.target import Folder, SshName, Target, Url
from lab.platforms import Facts, Platform, detect
from lab.platforms.mounts import MountedShare
from lab.protocols import find

SOME_PORT = 9  # of a datagram that is never sent


@dataclass(frozen=True)
class Subject:
    """A share, or a host, as this machine reaches it.

    ``address`` is the server's, ``own_address`` that of this machine on the way there. ``mounted`` is the folder where
    somebody else has mounted it, with ``mount`` as the table has it; of a share that is to be mounted they are empty
    and None, and ``share``, ``folder`` in it and ``account`` say what. ``login`` is who logs in to the server, as ssh
    knows it; empty where nobody does.
    """

    target: str
    protocol: str
    address: str
    own_address: str
    facts: Facts
    mounted: str = ""
    mount: MountedShare | None = None
    share: str = ""
    folder: str = ""
    account: str = ""
    login: str = ""


def local_platform() -> Platform:
    """This machine. Raises LabFailure for a system that the lab does not know."""
    return detect(SshHost("client", HostConfig(transport="local", sudo="none", data_address="127.0.0.1")))


def find_subject(target: Target, platform: Platform, login: str = "") -> Subject:
    """What a target is. ``login`` is a host of the ssh config that is the server, where the target does not say it.

    Raises BadInput for what cannot be measured.
    """
    if isinstance(target, Folder):
        return _of_folder(target, platform, login)
    if isinstance(target, Url):
        return _of_url(target, platform, login)
    return _of_host(target, platform)


def _of_folder(target: Folder, platform: Platform, login: str) -> Subject:
    mount = platform.mounts.find(target.path)
    name = mount.options.get("addr", mount.server)
    address, own_address, facts = _reach(name, target.path, platform)
    return Subject(
        f"{target}", mount.protocol, address, own_address, facts, mounted=target.path, mount=mount,
        share=mount.share, login=login,
    )  # fmt: skip


def _of_url(target: Url, platform: Platform, login: str) -> Subject:
    if target.port not in (None, find(target.protocol).port):
        raise BadInput(
            f"{target}: the lab mounts on port {find(target.protocol).port} alone", "mount it, and give the folder"
        )
    address, own_address, facts = _reach(target.server, str(target), platform)
    account = target.user.rpartition(";")[2] or getpass.getuser()
    return Subject(
        str(target), target.protocol, address, own_address, facts, share=target.share, folder=target.folder,
        account=account, login=login,
    )  # fmt: skip


def _of_host(target: SshName, platform: Platform) -> Subject:
    from lab.hosts.ssh_target import ssh_config  # paramiko is slow to import

    address, own_address, facts = _reach(ssh_config(target.host)[0].get("hostname", target.host), str(target), platform)
    return Subject(str(target), "ssh", address, own_address, facts, login=str(target))


def _reach(name: str, target: str, platform: Platform) -> tuple[str, str, Facts]:
    """The server's address, this machine's own on the way there, and what this machine is. Raises BadInput."""
    address = _resolve(name.removesuffix("."), target)
    try:
        facts = platform.facts(address)
        return address, _own_address(address), facts
    except (LabFailure, OSError) as error:
        reason = error.message if isinstance(error, LabFailure) else str(error)
        if "address of this host itself" in reason:
            raise BadInput(
                f"{target}: its server {name} is this very machine: no byte would cross a network",
                "measure from another machine",
            ) from error
        raise BadInput(f"{target}: no way to its server {name} ({address}): {first_line(reason)}") from error


def _resolve(name: str, target: str) -> str:
    # a Mac names a server that it found by Bonjour with the service: nas._smb._tcp.local
    parts = [part for part in name.split(".") if not part.startswith("_")]
    name = ".".join(parts) if name.endswith(".local") else name
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise BadInput(f"{target}: the server {name} cannot be looked up: {error}", "is the name right?") from error
    addresses = sorted({str(entry[4][0]) for entry in found}, key=lambda address: ":" in address)
    return addresses[0]


def _own_address(address: str) -> str:
    """This machine's address on the way to another one; nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, SOME_PORT))
        return str(probe.getsockname()[0])
