"""The disk of a host: an overlay over the shared root filesystem, and the folder that it sees as /srv/disk.

The supervisor mounts it, in a mount namespace of its own. So the disk outlives a reboot of the host, and ends with the
supervisor however that ends. The upper layer is a tmpfs, for an overlay cannot be one.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from lab.local import cleanup, state
from lab.local.subprocesses import check, run


def root(name: str, host: str) -> Path:
    """Where a host's root is mounted; only the lab's own processes see it there."""
    return state.directory(name) / host / "scratch" / "root"


def attach(name: str, host: str, lower: Sequence[Path]) -> None:
    """Mount a host's root, over these folders, with its own /etc and the password of its account. Raises LabFailure."""
    scratch = root(name, host).parent
    scratch.mkdir()
    check(run("mount", "-t", "tmpfs", "-o", "mode=755", "scratch", str(scratch)))
    layers = {layer: scratch / layer for layer in ("upper", "work", "root")}
    for layer in layers.values():
        layer.mkdir()
    options = f"lowerdir={':'.join(map(str, lower))},upperdir={layers['upper']},workdir={layers['work']}"
    check(run("mount", "-t", "overlay", "-o", options, host, str(layers["root"])))
    shutil.copytree(scratch.parent / "etc", layers["root"] / "etc", dirs_exist_ok=True)
    password = (scratch.parent.parent / "password").read_text()
    check(run("chroot", str(layers["root"]), "chpasswd", stdin=f"lab:{password}"))
    folder, mount_point = cleanup.disk_directory(name, host), layers["root"] / "srv" / "disk"
    for path in (folder, mount_point):
        path.mkdir(parents=True, exist_ok=True)
    check(run("mount", "--bind", str(folder), str(mount_point)))


def detach(name: str, host: str) -> None:
    """Unmount it, so that the folder around it can be removed."""
    scratch = root(name, host).parent
    if scratch.is_mount():
        check(run("umount", "--lazy", "--recursive", str(scratch)))
