"""What is to be measured: which protocol, which server, over which interface, and through which folder."""

import getpass
import socket
from dataclasses import dataclass

from lab.base.errors import BadInput, LabFailure
from lab.base.os_errors import reason_of
from lab.base.untrusted import first_line
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.measure.mounted import find_share
from lab.measure.server_address import check_elsewhere, check_offered, find_address
from lab.measure.target import Folder, SshName, Target, Url
from lab.platforms import Facts, Platform, detect
from lab.protocols import find

SOME_PORT = 9  # of a datagram that is never sent


@dataclass(frozen=True)
class Subject:
    """A share, or a host, as this machine reaches it.

    ``server`` is its name, ``address`` where it is, ``own_address`` that of this machine on the way there, ``facts``
    what this machine is. ``mounted`` is the folder where somebody else has mounted the share. It is empty if the lab is
    to mount it; then ``share``, ``folder`` and ``account`` say what. ``login`` is who logs in to the server, as ssh
    knows it; empty where nobody does.
    """

    target: str
    protocol: str
    server: str
    address: str
    own_address: str
    facts: Facts
    mounted: str = ""
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
    mount = find_share(platform, target.path)
    address, own_address, facts = _reach(mount.address, platform)
    return Subject(
        str(target), mount.protocol, mount.server, address, own_address, facts, mounted=target.path,
        share=mount.share, login=login,
    )  # fmt: skip


def _of_url(target: Url, platform: Platform, login: str) -> Subject:
    port = find(target.protocol).port
    if target.port not in (None, port):
        raise BadInput(
            f"{target}: the lab mounts {target.protocol} on port {port} alone", "mount it, and give the folder"
        )
    address, own_address, facts = _reach(target.server, platform)
    check_offered(platform, target.server, address, target.protocol, port)
    account = target.user.rpartition(";")[2] or getpass.getuser()
    return Subject(
        str(target), target.protocol, target.server, address, own_address, facts, share=target.share,
        folder=target.folder, account=account, login=login,
    )  # fmt: skip


def _of_host(target: SshName, platform: Platform) -> Subject:
    from lab.hosts.ssh_target import ssh_config  # paramiko is slow to import

    name = ssh_config(target.host)[0].get("hostname", target.host)
    address, own_address, facts = _reach(name, platform)
    return Subject(str(target), "ssh", name, address, own_address, facts, login=str(target))


def _reach(server: str, platform: Platform) -> tuple[str, str, Facts]:
    """The server's address, this machine's own on the way there, and what this machine is. Raises BadInput."""
    address = find_address(server)
    check_elsewhere(platform, server, address)
    try:
        return address, _own_address(address), platform.facts(address)
    except (LabFailure, OSError) as error:
        reason = error.message if isinstance(error, LabFailure) else reason_of(error)
        message = f"there is no way to the server {server} ({address}): {first_line(reason)}"
        raise BadInput(message, "is this machine on its network?") from error


def _own_address(address: str) -> str:
    """This machine's address on the way to another one; nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, SOME_PORT))
        return str(probe.getsockname()[0])
