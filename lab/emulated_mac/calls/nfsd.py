"""What nfsd(8) asks for: checking exports, and having them read again."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

from .. import exports
from ..kernel import Caller, Kernel, at_boot, call, environment
from ..servers import nfs
from . import launchd

LABEL = "com.apple.nfsd"
# From 10.15 on, what is exported must be named as it is on the data volume; of its folders, this one is shown there
USERS = Path("/Users")


@at_boot
def show_on_data(kernel: Kernel) -> None:
    """Show /Users, and what is mounted in it, below the data volume too."""
    if kernel.profile.number >= (10, 15):
        there = Path(f"{nfs.DATA}{USERS}")
        there.mkdir(exist_ok=True)
        command = ["/linux/usr/bin/mount", "--rbind", str(USERS), str(there)]
        subprocess.run(command, check=True, env=environment())


@call
def check_exports(kernel: Kernel, caller: Caller, path: str) -> list[str]:
    """What is wrong with a file of exports."""
    if kernel.fault("nfsd-full-disk-access"):
        found, _ = exports.read(Path(path).read_text(), nfs.volumes(kernel))
        return [
            f'exports:{one.line}: sandbox_check failed. nfsd has no read access to "{one.paths[0]}"' for one in found
        ]
    return exports.read(Path(path).read_text(), nfs.volumes(kernel))[1]


@call
def exported(kernel: Kernel, caller: Caller) -> list[tuple[str, list[str]]]:
    """What mountd tells of its exports, whoever asks. ESRCH where nfsd does not run."""
    if not launchd.jobs(kernel).get(LABEL):
        raise OSError(errno.ESRCH, LABEL)
    found, _ = exports.read(nfs.EXPORTS.read_text(), nfs.volumes(kernel))
    mark = {True: ["<offline>"], False: []}
    return [
        (path, [*mark[one.offline], *(one.hosts or ([one.network] if one.network else []))])
        for one in found
        for path in one.paths
    ]


@call
def update_exports(kernel: Kernel, caller: Caller) -> None:
    """Read them again, as nfsd does when it gets a SIGHUP. ESRCH where it does not run."""
    caller.must_be_root()
    if not launchd.jobs(kernel).get(LABEL):
        raise OSError(errno.ESRCH, LABEL)
    if nfs.EXPORTS.exists() and nfs.write(kernel):  # Ganesha cannot drop exports of volumes that are gone
        launchd.service_stop(kernel, caller, LABEL)
