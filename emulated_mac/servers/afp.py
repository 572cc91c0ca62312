"""AppleFileServer: netatalk, with the Mac's share points. Its accounts are the system's."""

from pathlib import Path

from ..kernel.mounts import table
from ..kernel.system_calls import Kernel
from ..linux_programs import Daemon
from ..share_points import SharePoint, read_all

STATE = Path("/linux/run/emulated_mac/afp")
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
START = Path(__file__).with_name("afp.sh")


def start(kernel: Kernel) -> Daemon:
    """Start netatalk with the present share points."""
    # afpd runs as the logged-in user and must reach the volume's database in this folder
    for folder in (STATE, STATE / "cnid"):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    write_config(kernel)
    return Daemon(START, str(STATE), log=STATE / "log")


def write_config(kernel: Kernel) -> bool:
    """Write netatalk's configuration; returns whether it has changed."""
    path = STATE / "afp.conf"
    before = path.read_text() if path.exists() else ""
    offered = [point for point in read_all() if point.afp_shared and can_share(kernel, point)]
    volumes = (VOLUME.format(name=point.afp_name, path=point.path.replace("$", "$$")) for point in offered)
    after = CONF.format(state=STATE) + "".join(volumes)
    path.write_text(after)
    return after != before


def can_share(kernel: Kernel, point: SharePoint) -> bool:
    """Whether the share point is on HFS+: "APFS-formatted volumes can't offer share points over the network using AFP"
    (Apple).
    """
    disk = "apfs" if kernel.profile.number >= (10, 13) else "hfs"
    mounts = [mount for mount in table(kernel) if f"{point.path}/".startswith(f"{mount.target}/")]
    nearest = max(mounts, key=lambda mount: len(mount.target), default=None)
    return (nearest.type if nearest else disk) == "hfs"
