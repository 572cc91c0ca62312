"""The disk of a host: an overlay over the shared root filesystem, and its folder /srv/disk.

The supervisor mounts the overlay in its own mount namespace. So the disk stays during a reboot of the host, and always
ends with the supervisor. The upper layer is a tmpfs because an overlay cannot be one.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from lab.local import cleanup, state
from lab.local.subprocesses import check, run


def root(name: str, host: str) -> Path:
    """The mount point of a host's root, which only processes of the lab see."""
    return state.directory(name) / host / "scratch" / "root"


def attach(name: str, host: str, lower: Sequence[Path]) -> None:
    """Mount a host's root over these folders, and write its /etc and the password of its account. Raises LabFailure."""
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
    """Unmount the root, so that the folder around it can be removed."""
    scratch = root(name, host).parent
    if scratch.is_mount():
        check(run("umount", "--lazy", "--recursive", str(scratch)))
