"""The file servers as launchd knows them: label, property list, and which versions have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .profiles import Profile

FOLDER = "/System/Library/LaunchDaemons"


@dataclass(frozen=True)
class Service:
    """One job of launchd. ``server`` is the module of ``servers`` that really does the work; empty where none does."""

    label: str
    plist: str
    program: str
    server: str
    exists: Callable[[Profile], bool] = field(default=lambda profile: True)
    keys: tuple[tuple[str, Any], ...] = ()

    @property
    def path(self) -> str:
        """Of its property list."""
        return f"{FOLDER}/{self.plist}"


SERVICES = (
    # Makefile of apple samba-235: "for lack of consistent naming", the file is not named after the label
    Service("org.samba.smbd", "smbd.plist", "/usr/sbin/smbd", "smb", lambda profile: profile.number < (10, 7)),
    Service("org.samba.nmbd", "nmbd.plist", "/usr/sbin/nmbd", "", lambda profile: profile.number < (10, 7)),
    Service(
        "com.apple.smbd", "com.apple.smbd.plist", "/usr/sbin/smbd", "smb", lambda profile: profile.number >= (10, 7)
    ),
    Service(
        "com.apple.AppleFileServer",
        "com.apple.AppleFileServer.plist",
        "/usr/sbin/AppleFileServer",
        "afp",
        lambda profile: profile.number < (11,),
    ),
    # com.apple.nfsd.plist: launchd starts it when the file is there and ends it when the file is not
    Service(
        "com.apple.nfsd",
        "com.apple.nfsd.plist",
        "/sbin/nfsd",
        "nfs",
        keys=(("KeepAlive", {"PathState": {"/etc/exports": True}}),),
    ),
)


def of(profile: Profile) -> list[Service]:
    """Those that a version has."""
    return [service for service in SERVICES if service.exists(profile)]


def property_list(service: Service) -> dict[str, Any]:
    """As launchd.plist(5) has it. File servers are switched off on a Mac as it is delivered."""
    return {
        "Disabled": True,
        "Label": service.label,
        "ProgramArguments": [service.program],
        **dict(service.keys),
    }
