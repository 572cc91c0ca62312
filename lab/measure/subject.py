"""The share to measure, as this machine reaches it: protocol, server, addresses, and folder; or why it cannot."""

import getpass
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from lab.base.addresses import own_address_towards, with_zone, without_zone
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import first_line, listing, one_line
from lab.hosts.fields import is_loopback
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.measure.target import Folder, Target, Url
from lab.platforms import Facts, Platform, detect
from lab.platforms.mounts import MountedShare
from lab.protocols import find

OTHER_NETWORKS = re.compile(r"(fuse|macfuse|osxfuse)(\..+)?|9p|virtiofs|ceph|glusterfs|lustre|webdav|davfs|ftp|vboxsf")
# As Finder names a server: by its service, whose name is mostly the name of the host with spaces
SERVICE = re.compile(r"(.+)\._[a-z]+\._tcp\.local\.?")
NEITHER = "there is no such folder here, and "  # a bare name may be a folder or a host
LOOK = "is its name right, and this machine on its network?"
BY_MDNS = "Names in .local take mDNS (Linux: avahi-daemon, libnss-mdns). "


@dataclass(frozen=True)
class Subject:
    """A share, or a host, as this machine reaches it.

    ``server`` is its name; ``address`` is the server's, ``own_address`` this machine's on the way to it. ``facts`` are
    about this machine. ``mounted`` is the folder of a share that is mounted already; else the lab mounts ``share`` with
    ``folder`` and ``account``. ``login`` is a login on the server for ssh, or empty.
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
    """This machine. Raises LabFailure for an unknown system."""
    return detect(SshHost("client", HostConfig(transport="local", sudo="none", data_address="127.0.0.1")))


def find_subject(target: Target, platform: Platform, login: str = "") -> Subject:
    """The subject of a target. ``login`` is the server in the ssh config, for a folder or a URL.

    Raises BadInput for a target that cannot be measured.
    """
    if isinstance(target, Folder):
        mount = find_share(platform, target.path)
        reached = _reach(mount.address, platform)
        return Subject(str(target), mount.protocol, mount.server, *reached, target.path, share=mount.share, login=login)
    if isinstance(target, Url):
        return _find_url(target, platform, login)
    from lab.hosts.ssh_target import ssh_config  # paramiko is slow to import

    name = ssh_config(target.host)[0].get("hostname", target.host)
    return Subject(str(target), "ssh", name, *_reach(name, platform, "" if target.user else NEITHER), login=str(target))


def _find_url(target: Url, platform: Platform, login: str) -> Subject:
    port = find(target.protocol).port
    if target.port not in (None, port):
        message = f"{target}: the lab mounts {target.protocol} on port {port} alone"
        raise BadInput(message, "mount it, and give the folder")
    address, own_address, facts = _reach(target.server, platform)
    check_offered(platform, target.server, address, target.protocol, port)
    return Subject(
        str(target), target.protocol, target.server, address, own_address, facts, share=target.share,
        folder=target.folder, account=target.user.rpartition(";")[2] or getpass.getuser(), login=login,
    )  # fmt: skip


def find_share(platform: Platform, folder: str) -> MountedShare:
    """The share of a folder. Raises BadInput if the folder is on no share, or cannot be entered; LabFailure."""
    mounted = platform.mounts.find(folder)
    if mounted.protocol:
        return mounted
    name, kind = one_line(folder, 80), one_line(mounted.kind, 40)
    remedy = _describe_shares(platform.mounts.table())
    if kind == "fuse.gvfsd-fuse":
        raise BadInput(f"{name} is where GVfs shows its shares, and none of them", "give one of the folders in it")
    if kind == "autofs":
        raise BadInput(f"{name} has an automounter, and it mounts nothing there", remedy)
    if OTHER_NETWORKS.fullmatch(kind):
        known = "the lab knows shares of SMB, NFS, AFP and SSH"
        raise BadInput(f"{name} is on {kind}, which may be on a network; {known}", remedy)
    raise BadInput(f"{name} is on a disk or in the memory of this machine ({kind}), and on no share", remedy)


def _describe_shares(table: Iterable[MountedShare]) -> str:
    shares = [f"{mounted.path} ({mounted.label})" for mounted in table if mounted.protocol]
    if not shares:
        return "no share is mounted here: mount it, or give its URL, such as smb://SERVER/SHARE"
    return f"what is mounted here: {listing(shares, 5)}"


def _reach(server: str, platform: Platform, before: str = "") -> tuple[str, str, Facts]:
    """The server's address, this machine's address on the way to it, and this machine's facts.

    Raises BadInput; for a name without an address the message begins with ``before``.
    """
    try:
        address = find_address(server, before)
    except BadInput as error:
        raise BadInput(error.message, _or_kept_off(platform, error.remedy)) from error
    check_elsewhere(platform, server, address)
    try:
        own_address = own_address_towards(address)
        return address, own_address, platform.facts(address)
    except OSError as error:
        message = f"there is no way to {_named(server, address)}: {first_line(reason_of(error))}"
        raise BadInput(message, _or_kept_off(platform, "is this machine on its network?")) from error


def _named(server: str, address: str) -> str:
    return f"the server {one_line(server, 80)}{f' ({address})' if address != server else ''}"


def find_address(server: str, before: str = "") -> str:
    """The address of a server. Raises BadInput, which begins with ``before``, for a name without an address."""
    service = SERVICE.fullmatch(server)
    name = f"{service[1].replace(' ', '-')}.local" if service else server
    try:
        return with_zone(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4])
    except (OSError, UnicodeError) as error:
        message = f"{before}the server {one_line(server, 80)} is not to be found: {one_line(reason_of(error), 80)}"
        remedy = f"{LOOK} {BY_MDNS if name.endswith('.local') else ''}Its address may do"
        raise BadInput(message, f"{remedy}; a share is //SERVER/SHARE" if before else remedy) from error


def check_elsewhere(platform: Platform, server: str, address: str) -> None:
    """Raise BadInput if the server is this machine. Raises LabFailure."""
    own = {without_zone(own).lower() for names in platform.network.addresses().values() for own in names}
    if is_loopback(address) or without_zone(address).lower() in own:
        message = f"{_named(server, address)} is this machine itself: nothing would cross a link"
        raise BadInput(message, "measure it from another machine")


def check_offered(platform: Platform, server: str, address: str, protocol: str, port: int) -> None:
    """Raise BadInput if a server takes no connections for a protocol, because a mount would fail after a minute."""
    if not platform.network.answers(address, port):
        name = protocol.upper()
        message = f"{_named(server, address)} does not answer at port {port}, that of {name}"
        remedy = f"is it on, and on this network, and does it offer {name}? Its firewall must let this machine in"
        raise BadInput(message, _or_kept_off(platform, remedy))


def _or_kept_off(platform: Platform, remedy: str) -> str:
    return f"{remedy} {platform.network.kept_off()}".rstrip()
