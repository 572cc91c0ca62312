"""NFS: NFS-Ganesha, a server in user space, on Linux; on the client the kernel's nfs, or GVfs."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from lab.daemon import daemon, listening
from lab.protocols import gvfs
from lab.protocols.base import Protocol, Share, Side, Steps
from lab.protocols.linux_mount import LinuxMount, in_private_mounts

PORT = 2049
MOUNT_PORT = 20048
RPCBIND_PORT = 111
# Close_Fast: without it files removed on the server stay open, their memory taken and their names stale.
GANESHA_CONF = """\
NFS_CORE_PARAM {{ Protocols = 3, 4; NFS_Port = {port}; MNT_Port = {mount_port}; Bind_addr = {address};
    Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true; allow_set_io_flusher_fail = true; }}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = "{state}"; Only_Numeric_Owners = true; }}
MDCACHE {{ Close_Fast = true; }}
EXPORT {{ Export_Id = 77; Path = "{path}"; Pseudo = "{path}"; Filesystem_id = 77.77; Access_Type = RW;
    Squash = No_Root_Squash; SecType = sys; Transports = TCP; Attr_Expiration_Time = 0; PrivilegedPort = false;
    FSAL {{ Name = VFS; }} }}
"""
# Ganesha skips a tmpfs by the name that /etc/mtab gives it. In a mount namespace of its own it reads another mtab, on
# an overlay over /etc: nothing outside sees that. rpcbind, where the host has none running ($4), comes along with a
# /run of its own, or it would leave its socket and lock there.
START = r"""
mount -t tmpfs -o mode=755 lab "$1" && mkdir "$1/upper" "$1/work" &&
sed 's/^\([^ ]* [^ ]*\) tmpfs /\1 ext4 /' /proc/self/mounts > "$1/upper/mtab" &&
cd "$1" && mount -t overlay -o lowerdir=/etc,upperdir=upper,workdir=work lab /etc && cd / || exit
if ! sh -c "$4"; then
    mount -t tmpfs -o mode=755 lab /run && mkdir /run/rpcbind || exit
    rpcbind -f -w &
    until sh -c "$4"; do kill -0 $! || exit; sleep 0.01; done
fi
exec ganesha.nfsd -F -L STDERR -N EVENT -f "$2" -p "$3"
"""


class LinuxNfs(LinuxMount):
    """Ganesha, the kernel's nfs and GVfs."""

    serves_with = MappingProxyType({"ganesha.nfsd": "nfs-ganesha-vfs", "rpcbind": "rpcbind"})

    kernel_type = "nfs"

    def serve(self, server: Side, share: Share) -> Steps:
        """A Ganesha of our own."""
        state = f"{server.directory}/nfs"
        server.host.run("mkdir", "-m", "700", "-p", state, f"{state}/etc")
        config = GANESHA_CONF.format(
            port=PORT, mount_port=MOUNT_PORT, address=server.address, state=state, path=share.path
        )
        path = server.write("nfs/ganesha.conf", config)
        argv = in_private_mounts(START, f"{state}/etc", path, f"{state}/own.pid", listening(RPCBIND_PORT))
        ready = f"({listening(PORT)}) && ({listening(MOUNT_PORT)})"
        yield daemon(server.host.role, "ganesha", argv, state, ready)

    def uri(self, server: Side, share: Share) -> str:
        """NFS has no users to log in."""
        return gvfs.uri("nfs", "", server.address, share.path)

    def kernel_mount(self, client: Side, server: Side, share: Share) -> tuple[str, str]:
        """Soft: a dead server must end a trial, not hang the host; no lock daemon is needed for copies."""
        return f"{server.address}:{share.path}", "proto=tcp,soft,timeo=100,retrans=3,nolock"

    def negotiated(self, server: Side, share: Share) -> dict[str, Any]:
        """GVfs mounts by libnfs, which speaks version 3 unless told otherwise, and GVfs does not tell it."""
        return {} if self.by_kernel else {"dialect": "NFSv3"}


PROTOCOL = Protocol("nfs", PORT, mounted=True, dialects={"linux": LinuxNfs})
