"""AppleFileServer: netatalk, with the Mac's share points. Its accounts are the system's."""

from __future__ import annotations

from pathlib import Path

from ..calls.mounts import table
from ..daemons import Daemon
from ..kernel import Kernel
from ..sharepoints import SharePoint, read_all

STATE = Path("/linux/run/darwin/afp")
CONF = """\
[Global]
afp port = 548
zeroconf = no
spotlight = no
afpstats = no
uam list = uams_dhx2_passwd.so
log file = "{state}/afpd.log"
log level = default:info
vol dbpath = "{state}/cnid"
"""
VOLUME = """
[{name}]
path = "{path}"
valid users = @staff
cnid scheme = dbd
ea = sys
"""
# netatalk keeps a signature, a lock and a cache in folders of the system
START = """
mount -t tmpfs -o mode=755 afp /private/var/lib &&
mount -t tmpfs -o mode=755 afp /private/var/lock && mkdir /private/var/lib/netatalk || exit
HOME=$1 && export HOME && exec netatalk -d -F "$1/afp.conf"
"""


def start(kernel: Kernel) -> Daemon:
    """netatalk, with the shares of today."""
    # afpd works as the account that logged in, which must reach the volume's database in here
    for folder in (STATE, STATE / "cnid"):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    write(kernel)
    return Daemon(START, str(STATE), log=STATE / "log")


def write(kernel: Kernel) -> bool:
    """netatalk's configuration, anew; whether it differs from before."""
    path = STATE / "afp.conf"
    before = path.read_text() if path.exists() else ""
    offered = [point for point in read_all() if point.afp_shared and can_share(kernel, point)]
    volumes = (VOLUME.format(name=point.afp_name, path=point.path.replace("$", "$$")) for point in offered)
    after = CONF.format(state=STATE) + "".join(volumes)
    path.write_text(after)
    return after != before


def can_share(kernel: Kernel, point: SharePoint) -> bool:
    """Only what is on HFS+: "APFS-formatted volumes can't offer share points over the network using AFP" (Apple)."""
    disk = "apfs" if kernel.profile.number >= (10, 13) else "hfs"
    below = [one for one in table(kernel) if point.path == one.target or point.path.startswith(f"{one.target}/")]
    best = max(below, key=lambda one: len(one.target), default=None)
    return (best.type if best else disk) == "hfs"
