"""nfsd: NFS-Ganesha, a server in user space, with the Mac's /etc/exports and nfs.conf. Version 3 alone."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path

from .. import exports
from ..calls.mounts import table
from ..daemons import Daemon
from ..kernel import Kernel

EXPORTS, NFS_CONF = Path("/etc/exports"), Path("/etc/nfs.conf")
STATE = Path("/linux/run/darwin/nfs")
DATA = "/System/Volumes/Data"
LOCAL = ("hfs", "apfs", "msdos")
CONF = """\
NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = true; Enable_RQUOTA = false;
    allow_set_io_flusher_fail = true; }}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = "{state}"; }}
MDCACHE {{ Close_Fast = true; }}
"""
# Requests of more than 64 KiB: from 11 on (nfs_gss and NFSRV_MAXDATA of xnu)
EXPORT = """\
EXPORT {{ Export_Id = {number}; Path = "{path}"; Pseudo = "{path}"; Filesystem_id = {number}.{number};
    Access_Type = {default}; Squash = {squash}; Anonymous_Uid = {uid}; Anonymous_Gid = {gid}; SecType = sys;
    Transports = TCP; Attr_Expiration_Time = 0; PrivilegedPort = {privileged};
    MaxRead = {most}; MaxWrite = {most}; PrefRead = {most}; PrefWrite = {most};
    {clients}
    FSAL {{ Name = VFS; }} }}
"""
# Ganesha skips a tmpfs by the name that /etc/mtab gives it, so it reads another mtab, on an overlay over /etc
START = r"""
mkdir -p "$1/etc" && mount -t tmpfs -o mode=755 nfs "$1/etc" && mkdir "$1/etc/upper" "$1/etc/work" &&
sed 's/^\([^ ]* [^ ]*\) tmpfs /\1 ext4 /' /proc/self/mounts > "$1/etc/upper/mtab" && cd "$1/etc" &&
mount -t overlay -o lowerdir=/linux/etc,upperdir=upper,workdir=work nfs /private/etc && cd / || exit
mount -t tmpfs -o mode=755 nfs /run && mkdir /run/rpcbind /run/ganesha || exit
mkdir -p /run/statd/sm /run/statd/sm.bak && chown -R statd:nogroup /run/statd || exit
rpcbind -f -w &
until [ -S /run/rpcbind.sock ] || [ -S /var/run/rpcbind.sock ]; do kill -0 $! || exit; sleep 0.01; done
rpc.statd --foreground --no-syslog --no-notify --state-directory-path /run/statd &
exec ganesha.nfsd -F -L STDERR -N EVENT -f "$1/ganesha.conf" -p /run/ganesha.pid
"""


def start(kernel: Kernel) -> Daemon:
    """Ganesha, and the rpcbind that it needs, which macOS starts along with it."""
    STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(kernel)
    return Daemon(START, str(STATE), log=STATE / "log")


def write(kernel: Kernel) -> bool:
    """Ganesha's configuration, anew; whether it differs from before."""
    path = STATE / "ganesha.conf"
    before = path.read_text() if path.exists() else ""
    found, _ = exports.read(EXPORTS.read_text(), volumes(kernel))
    most = 65536 if kernel.profile.number < (11,) else 1048576
    numbered = enumerate(((one, path) for one in found if not one.offline for path in one.paths), 1)
    after = CONF.format(state=STATE) + "".join(_export(number, one, path, most) for number, (one, path) in numbered)
    path.write_text(after)
    return after != before


def _export(number: int, one: exports.Export, path: str, most: int) -> str:
    access = "RO" if one.read_only else "RW"
    hosts = [str(ipaddress.ip_network(f"{one.network}/{one.mask}", strict=False))] if one.mask else one.hosts
    hosts = hosts or ([one.network] if one.network else [])
    root_stays = one.uid == 0 and not one.map_all
    return EXPORT.format(
        number=number,
        path=path,
        default="None" if hosts else access,
        clients=f"CLIENT {{ Clients = {', '.join(hosts)}; Access_Type = {access}; }}" if hosts else "",
        squash="All" if one.map_all else "No_Root_Squash" if root_stays else "Root",
        uid=one.uid,
        gid=one.gid,
        privileged=str(wants_reserved_port()).lower(),
        most=most,
    )


def wants_reserved_port() -> bool:
    """nfs.conf(5): nfs.server.mount.require_resv_port, 1 unless it says otherwise."""
    lines = NFS_CONF.read_text().splitlines() if NFS_CONF.exists() else []
    pairs = dict(line.replace(" ", "").partition("=")[::2] for line in lines)
    return pairs.get("nfs.server.mount.require_resv_port", "1") != "0"


def volumes(kernel: Kernel) -> Callable[[str], str]:
    """How statfs(2) tells the mount point of a path: from 10.15 on, the data volume where it has none of its own.

    What is mounted on a folder of the data volume is not on it, by neither name of the folder.
    """
    points = [mount.target for mount in table(kernel) if mount.type in LOCAL and mount.target not in ("/", DATA)]
    rest = DATA if kernel.profile.number >= (10, 15) else "/"

    def volume_of(path: str) -> str:
        shown = path.removeprefix(DATA)
        below = [point for point in points if shown == point or shown.startswith(f"{point}/")]
        return max(below, key=len, default=rest)

    return volume_of
