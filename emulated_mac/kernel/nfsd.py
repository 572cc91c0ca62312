"""The exports of NFS: nfsd(8) checks and reloads them, showmount(8) lists them."""

import errno
import subprocess
from pathlib import Path

from ..linux_programs import environment
from ..servers import nfs
from . import launchd
from .system_calls import Caller, Kernel, at_boot, system_call

LABEL = "com.apple.nfsd"
# From 10.15 on exports are named by their path on the data volume; this is the one folder of it that is emulated
USERS = Path("/Users")


@at_boot
def show_users_on_data_volume(kernel: Kernel) -> None:
    """Show /Users and the mounts in it below the data volume too."""
    if kernel.profile.number >= (10, 15):
        target = Path(f"{nfs.DATA}{USERS}")
        target.mkdir(exist_ok=True)
        command = ["/linux/usr/bin/mount", "--rbind", str(USERS), str(target)]
        subprocess.run(command, check=True, env=environment())


@system_call
def check_exports(kernel: Kernel, caller: Caller, path: str) -> list[str]:
    """The errors in a file of exports, one message each."""
    exports, errors = nfs.read_exports(kernel, Path(path))
    if kernel.fault("nfsd-full-disk-access"):
        return [
            f'exports:{export.line}: sandbox_check failed. nfsd has no read access to "{export.paths[0]}"'
            for export in exports
        ]
    return errors


@system_call
def exported(kernel: Kernel, caller: Caller) -> list[tuple[str, list[str]]]:
    """The exports that mountd lists: a path, and who may mount it. ESRCH if nfsd does not run."""
    if not launchd.jobs(kernel).get(LABEL):
        raise OSError(errno.ESRCH, LABEL)
    exports, _ = nfs.read_exports(kernel)
    mark = {True: ["<offline>"], False: []}
    return [
        (path, [*mark[export.offline], *(export.hosts or ([export.network] if export.network else []))])
        for export in exports
        for path in export.paths
    ]


@system_call
def update_exports(kernel: Kernel, caller: Caller) -> None:
    """Read the exports again, as nfsd does on SIGHUP. ESRCH if nfsd does not run."""
    caller.must_be_root()
    if not launchd.jobs(kernel).get(LABEL):
        raise OSError(errno.ESRCH, LABEL)
    if nfs.EXPORTS.exists() and nfs.write_config(kernel):
        # a restart, because Ganesha cannot drop an export whose volume is gone
        launchd.service_stop(kernel, caller, LABEL)
