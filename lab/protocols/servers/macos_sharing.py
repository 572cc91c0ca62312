"""What a Mac offers over SMB and AFP: a share point of the lab's own, and the system's server where that is off.

Accounts are looked at and never changed: macOS would keep a new password's hash, and the old one could not come back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

from lab.base.errors import Absent, LabFailure, SettingRefused, Unsupported
from lab.hosts.command import command, script
from lab.hosts.mounts import real_path
from lab.protocols.driver import Share, Side, Steps
from lab.protocols.mounts.macos import MacMount
from lab.settings.background import listening
from lab.settings.setting import Setting

DAEMONS = "/System/Library/LaunchDaemons"
# $1 the server's property list, $2 the account, $3 the group of accounts that may use it, where there is one
LOOK = """
command -v sharing >/dev/null && [ -f "$1" ] && echo server
id -u "$2" >/dev/null 2>&1 && echo account
if dscl . -read "/Groups/$3" >/dev/null 2>&1; then
    dseditgroup -o checkmember -m "$2" "$3" 2>/dev/null | grep -q '^no ' && echo outsider
fi
echo hashes $(pwpolicy -u "$2" -gethashtypes 2>/dev/null)
"""
IS_LOADED = 'if launchctl list "$1" >/dev/null 2>&1; then echo loaded; else echo off; fi'
# $1 the property list, $2 a test of readiness. -F passes over that the server is switched off and, other than -w,
# leaves it so: nobody can take launchd's note of a switch away again. launchctl may fail and exit 0: what reads back
# decides
LOAD = """
launchctl load -F "$1" || exit
tries=0
until sh -c "$2"; do
    tries=$((tries + 1)); [ $tries -gt 150 ] && { echo "$1 was loaded, and nothing listens" >&2; exit 1; }
    sleep 0.1
done
"""
# $1 a record, which sharing may show in other letters than it was given
IS_SHARED = """
list=$(sharing -l) || exit
if printf '%s\\n' "$list" | tr A-Z a-z | grep -q "^name:[[:blank:]]*$1\\$"; then echo shared; else echo absent; fi
"""
REASONS = ((r"nothing listens", "what launchd says of it there: `sudo launchctl list` and its label"),)


@dataclass(frozen=True)
class Service:
    """A file server of macOS.

    ``label`` is launchd's, ``flags`` (AFP, FTP, SMB) and ``name_option`` are those of sharing(8), ``hash_type`` is the
    form of a password that it needs (empty: any), ``gone`` says why it may be missing.
    """

    protocol: str
    label: str
    port: int
    flags: str
    name_option: str
    hash_type: str
    gone: str

    @property
    def plist(self) -> str:
        """What launchd knows of it."""
        return f"{DAEMONS}/{self.label}.plist"


@dataclass(frozen=True)
class SharePoint:
    """A folder and, by protocol, the name under which it is shared; protocols that are off are left out."""

    path: str
    names: Mapping[str, str]


class MacShare(MacMount):
    """A driver of a server that shares share points. A subclass names it."""

    service: ClassVar[Service]

    def served_by(self, server: Side, account: str) -> str:
        """By macOS's own server, where the account may log in."""
        check(server, self.service, account)
        return self.service.label.rpartition(".")[2]

    def serve(self, server: Side, share: Share) -> Steps:
        """That server and a share point."""
        yield from offer(server, share, self.service)


def url(server: Side, share: Share) -> str:
    """``//account@address/share``, with whatever could break it percent-encoded."""
    return f"//{quote(share.account, safe='')}@{server.address}/{quote(share.name, safe='')}"


def check(server: Side, service: Service, account: str) -> None:
    """Raise Unsupported, with what to do, where the server is missing or the account may not log in."""
    group = f"com.apple.access_{service.protocol}"
    look = server.host.shell(LOOK, service.plist, account, group, root=True).stdout
    role, found = server.host.role, set(look.splitlines())
    hashes = look.rpartition("hashes")[2].split()
    if "server" not in found:
        raise Absent(f"{role}: {service.gone}: serve it from another host, or leave it out of sweeps")
    if "account" not in found:
        raise Unsupported(f"{role}: there is no account {account}: give [share] account = one of that Mac's")
    if "outsider" in found:
        raise Unsupported(
            f"{role}: {account} may not use File Sharing: add it in System Settings > General > Sharing > File Sharing "
            f"(i), or `sudo dseditgroup -o edit -a {account} -t user {group}` there"
        )
    if service.hash_type and hashes and service.hash_type not in hashes:
        raise Unsupported(
            f"{role}: macOS keeps no password of {account} that SMB can use: tick the account in System Settings > "
            f"General > Sharing > File Sharing (i) > Options > Windows File Sharing there, and type its password"
        )


def offer(server: Side, share: Share, service: Service) -> Steps:
    """The server, where it is off, and the share point, whose record is named after the lab's folder."""
    path = real_path(server.host, share.path)
    record = f"{server.directory.rpartition('/')[2]}-{service.protocol}".lower()
    for name, point in _share_points(server).items():
        if point.names.get(service.protocol, "").lower() == share.name.lower() and name.lower() != record:
            raise LabFailure(
                f"{server.host.role}: it shares {point.path} as {share.name} already: give [share] another name"
            )
    yield _running(server, service)
    yield _shared(server, share, service, record, path)
    asked = SharePoint(path, {service.protocol: share.name})
    found = {name.lower(): point for name, point in _share_points(server).items()}.get(record)
    if found != asked:
        raise SettingRefused(f"{server.host.role}: asked sharing for {asked}, and it lists {found}")


def _running(server: Side, service: Service) -> Setting:
    ready = listening(service.port)
    return Setting(
        host=server.host.role,
        name=f"service {service.label}",
        read=script(IS_LOADED, service.label, root=True),
        wanted="loaded",
        apply=(script(LOAD, service.plist, ready, root=True, deadline_s=60),),
        undo=lambda _: (command("launchctl", "unload", service.plist, root=True),),
    )


def _shared(server: Side, share: Share, service: Service, record: str, path: str) -> Setting:
    flags = ("-s", service.flags, "-g", "000")  # nothing for guests
    add = ("sharing", "-a", path, "-n", record, service.name_option, share.name, *flags)
    return Setting(
        host=server.host.role,
        name=f"share point {record}",
        read=script(IS_SHARED, record, root=True),
        wanted="shared",
        apply=(command(*add, root=True),),
        undo=lambda _: (command("sharing", "-r", record, root=True),),
        volatile=False,
    )


def _share_points(server: Side) -> dict[str, SharePoint]:
    return parse_share_points(server.host.run("sharing", "-l", root=True).stdout)


def parse_share_points(text: str) -> dict[str, SharePoint]:
    """Share points by record, of ``sharing -l``; older versions indent what later ones do not.

    A record begins with ``name:`` at the margin; in it are ``path:`` and, for each protocol, ``smb: {…}`` with
    ``name:`` and ``shared:``. Raises LabFailure for a record without a path.
    """
    _, *records = re.split(r"^name:", text, flags=re.MULTILINE)
    found = {}
    for record in records:
        path = re.search(r"^\s*path:[ \t]*(.*?)\s*$", record, re.MULTILINE)
        if not path:
            raise LabFailure(f"server: sharing -l shows a share point without a path: {record!r:.200}")
        blocks = re.findall(r"^\s*(\w+):\s*\{(.*?)\}", record, re.MULTILINE | re.DOTALL)
        names = {}
        for protocol, block in blocks:
            values = dict(re.findall(r"^\s*(\w+):[ \t]*(.*?)[ \t]*$", block, re.MULTILINE))
            if values.get("shared") == "1":
                names[protocol] = values.get("name", "")
        found[record.split("\n")[0].strip()] = SharePoint(path[1], names)
    return found
