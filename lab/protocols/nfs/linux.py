"""NFS on Linux: the kernel's server or NFS-Ganesha, one in user space, and as a client the kernel's nfs, or GVfs."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.base.addresses import for_command
from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts.command import shell_line
from lab.protocols.driver import Share, Side, Steps, Values
from lab.protocols.mounts import gvfs
from lab.protocols.mounts.linux import LinuxMount, in_private_mounts
from lab.protocols.nfs import knfsd
from lab.protocols.nfs.knfsd import MOUNT_PORT, PORT, RPCBIND_PORT
from lab.protocols.nfs.macos import exported_path
from lab.protocols.nfs.options import OPTIONS
from lab.protocols.servers.unflushed import is_unflushed, without_flushes
from lab.settings.background import background_process

# Without Close_Fast, files removed on the server stay open: they keep their memory, and their names go stale. With
# CONFIG = INFO Ganesha logs the options of the export.
GANESHA_CONF = """\
NFS_CORE_PARAM {{ Protocols = 3, 4; NFS_Port = {port}; MNT_Port = {mount_port}; Bind_addr = {address};
    Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true; allow_set_io_flusher_fail = true; }}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = "{state}"; Only_Numeric_Owners = true; }}
MDCACHE {{ Close_Fast = true; }}
LOG {{ COMPONENTS {{ CONFIG = INFO; }} }}
EXPORT {{ Export_Id = 77; Path = "{path}"; Pseudo = "{path}"; Filesystem_id = 77.77; Access_Type = RW;
    Squash = No_Root_Squash; SecType = sys; Transports = TCP; Attr_Expiration_Time = 0; PrivilegedPort = false;
    {commit}
    FSAL {{ Name = VFS; }} }}
"""
# Whether every WRITE is a stable one, whatever the client asks for
COMMIT = {"default": "", "async": "NFS_Commit = false;", "sync": "NFS_Commit = false;", "always": "NFS_Commit = true;"}
EXPORT_OPTION_COMMIT = 0x400  # include/nfs_exports.h of Ganesha
START = read_script(__file__, "ganesha_start.sh")


class LinuxNfs(LinuxMount):
    """Ganesha, the kernel's nfs and GVfs."""

    serves_with = MappingProxyType({"ganesha.nfsd": "nfs-ganesha-vfs", "rpcbind": "rpcbind"})
    kernel_type = "nfs"
    options = OPTIONS
    dialect_prefix = "NFSv"

    def __init__(self) -> None:
        super().__init__()
        self.serves_by_kernel = False

    def served_by(self, server: Side, account: str) -> str:
        return "the kernel's NFS server" if knfsd.SERVER.is_free(server) else super().served_by(server, account)

    def needs_to_serve(self, server: Side, options: Mapping[str, str]) -> Mapping[str, str]:
        """None for the kernel's server, whose tools are looked for with it."""
        return {} if self._is_for_kernel(server, options) else self.serves_with

    def cannot_serve(self, server: Side, share: Share) -> str:
        """Why the kernel's server cannot be used: others use it, or it lacks a level of durability."""
        if self._is_for_kernel(server, share.options):
            return knfsd.find_refusal(server, share.server_sync)
        server.check_not_link_local("NFS-Ganesha")
        return ""

    def _is_for_kernel(self, server: Side, options: Mapping[str, str]) -> bool:
        """Whether the kernel is to serve: it is named, or nothing is and it can."""
        named = options.get("server")
        return named == "kernel" or (named is None and knfsd.SERVER.is_free(server))

    def server_options(self) -> Mapping[str, str]:
        return {"server": "kernel" if self.serves_by_kernel else "ganesha"}

    def serve(self, server: Side, share: Share) -> Steps:
        self.serves_by_kernel = share.options.get("server") != "ganesha" and knfsd.SERVER.is_free(server)
        yield from knfsd.serve(server, share) if self.serves_by_kernel else self._serve_by_ganesha(server, share)

    def _serve_by_ganesha(self, server: Side, share: Share) -> Steps:
        state = f"{server.directory}/nfs"
        server.host.run("mkdir", "-m", "700", "-p", state, f"{state}/etc")
        config = GANESHA_CONF.format(
            port=PORT, mount_port=MOUNT_PORT, address=server.address, state=state, path=share.path,
            commit=COMMIT[share.server_sync],
        )  # fmt: skip
        path = server.write("nfs/ganesha.conf", config)
        argv = in_private_mounts(START, f"{state}/etc", path, f"{state}/own.pid", server.listening(RPCBIND_PORT))
        if share.server_sync == "async":
            argv = without_flushes(argv)
        ready = shell_line('sh -c "$1" && sh -c "$2"', server.listening(PORT), server.listening(MOUNT_PORT))
        yield background_process(server.host.name, "ganesha", argv, state, ready)

    def durability(self, server: Side, share: Share) -> Mapping[str, str]:
        """Ganesha has no async export: flushes that do nothing are one. Else what it says of the export in its log."""
        if self.serves_by_kernel:
            return knfsd.read_durability(server)
        state = f"{server.directory}/nfs"
        if is_unflushed(server, f"{state}/ganesha.process", "ganesha.nfsd"):
            return {"server_sync": "async", "server_sync_by": "a filter makes flushes of ganesha.nfsd do nothing"}
        log = server.host.shell('grep "Export 77 created" "$1" | tail -n 1', f"{state}/ganesha.log", root=True)
        commits = parse_export(log.stdout)
        level = "always" if commits else "sync"
        return {"server_sync": level, "server_sync_by": f"NFS_Commit = {str(commits).lower()}"}

    def uri(self, server: Side, share: Share) -> str:
        """NFS has no users to log in."""
        return gvfs.share_uri("nfs", "", server.address, exported_path(server, share))

    def kernel_mount(self, client: Side, server: Side, share: Share) -> tuple[str, str]:
        """Soft: a dead server must end a trial, not hang the host; no lock daemon is needed for copies."""
        source = f"{for_command(server.address)}:{exported_path(server, share)}"
        return source, f"proto={'tcp6' if ':' in server.address else 'tcp'},soft,timeo=100,retrans=3,nolock"

    def read_negotiated(self, server: Side, share: Share) -> Values:
        """GVfs mounts by libnfs, which speaks version 3 by default."""
        return {} if self.by_kernel else {"dialect": "NFSv3"}


def parse_export(line: str) -> bool:
    """Whether ``NFS_Commit`` holds, from Ganesha's line ``Export 77 created … (options=HEX/HEX …)``."""
    match = re.match(r".*perms \(options=([0-9a-f]{8})/", line)  # the last one: a path stands before it
    if not match:
        raise Unsupported(f"Ganesha did not log the options of its export: {line!r:.200}", host="server")
    return bool(int(match[1], 16) & EXPORT_OPTION_COMMIT)
