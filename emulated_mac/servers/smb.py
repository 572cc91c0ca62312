"""smbd: Samba stands for Apple's smbx (10.7 and later) and is what 10.6 itself ran."""

import subprocess
from pathlib import Path

from ..kernel.system_calls import Kernel
from ..linux_programs import Daemon, environment, linux_command
from ..share_points import SharePoint, read_all
from ..smb_negotiate import MAC_SERVER
from . import accounts

STATE = Path("/linux/run/emulated_mac/smb")
# Macs require no signing unless com.apple.smb.server says so
CONF = """\
[global]
netbios name = {name}
server role = standalone server
server min protocol = {oldest}
server max protocol = {newest}
disable netbios = yes
smb ports = 445
load printers = no
printcap name = /dev/null
private dir = {state}
lock directory = {state}
state directory = {state}
cache directory = {state}
pid directory = {state}
ncalrpc dir = {state}/ncalrpc
log file = {state}/log
server signing = default
include = {state}/shares.conf
"""
SHARE = """\
[{name}]
path = {path}
read only = {read_only}
valid users = @staff
smb encrypt = {encrypt}
"""
START = Path(__file__).with_name("smb.sh")


def dialects(number: tuple[int, ...]) -> tuple[str, str]:
    """The oldest and the newest dialect that a version serves, in Samba's names. 10.6 is Samba 3.0 (apple samba-235)
    and speaks SMB1. smbx got SMB 2 in 10.7 and 3.0.2 in 10.10; two Macs still show SMB_3.0.2. Public lists have SMB1 up
    to 10.10. No source covers later versions; here they refuse SMB1.
    """
    if number < (10, 7):
        return "NT1", "NT1"
    return "NT1" if number < (10, 11) else "SMB2_02", "SMB2_10" if number < (10, 10) else "SMB3_02"


def start(kernel: Kernel) -> Daemon:
    """Start Samba with the present share points; ``reload`` makes it read later ones."""
    STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
    oldest, newest = dialects(kernel.profile.number)
    (STATE / "smb.conf").write_text(CONF.format(name=MAC_SERVER, oldest=oldest, newest=newest, state=STATE))
    write_shares()
    write_password(kernel)
    return Daemon(START, str(STATE), log=STATE / "log")


def write_password(kernel: Kernel) -> None:
    """Add the users to Samba's database, or remove them if they have no SMB-NT hash."""
    password = accounts.read_password()
    action = ("-a", "-s") if "SMB-NT" in accounts.hash_types(kernel) else ("-x",)
    twice = f"{password}\n{password}\n"
    for user in accounts.USERS:
        argv = linux_command("smbpasswd", "-c", str(STATE / "smb.conf"), *action, user)
        subprocess.run(argv, input=twice, text=True, capture_output=True, env=environment(), check=False)


def reload() -> None:
    """Let a running Samba read its shares again; sessions continue."""
    if not STATE.exists():
        return
    write_shares()
    argv = linux_command("smbcontrol", "-s", str(STATE / "smb.conf"), "all", "reload-config")
    subprocess.run(argv, capture_output=True, env=environment(), check=False)


def write_shares() -> None:
    """Write the share points that are shared over SMB."""
    shared = [_share_section(point) for point in read_all() if point.smb_shared]
    (STATE / "shares.conf").write_text("\n".join(shared))


def _share_section(point: SharePoint) -> str:
    """A share point as a section of Samba's configuration."""
    return SHARE.format(
        name=point.smb_name,
        path=point.path,
        read_only="yes" if point.smb_read_only else "no",
        encrypt="required" if point.smb_sealed else "default",
    )
