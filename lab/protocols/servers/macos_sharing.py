"""What a Mac offers over SMB and AFP: a share point of the lab's own, and the system's server where that is off.

Accounts are looked at and never changed: macOS would keep a new password's hash, and the old one could not come back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import quote

from pydantic import Field

from lab.base.errors import Absent, Closed, LabFailure, SettingRefused
from lab.base.scripts import read_script
from lab.hosts.assumption import Capture
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import real_path
from lab.protocols.driver import Steps
from lab.protocols.mounts.macos import MOUNTING, MacMount
from lab.protocols.servers import macos_launchd
from lab.protocols.servers.macos_launchd import SERVING, Label
from lab.protocols.share import Share, Side
from lab.settings.operation import Operation
from lab.settings.parameters import OWN_FOLDER
from lab.settings.setting import Setting

READ_ACCOUNT = read_script(__file__, "macos_sharing_account.sh")
# $1 a record, which sharing may show in other letters than it was given
IS_SHARED = """
list=$(sharing -l) || exit
if printf '%s\\n' "$list" | tr A-Z a-z | grep -q "^name:[[:blank:]]*$1\\$"; then echo shared; else echo absent; fi
"""


@dataclass(frozen=True)
class MacSharePoint(Operation):
    """A share point of a Mac, named after the lab's folder."""

    kind = "mac-share-point"
    values = "absent|shared"
    volatile = False

    record: Annotated[str, Field(pattern=f"^{OWN_FOLDER}-(afp|smb)$")]
    """Its name among share points."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"share point {self.record}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(IS_SHARED, self.record, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("sharing", "-r", self.record, root=True),)


@dataclass(frozen=True)
class Service:
    """A file server of macOS.

    ``label`` is launchd's, ``flags`` (AFP, FTP, SMB) and ``name_option`` are those of sharing(8), ``hash_type`` is the
    form of a password that it needs (empty: any), ``gone`` says why it may be missing.
    """

    protocol: str
    label: Label
    port: int
    flags: str
    name_option: str
    hash_type: str
    gone: str


@dataclass(frozen=True)
class SharePoint:
    """A folder and, by protocol, the name under which it is shared; protocols that are off are left out."""

    path: str
    names: Mapping[str, str]


class MacShare(MacMount):
    """A driver of a server that shares share points. A subclass names it."""

    service: ClassVar[Service]
    assumption_files = (SERVING, MOUNTING)
    captures: ClassVar[tuple[Capture, ...]] = (
        *MacMount.captures,
        Capture(name="sharing", ask="sharing -l", parse=lambda text: parse_share_points(text), root=True),
    )

    def served_by(self, server: Side, account: str) -> str:
        """By macOS's own server, where the account may log in."""
        check_account(server, self.service, account)
        return self.service.label.rpartition(".")[2]

    def serve(self, server: Side, share: Share) -> Steps:
        """That server and a share point."""
        yield from share_folder(server, share, self.service)


def url(server: Side, share: Share) -> str:
    """``//account@address/share``, with whatever could break it percent-encoded."""
    return f"//{quote(share.account, safe='')}@{server.address}/{quote(share.name, safe='')}"


def check_account(server: Side, service: Service, account: str) -> None:
    """Raise Absent where the server is missing, Closed, with what to do, where the account may not log in."""
    group = f"com.apple.access_{service.protocol}"
    output = server.host.shell(READ_ACCOUNT, macos_launchd.plist(service.label), account, group, root=True).stdout
    role, words = server.host.name, set(output.splitlines())
    hashes = output.rpartition("hashes")[2].split()
    if "server" not in words:
        raise Absent(service.gone, "serve it from another host, or leave it out of sweeps", host=role)
    if "account" not in words:
        raise Closed(f"there is no account {account}", "give [share] account = one of that Mac's", host=role)
    if "outsider" in words:
        remedy = (
            f"add it in System Settings > General > Sharing > File Sharing (i), or "
            f"`sudo dseditgroup -o edit -a {account} -t user {group}` there"
        )
        raise Closed(f"{account} may not use File Sharing", remedy, host=role)
    if service.hash_type and hashes and service.hash_type not in hashes:
        remedy = (
            "tick the account in System Settings > General > Sharing > File Sharing (i) > Options > Windows File "
            "Sharing there, and type its password"
        )
        raise Closed(f"macOS keeps no password of {account} that SMB can use", remedy, host=role)


def share_folder(server: Side, share: Share, service: Service) -> Steps:
    """The server, where it is off, and the share point, whose record is named after the lab's folder."""
    path = real_path(server.host, share.path)
    record = f"{server.directory.rpartition('/')[2]}-{service.protocol}".lower()
    for name, point in _read_share_points(server).items():
        if point.names.get(service.protocol, "").lower() == share.name.lower() and name.lower() != record:
            message = f"it shares {point.path} as {share.name} already"
            raise LabFailure(message, "give [share] another name", host=server.host.name)
    yield from macos_launchd.switch_on(server, service.label, service.port)
    yield _share_point_setting(server, share, service, record, path)
    target = SharePoint(path, {service.protocol: share.name})
    listed = {name.lower(): point for name, point in _read_share_points(server).items()}.get(record)
    if listed != target:
        raise SettingRefused(f"asked sharing for {target}, and it lists {listed}", host=server.host.name)


def _share_point_setting(server: Side, share: Share, service: Service, record: str, path: str) -> Setting:
    flags = ("-s", service.flags, "-g", "000")  # nothing for guests
    add = ("sharing", "-a", path, "-n", record, service.name_option, share.name, *flags)
    return Setting(server.host.name, MacSharePoint(record), "shared", (command(*add, root=True),))


def _read_share_points(server: Side) -> dict[str, SharePoint]:
    return parse_share_points(server.host.run("sharing", "-l", root=True).stdout)


def parse_share_points(text: str) -> dict[str, SharePoint]:
    """Share points by record, of ``sharing -l``; older versions indent what later ones do not.

    A record begins with ``name:`` at the margin; in it are ``path:`` and, for each protocol, ``smb: {…}`` with
    ``name:`` and ``shared:``, whose last brace stands alone on its line: names may hold others. A record without a path
    is none of a folder, and left out.
    """
    _, *records = re.split(r"^name:", text, flags=re.MULTILINE)
    points = {}
    for record in records:
        path = re.search(r"^\s*path:[ \t]*(.*?)\s*$", record, re.MULTILINE)
        if not path:
            continue
        blocks = re.findall(r"^\s*(\w+):\s*\{\s*?\n(.*?)^\s*\}\s*$", record, re.MULTILINE | re.DOTALL)
        names = {}
        for protocol, block in blocks:
            values = dict(re.findall(r"^\s*(\w+):[ \t]*(.*?)[ \t]*$", block, re.MULTILINE))
            if values.get("shared") == "1":
                names[protocol] = values.get("name", "")
        points[record.split("\n")[0].strip()] = SharePoint(path[1], names)
    return points
