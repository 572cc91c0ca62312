"""The file servers as launchd knows them: label, property list, and which versions have them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .profiles import Profile

FOLDER = "/System/Library/LaunchDaemons"


@dataclass(frozen=True)
class Service:
    """One job of launchd. ``server`` is the module of ``servers`` that really does the work, or empty."""

    label: str
    plist: str
    program: str
    server: str
    exists: Callable[[Profile], bool] = field(default=lambda profile: True)
    keep_alive_path: str = ""  # runs only while this file exists

    @property
    def path(self) -> str:
        """The path of its property list."""
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
        keep_alive_path="/etc/exports",
    ),
)


def services_of(profile: Profile) -> list[Service]:
    """The jobs that a version has."""
    return [service for service in SERVICES if service.exists(profile)]


def property_list(service: Service) -> dict[str, object]:
    """The content of its property list, as in launchd.plist(5). On a new Mac the file servers are switched off."""
    keys: dict[str, object] = {
        "Disabled": True,
        "Label": service.label,
        "ProgramArguments": [service.program],
    }
    if service.keep_alive_path:
        keys["KeepAlive"] = {"PathState": {service.keep_alive_path: True}}
    return keys
