"""Options of NFS in a sweep, as mount options of Linux kernels and of mount_nfs on a Mac."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from lab.base.units import parse_size, size_label
from lab.design.option_levels import one_of, size, whole, yes_or_no
from lab.hosts.mounts import read_nfs_version
from lab.protocols.options import Option, program


def _request(name: str) -> Option:
    """The largest read or write request; a kernel cuts it down to whole KiB, and from 4 KiB on to whole pages."""

    def read_level(mounted_with: Mapping[str, str]) -> str:
        value = mounted_with.get(name, "")
        return size_label(int(value)) if re.fullmatch("[0-9]{1,18}", value) else ""

    about = f"The largest {'read' if name == 'rsize' else 'write'} request."
    return Option(size(4096, 2**20, 4096), lambda level: f"{name}={parse_size(level)}", read_level, about=about)


def _valued(name: str, level: Callable[[object], str], default: str, about: str) -> Option:
    """The mount option ``name=LEVEL``."""
    return Option(level, f"{name}={{}}".format, lambda mounted_with: mounted_with.get(name, default), about=about)


# nfs(5). What a sweep can say of a mount; soft unless it says hard
OPTIONS = {
    "client": program("client", "kernel", "gvfs"),
    "server": program("server", "kernel", "ganesha"),
    "version": _valued("vers", one_of("3", "4.0", "4.1", "4.2"), "", "The version of NFS."),
    "nconnect": _valued("nconnect", whole(1, 16), "1", "How many TCP connections the mount has."),
    "rsize": _request("rsize"),
    "wsize": _request("wsize"),
    "hard": Option(
        yes_or_no,
        {"true": "hard", "false": "soft"}.__getitem__,
        lambda mounted_with: str("hard" in mounted_with).lower(),
        about="Whether requests wait for a dead server for ever (false: they fail after a while).",
    ),
}
# mount_nfs(8). What `nfsstat -m` says is in effect is read back
MACOS_OPTIONS = {
    "version": replace(OPTIONS["version"], read_level=read_nfs_version),
    "rsize": OPTIONS["rsize"],
    "wsize": OPTIONS["wsize"],
    "hard": OPTIONS["hard"],
    "readahead": _valued("readahead", whole(0, 128), "", "How many read requests a Mac sends ahead."),
}
