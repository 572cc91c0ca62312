"""The NFS server of a Linux kernel. A kernel has only one, so the lab uses it only if nobody else does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts.command import Command, command, shell_line
from lab.protocols.driver import Share, Side, Steps
from lab.protocols.mounts.linux import in_private_mounts
from lab.protocols.servers.kernel_server import KernelServer
from lab.settings.background import background_process
from lab.settings.operation import Operation, Setting

PORT = 2049
MOUNT_PORT = 20048
RPCBIND_PORT = 111
THREADS = 8  # the default of nfs.conf(5)
EXPORT = "rw,no_root_squash,no_subtree_check,insecure,fsid=77"  # a tmpfs has no identity of its own
LEVELS = {"default": "sync", "sync": "sync", "async": "async"}
START = read_script(__file__, "knfsd_start.sh")
READ_THREADS = "mount -t nfsd nfsd /proc/fs/nfsd && cat /proc/fs/nfsd/threads"
# $1 a shell test whether rpcbind listens, then the command that reads the threads
WHO_SERVES = """
if sh -c "$1"; then echo rpcbind; exit; fi
shift; threads=$("$@") || exit
if [ "$threads" = 0 ]; then echo free; else echo serving; fi
"""
SET_THREADS = 'mount -t nfsd nfsd /proc/fs/nfsd && rpc.nfsd --host "$2" "$1"'
# The kernel caches exports, which keeps their file systems busy, until the caches are flushed
STOP_THREADS = """
mount -t nfsd nfsd /proc/fs/nfsd && echo "$1" >/proc/fs/nfsd/threads || exit
for cache in auth.unix.ip auth.unix.gid nfsd.fh nfsd.export; do echo 1 >"/proc/net/rpc/$cache/flush" || exit; done
"""
READ_EXPORT = 'read -r pid <"$1" && cat "/proc/$pid/root/var/lib/nfs/etab"'

SERVER = KernelServer(
    name="NFS server",
    has="grep -qw nfsd /proc/filesystems || modprobe -n -q nfsd",
    # if rpcbind already runs, it serves another NFS
    write_holder=lambda listening: shell_line(WHO_SERVES, listening(RPCBIND_PORT), *in_private_mounts(READ_THREADS)),
    programs=("rpc.nfsd", "rpc.mountd", "nfsdcld", "exportfs", "rpcbind"),
    package="nfs-kernel-server",
    then=", and stop what that starts: `systemctl stop nfs-server rpcbind.socket rpcbind`",
    refusals={
        "rpcbind": (
            "rpcbind runs already, and may be somebody's",
            "`systemctl stop rpcbind.socket rpcbind` if it is not",
        ),
        "serving": (
            "the kernel's NFS server serves somebody already",
            "`systemctl stop nfs-server` if nobody needs it",
        ),
    },
)


@dataclass(frozen=True)
class NfsThreads(Operation):
    """The threads of a Linux kernel's NFS server; without any it neither listens nor keeps exports."""

    kind = "nfs-threads"
    label = "threads of the kernel's NFS server"
    values = "[0-9]{1,4}"

    def read(self) -> Command:
        return command(*in_private_mounts(READ_THREADS), root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command(*in_private_mounts(STOP_THREADS, old), root=True),)


def find_refusal(server: Side, level: str) -> str:
    """Why this server can never give a durability; empty where it can. Raises Unsupported where a person can help."""
    if level not in LEVELS:
        return "the kernel's NFS server writes through only for clients that ask for it"
    return SERVER.find_refusal(server)


def serve(server: Side, share: Share) -> Steps:
    """Export the share."""
    state = f"{server.directory}/nfs"
    server.host.run("mkdir", "-m", "700", "-p", state)
    options = f"{EXPORT},{LEVELS[share.server_sync]}"
    argv = in_private_mounts(START, share.path, options, server.listening(RPCBIND_PORT), str(MOUNT_PORT))
    yield background_process(server.host.name, "mountd", argv, state, server.listening(MOUNT_PORT))
    start = command(*in_private_mounts(SET_THREADS, str(THREADS), server.address), root=True)
    yield Setting(server.host.name, NfsThreads(), str(THREADS), (start,))


def read_durability(server: Side) -> Mapping[str, str]:
    """The durability in the table of exports that rpc.mountd gives to the kernel."""
    table = server.host.shell(READ_EXPORT, f"{server.directory}/nfs/mountd.process", root=True).stdout
    level = parse_export(table)
    return {"server_sync": level, "server_sync_by": f"export option {level} of the kernel's NFS server"}


def parse_export(table: str) -> str:
    """``sync`` or ``async``, from the one line of ``etab``. Raises Unsupported where it is not that."""
    match = re.fullmatch(r"\S+\t\*\(rw,(a?sync),[a-z0-9_,=:-]+\)\n", table)
    if not match:
        raise Unsupported(f"rpc.mountd's table of exports is not as the lab wrote it: {table!r:.200}", host="server")
    return match[1]
