"""The NFS server of a Linux kernel: only where nobody else has to do with NFS, for a kernel has one server for all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts.command import Command, command, shell_line
from lab.protocols.driver import Steps
from lab.protocols.mounts.linux import in_private_mounts
from lab.protocols.servers.kernel_server import KernelServer
from lab.protocols.share import ListeningTest, Share, Side
from lab.settings.background import background_process
from lab.settings.operation import Operation
from lab.settings.setting import Setting

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
# The kernel keeps what it was told of exports, and with that the file systems, until it is told to forget
STOP_THREADS = """
mount -t nfsd nfsd /proc/fs/nfsd && echo "$1" >/proc/fs/nfsd/threads || exit
for cache in auth.unix.ip auth.unix.gid nfsd.fh nfsd.export; do echo 1 >"/proc/net/rpc/$cache/flush" || exit; done
"""
READ_EXPORT = 'read -r pid <"$1" && cat "/proc/$pid/root/var/lib/nfs/etab"'


def _write_holder(listening: ListeningTest) -> str:
    """See :class:`KernelServer`. rpcbind that runs already serves somebody else's NFS."""
    return shell_line(WHO_SERVES, listening(RPCBIND_PORT), *in_private_mounts(READ_THREADS))


SERVER = KernelServer(
    name="NFS server",
    has="grep -qw nfsd /proc/filesystems || modprobe -n -q nfsd",
    write_holder=_write_holder,
    programs=("rpc.nfsd", "rpc.mountd", "nfsdcld", "exportfs", "rpcbind"),
    install="`apt-get install nfs-kernel-server`, and stop what that starts: `systemctl stop nfs-server rpcbind.socket "
    "rpcbind`",
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
    """The threads of the NFS server of a Linux kernel, which listens no more without any; it forgets its exports."""

    kind = "nfs-threads"
    values = "[0-9]{1,4}"

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return "threads of the kernel's NFS server"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
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
    yield _threads_setting(server)


def read_durability(server: Side) -> Mapping[str, str]:
    """What the table of exports says, which rpc.mountd tells the kernel."""
    table = server.host.shell(READ_EXPORT, f"{server.directory}/nfs/mountd.process", root=True).stdout
    level = parse_export(table)
    return {"server_sync": level, "server_sync_by": f"export option {level} of the kernel's NFS server"}


def parse_export(table: str) -> str:
    """``sync`` or ``async``, from the one line of ``etab``. Raises Unsupported where it is not that."""
    match = re.fullmatch(r"\S+\t\*\(rw,(a?sync),[a-z0-9_,=:-]+\)\n", table)
    if not match:
        raise Unsupported(f"rpc.mountd's table of exports is not as the lab wrote it: {table!r:.200}", host="server")
    return match[1]


def _threads_setting(server: Side) -> Setting:
    start = command(*in_private_mounts(SET_THREADS, str(THREADS), server.address), root=True)
    return Setting(server.host.name, NfsThreads(), str(THREADS), (start,))
