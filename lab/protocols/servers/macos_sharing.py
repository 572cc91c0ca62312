"""Sharing over SMB and AFP on a Mac: a share point of the lab's own, and the system's server if it is off.

launchd keeps a note of who enabled or disabled a service. The note overrides the property list, survives restarts, and
cannot be deleted: it is changed only if it says "disabled", and set back afterwards.

Accounts are never changed, because macOS keeps only the hash of a password: the old password could not be restored.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias
from urllib.parse import quote

from pydantic import Field

from lab.base.addresses import for_url
from lab.base.errors import Absent, Closed, LabFailure, SettingRefused
from lab.base.scripts import beside, read_script
from lab.hosts.assumptions import Capture
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import real_path
from lab.protocols.driver import Share, Side, Steps
from lab.protocols.mounts.macos import MOUNTING, MacMount
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OWN_FOLDER

DAEMONS = "/System/Library/LaunchDaemons"
Label: TypeAlias = Literal["com.apple.AppleFileServer", "com.apple.smbd"]
IS_LOADED = 'if launchctl list "$1" >/dev/null 2>&1; then echo loaded; else echo off; fi'
SERVING = beside(__file__, "macos_assumptions.toml")
READ_SWITCH = read_script(__file__, "macos_launchd_switch.sh")
LOAD = read_script(__file__, "macos_launchd_load.sh")
UNLOAD = read_script(__file__, "macos_launchd_unload.sh")
REMEDY = "see what launchd has of it there: `sudo launchctl list {label}`"
READ_ACCOUNT = read_script(__file__, "macos_sharing_account.sh")
# $1 a record, which sharing may show in other letters than it was given
IS_SHARED = """
list=$(sharing -l) || exit
if printf '%s\\n' "$list" | tr A-Z a-z | grep -q "^name:[[:blank:]]*$1\\$"; then echo shared; else echo absent; fi
"""


def plist(label: Label) -> str:
    """The property list by which launchd knows a service."""
    return f"{DAEMONS}/{label}.plist"


@dataclass(frozen=True)
class MacService(Operation):
    """A file server of macOS, where it was off."""

    kind = "mac-service"
    label_format = "service {service}"
    values = "off|loaded"

    service: Label
    """Its name in launchd."""

    def read(self) -> Command:
        return script(IS_LOADED, self.service, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNLOAD, plist(self.service), self.service, root=True),)


@dataclass(frozen=True)
class MacServiceSwitch(Operation):
    """launchd's note that a file server of macOS is switched off."""

    kind = "mac-service-switch"
    label_format = "switch of {service}"
    values = "enabled|disabled|none"
    volatile = False

    service: Label
    """Its name in launchd."""

    def read(self) -> Command:
        return script(READ_SWITCH, self.service, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (switch(self.service, "disable"),) if old == "disabled" else ()


@dataclass(frozen=True)
class MacSharePoint(Operation):
    """A share point of a Mac, named after the lab's folder."""

    kind = "mac-share-point"
    label_format = "share point {record}"
    values = "absent|shared"
    volatile = False

    record: Annotated[str, Field(pattern=f"^{OWN_FOLDER}-(afp|smb)$")]
    """The name of the share point."""

    def read(self) -> Command:
        return script(IS_SHARED, self.record, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("sharing", "-r", self.record, root=True),)


@dataclass(frozen=True)
class Service:
    """A file server of macOS.

    ``label`` is its name in launchd; ``flags`` (AFP, FTP, SMB) and ``name_option`` are arguments of sharing(8).
    ``hash_type`` is the form of password that it needs (empty: any), ``gone`` says why it may be missing.
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
        """By macOS's own server. Raises Absent if it is missing, Closed if the account may not log in."""
        group = f"com.apple.access_{self.service.protocol}"
        output = server.host.shell(READ_ACCOUNT, plist(self.service.label), account, group, root=True).stdout
        role, words = server.host.name, set(output.splitlines())
        hashes = output.rpartition("hashes")[2].split()
        if "server" not in words:
            raise Absent(self.service.gone, "serve it from another host, or leave it out of sweeps", host=role)
        if "account" not in words:
            raise Closed(f"there is no account {account}", "give [share] account = one of that Mac's", host=role)
        if "outsider" in words:
            remedy = (
                f"add it in System Settings > General > Sharing > File Sharing (i), or "
                f"`sudo dseditgroup -o edit -a {account} -t user {group}` there"
            )
            raise Closed(f"{account} may not use File Sharing", remedy, host=role)
        if self.service.hash_type and hashes and self.service.hash_type not in hashes:
            remedy = (
                "tick the account in System Settings > General > Sharing > File Sharing (i) > Options > Windows File "
                "Sharing there, and type its password"
            )
            raise Closed(f"macOS keeps no password of {account} that SMB can use", remedy, host=role)
        return self.service.label.rpartition(".")[2]

    def serve(self, server: Side, share: Share) -> Steps:
        """Start that server if it is off, and add a share point whose record is named after the lab's folder."""
        path = real_path(server.host, share.path)
        record = f"{server.directory.rpartition('/')[2]}-{self.service.protocol}".lower()
        for name, point in _read_share_points(server).items():
            if point.names.get(self.service.protocol, "").lower() == share.name.lower() and name.lower() != record:
                message = f"it shares {point.path} as {share.name} already"
                raise LabFailure(message, "give [share] another name", host=server.host.name)
        yield from switch_on(server, self.service.label, self.service.port)
        flags = ("-s", self.service.flags, "-g", "000")  # nothing for guests
        add = ("sharing", "-a", path, "-n", record, self.service.name_option, share.name, *flags)
        yield Setting(server.host.name, MacSharePoint(record), "shared", (command(*add, root=True),))
        target = SharePoint(path, {self.service.protocol: share.name})
        listed = {name.lower(): point for name, point in _read_share_points(server).items()}.get(record)
        if listed != target:
            raise SettingRefused(f"asked sharing for {target}, and it lists {listed}", host=server.host.name)


def switch(label: Label, verb: Literal["enable", "disable"]) -> Command:
    """The command by which launchd 2 (10.10 and later) notes that a service is enabled or disabled."""
    return command("launchctl", verb, f"system/{label}", root=True)


def switch_on(server: Side, label: Label, port: int) -> Steps:
    """Start a service if it is off, and wait until it listens. If launchd has disabled it, enable it first."""
    noted = MacServiceSwitch(label)
    if server.host.shell(READ_SWITCH, label, root=True).stdout.strip() == "disabled":
        yield Setting(server.host.name, noted, "enabled", (switch(label, "enable"),), REMEDY.format(label=label))
    load = script(LOAD, plist(label), server.listening(port), label, root=True, deadline_s=60)
    yield Setting(server.host.name, MacService(label), "loaded", (load,), REMEDY.format(label=label))


def url(server: Side, share: Share) -> str:
    """``//account@address/share``, with whatever could break it percent-encoded."""
    return f"//{quote(share.account, safe='')}@{for_url(server.address)}/{quote(share.name, safe='')}"


def _read_share_points(server: Side) -> dict[str, SharePoint]:
    return parse_share_points(server.host.run("sharing", "-l", root=True).stdout)


def parse_share_points(text: str) -> dict[str, SharePoint]:
    """Share points by record, of ``sharing -l``; older versions indent what later ones do not.

    A record begins with ``name:`` at the margin. It has ``path:`` and, for each protocol, ``smb: {…}`` with ``name:``
    and ``shared:``. Only the last brace is alone on its line, because names may contain braces. A record without a path
    shares no folder, and is left out.
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
