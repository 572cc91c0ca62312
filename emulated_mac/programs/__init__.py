"""The programs of macOS, one module each: ``main(argv) -> int`` gets the words after the name. ``PLACES`` maps each
program to its folder, or to a function from a version to the folder (None if the version lacks the program).
"""

from __future__ import annotations

import importlib
import os
import sys

from ..profiles import Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Place = str | Callable[[Profile], str | None]


def since(folder: str, *number: int) -> Place:
    """The place of a program that was added in a version."""
    return lambda profile: folder if profile.number >= number else None


def before(folder: str, *number: int) -> Place:
    """The place of a program up to a version, which dropped it or has the same program as Linux."""
    return lambda profile: folder if profile.number < number else None


def added(profile: Profile) -> str | None:
    """No place: no macOS has the program, but :mod:`..o3x` can install it."""
    return None


PLACES: dict[str, Place] = {
    "sw_vers": "/usr/bin", "uname": "/usr/bin", "hostname": "/bin", "date": "/bin", "stat": "/usr/bin",
    "time": "/usr/bin", "xattr": "/usr/bin", "chflags": "/usr/bin",
    # network
    "ipconfig": "/usr/sbin", "dns-sd": "/usr/bin", "ifconfig": "/sbin", "route": "/sbin", "ping": "/sbin",
    "ping6": "/sbin", "netstat": "/usr/sbin", "networksetup": "/usr/sbin",
    # disks
    "hdiutil": "/usr/bin", "hdid": "/usr/bin", "diskutil": "/usr/sbin", "newfs_hfs": "/sbin", "mount": "/sbin",
    "mount_hfs": "/sbin", "mount_apfs": since("/sbin", 10, 13), "umount": "/sbin", "df": "/bin",
    # the system and its load
    "sysctl": "/usr/sbin", "ps": "/bin", "top": "/usr/bin", "iostat": "/usr/sbin", "vm_stat": "/usr/bin",
    "purge": since("/usr/sbin", 10, 9), "pmset": "/usr/bin", "caffeinate": since("/usr/bin", 10, 8),
    "mdutil": "/usr/bin", "tmutil": since("/usr/bin", 10, 7), "system_profiler": "/usr/sbin", "defaults": "/usr/bin",
    "ditto": "/usr/bin", "installer": "/usr/sbin", "zpool": added, "zfs": added,
    "xcode-select": since("/usr/bin", 10, 9), "python3": since("/usr/bin", 10, 15),
    "sudo": before("/usr/bin", 12), "ssh": before("/usr/bin", 10, 11), "ssh-keygen": before("/usr/bin", 10, 11),
    "sshd": before("/usr/sbin", 10, 11),
    # shares of other hosts
    "mount_smbfs": "/sbin", "smbutil": "/usr/bin", "mount_nfs": "/sbin", "nfsstat": "/usr/bin", "showmount": "/usr/bin",
    "mount_afp": before("/sbin", 27),
    # the file servers
    "sharing": "/usr/sbin", "launchctl": "/bin", "nfsd": "/sbin", "pwpolicy": "/usr/bin", "dseditgroup": "/usr/sbin",
    "socketfilterfw": "/usr/libexec/ApplicationFirewall", "dscl": "/usr/bin", "sysadminctl": "/usr/sbin",
}  # fmt: skip


def place(name: str, profile: Profile) -> str | None:
    """The folder of a program in a version, or None."""
    folder = PLACES[name]
    return folder if isinstance(folder, str) else folder(profile)


def run(words: list[str]) -> int:
    """Run the program whose path is the first word."""
    name = os.path.basename(words[0])  # noqa: PTH119
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    try:
        code: int = module.main(words[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return code
