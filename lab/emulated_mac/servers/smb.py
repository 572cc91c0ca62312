"""smbd: Samba stands for Apple's smbx (10.7 and later) and is what 10.6 itself ran."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..daemons import Daemon
from ..kernel import Kernel, environment, linux
from ..sharepoints import SharePoint, read_all
from . import accounts

STATE = Path("/linux/run/darwin/smb")
# Macs do not ask for signing unless com.apple.smb.server says so
CONF = """\
[global]
server role = standalone server
server min protocol = {least}
server max protocol = {most}
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
START = 'exec smbd --foreground --no-process-group --debug-stdout -s "$1/smb.conf"'


def dialects(number: tuple[int, ...]) -> tuple[str, str]:
    """Least and most of what a version serves, as Samba names it.

    10.6 is Samba 3.0 (apple samba-235) and speaks SMB1; smbx got SMB 2 in 10.7 and 3.0.2 in 10.10, and Macs still
    show SMB_3.0.2 to one another. Public lists of versions have SMB1 up to 10.10; of later ones it is not known, and
    here they refuse it.
    """
    if number < (10, 7):
        return "NT1", "NT1"
    return "NT1" if number < (10, 11) else "SMB2_02", "SMB2_10" if number < (10, 10) else "SMB3_02"


def start(kernel: Kernel) -> Daemon:
    """Samba, with the shares of today; ``reload`` tells it of others."""
    STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
    least, most = dialects(kernel.profile.number)
    (STATE / "smb.conf").write_text(CONF.format(least=least, most=most, state=STATE))
    write_shares()
    set_password(kernel)
    return Daemon(START, str(STATE), log=STATE / "log")


def set_password(kernel: Kernel) -> None:
    """Into Samba's database, or out of it for accounts without an SMB-NT hash."""
    word = accounts.password()
    what = ("-a", "-s") if "SMB-NT" in accounts.hash_types(kernel) else ("-x",)
    for user in accounts.USERS:
        argv = linux("smbpasswd", "-c", str(STATE / "smb.conf"), *what, user)
        subprocess.run(argv, input=f"{word}\n{word}\n", text=True, capture_output=True, env=environment(), check=False)


def reload() -> None:
    """Let a running Samba read its shares again; sessions go on."""
    if not STATE.exists():
        return
    write_shares()
    argv = linux("smbcontrol", "-s", str(STATE / "smb.conf"), "all", "reload-config")
    subprocess.run(argv, capture_output=True, env=environment(), check=False)


def write_shares() -> None:
    """What is shared over SMB."""
    shared = [share(point) for point in read_all() if point.smb_shared]
    (STATE / "shares.conf").write_text("\n".join(shared))


def share(point: SharePoint) -> str:
    """A share point as Samba reads it."""
    return SHARE.format(
        name=point.smb_name,
        path=point.path,
        read_only="yes" if point.smb_read_only else "no",
        encrypt="required" if point.smb_sealed else "default",
    )
