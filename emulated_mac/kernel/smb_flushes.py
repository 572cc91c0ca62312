"""What perl/Darwin.pm needs to flush files of mounted SMB shares as smbfs does, and the FLUSH requests that it notes.

GVfs, which mounts them here, sends no FLUSH at all. So each that a Mac would send is a line in ``flushes-UID``, of the
account that the mount belongs to. What the server takes part in stands in a file of the mount, which has its device
number for a name.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path("/linux/run/emulated_mac_smbfs")


def begin(target: str, owner: int, full_sync: bool) -> Path:
    """Make the files for a share that has just been mounted; returns that of the mount."""
    FOLDER.mkdir(mode=0o755, exist_ok=True)
    mount, flushes = FOLDER / str(os.stat(target).st_dev), FOLDER / f"flushes-{owner}"  # noqa: PTH116 – as perl's stat
    mount.write_text("full_sync\n" if full_sync else "no_full_sync\n")
    flushes.touch()
    for file in (mount, flushes):
        os.chown(file, owner, -1)
    return mount
