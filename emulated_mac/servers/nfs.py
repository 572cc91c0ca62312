"""nfsd: NFS-Ganesha, a server in user space, with the Mac's /etc/exports and nfs.conf; only version 3."""

import ipaddress
from collections.abc import Callable
from pathlib import Path

from .. import exports_file
from ..kernel.mounts import table
from ..kernel.system_calls import Kernel
from ..linux_programs import Daemon

EXPORTS, NFS_CONF = Path("/etc/exports"), Path("/etc/nfs.conf")
STATE = Path("/linux/run/emulated_mac/nfs")
DATA = "/System/Volumes/Data"
LOCAL_TYPES = ("hfs", "apfs", "zfs", "msdos")
CONF = """\
NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = true; Enable_RQUOTA = false;
    allow_set_io_flusher_fail = true; }}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = "{state}"; }}
MDCACHE {{ Close_Fast = true; }}
"""
EXPORT = """\
EXPORT {{ Export_Id = {number}; Path = "{path}"; Pseudo = "{path}"; Filesystem_id = {number}.{number};
    Access_Type = {default}; Squash = {squash}; Anonymous_Uid = {uid}; Anonymous_Gid = {gid}; SecType = sys;
    Transports = TCP; Attr_Expiration_Time = 0; PrivilegedPort = {privileged};
    MaxRead = {request}; MaxWrite = {request}; PrefRead = {request}; PrefWrite = {request};
    {clients}
    FSAL {{ Name = VFS; }} }}
"""
START = Path(__file__).with_name("nfs.sh")


def start(kernel: Kernel) -> Daemon:
    """Start Ganesha with the present exports, and rpcbind, which it needs; macOS starts both together too."""
    STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_config(kernel)
    return Daemon(START, str(STATE), log=STATE / "log")


def read_exports(kernel: Kernel, path: Path = EXPORTS) -> tuple[list[exports_file.Export], list[str]]:
    """The exports of a file, and its errors."""
    return exports_file.parse(path.read_text(), volume_finder(kernel), kernel.profile.number)


def write_config(kernel: Kernel) -> bool:
    """Write Ganesha's configuration; returns whether it has changed."""
    path = STATE / "ganesha.conf"
    before = path.read_text() if path.exists() else ""
    exports, _ = read_exports(kernel)
    request_bytes = 65536 if kernel.profile.number < (11,) else 1048576  # nfs_gss and NFSRV_MAXDATA of xnu
    online = [(export, path) for export in exports if not export.offline for path in export.paths]
    blocks = (_export_block(number, *entry, request_bytes) for number, entry in enumerate(online, 1))
    after = CONF.format(state=STATE) + "".join(blocks)
    path.write_text(after)
    return after != before


def _export_block(number: int, export: exports_file.Export, path: str, request_bytes: int) -> str:
    """One exported path in Ganesha's configuration."""
    access = "RO" if export.read_only else "RW"
    if export.mask:
        length = int(ipaddress.ip_address(export.mask)).bit_count()
        hosts = [str(ipaddress.ip_network(f"{export.network}/{length}", strict=False))]
    else:
        hosts = export.hosts or ([export.network] if export.network else [])
    root_stays = export.uid == 0 and not export.map_all
    return EXPORT.format(
        number=number,
        path=path,
        default="None" if hosts else access,
        clients=f"CLIENT {{ Clients = {', '.join(hosts)}; Access_Type = {access}; }}" if hosts else "",
        squash="All" if export.map_all else "No_Root_Squash" if root_stays else "Root",
        uid=export.uid,
        gid=export.gid,
        privileged=str(wants_reserved_port()).lower(),
        request=request_bytes,
    )


def wants_reserved_port() -> bool:
    """nfs.conf(5): nfs.server.mount.require_resv_port, 1 unless it says otherwise."""
    lines = NFS_CONF.read_text().splitlines() if NFS_CONF.exists() else []
    pairs = dict(line.replace(" ", "").partition("=")[::2] for line in lines)
    return pairs.get("nfs.server.mount.require_resv_port", "1") != "0"


def volume_finder(kernel: Kernel) -> Callable[[str], str]:
    """A function from a path to the mount point of its volume, as in statfs(2). From 10.15 on the default is the data
    volume. A mount on a folder of the data volume is a separate volume, under both names of the folder.
    """
    points = [mount.target for mount in table(kernel) if mount.type in LOCAL_TYPES and mount.target not in ("/", DATA)]
    default = DATA if kernel.profile.number >= (10, 15) else "/"

    def volume_of(path: str) -> str:
        short = path.removeprefix(DATA)
        containing = [point for point in points if f"{short}/".startswith(f"{point}/")]
        return max(containing, key=len, default=default)

    return volume_of
