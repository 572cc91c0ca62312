"""From a folder to the share that it lies on; a folder that is on none is refused, with what to give instead."""

import re
from collections.abc import Iterable

from lab.base.errors import BadInput
from lab.base.untrusted import listing, one_line
from lab.platforms import Platform
from lab.platforms.mounts import MountedShare

OTHER_NETWORKS = re.compile(r"(fuse|macfuse|osxfuse)(\..+)?|9p|virtiofs|ceph|glusterfs|lustre|webdav|davfs|ftp|vboxsf")
KNOWN = "the lab knows shares of SMB, NFS, AFP and SSH"


def find_share(platform: Platform, folder: str) -> MountedShare:
    """The share that a folder lies on. Raises BadInput where it lies on none, or cannot be gone into; LabFailure."""
    mounted = platform.mounts.find(folder)
    if mounted.protocol:
        return mounted
    name, kind = one_line(folder, 80), one_line(mounted.kind, 40)
    remedy = _what_to_give(platform.mounts.table())
    if kind == "fuse.gvfsd-fuse":
        raise BadInput(f"{name} is where GVfs shows its shares, and none of them", "give one of the folders in it")
    if kind == "autofs":
        raise BadInput(f"{name} has an automounter, and it mounts nothing there", remedy)
    if OTHER_NETWORKS.fullmatch(kind):
        raise BadInput(f"{name} is on {kind}, which may be on a network; {KNOWN}", remedy)
    raise BadInput(f"{name} is on a disk or in the memory of this machine ({kind}), and on no share", remedy)


def _what_to_give(table: Iterable[MountedShare]) -> str:
    shares = [f"{mounted.path} ({mounted.label})" for mounted in table if mounted.protocol]
    if not shares:
        return "no share is mounted here: mount it, or give its URL, such as smb://SERVER/SHARE"
    return f"what is mounted here: {listing(shares, 5)}"
