"""ksmbd, the SMB server of a Linux kernel. A kernel has only one, so the lab uses it only if nobody loaded it."""

import re
from dataclasses import dataclass

from lab.base.errors import LabFailure, Unsupported
from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script, shell_line
from lab.protocols.driver import Share, Side, Steps
from lab.protocols.mounts.linux import in_private_mounts
from lab.protocols.servers.kernel_server import KernelServer
from lab.settings.background import background_process
from lab.settings.operation import Operation, Setting

PORT = 445
# It listens on interfaces, not on addresses, and speaks SMB 2.1 to 3.1.1
CONFIG = """\
[global]
bind interfaces only = yes
interfaces = {interface}
tcp port = {port}

[{name}]
path = {path}
read only = no
valid users = {account}
force user = {user}
"""

SERVER = KernelServer(
    name="ksmbd",
    has="modprobe -n -q ksmbd",
    write_holder=lambda listening: (
        f"if [ -d /sys/module/ksmbd ]; then echo loaded; elif {listening(PORT)}; then echo port; else echo free; fi"
    ),
    programs=("ksmbd.mountd", "ksmbd.adduser"),
    package="ksmbd-tools",
    then=" (Debian removes samba for it: `apt-get download` it, and `dpkg-deb -x`)",
    refusals={
        "loaded": ("ksmbd is loaded already, and may be somebody's", "`modprobe -r ksmbd` if it is not"),
        "port": (f"another server listens on port {PORT}", "stop it"),
    },
)
# mountd answers what the kernel asks about shares and accounts. Its lock and its identity in the domain lie in
# places that nobody else sees. $1 is its configuration, $2 its accounts.
START = r"""
mount -t tmpfs -o mode=755 lab /run || exit
[ ! -d /etc/ksmbd ] || mount -t tmpfs -o mode=755 lab /etc/ksmbd || exit
exec ksmbd.mountd -n -C "$1" -P "$2"
"""
READY = "grep -q '^[0-9]* running ' /sys/class/ksmbd-control/stats && sh -c \"$1\""
READ_MODULE = "if [ -d /sys/module/ksmbd ]; then echo loaded; else echo absent; fi"
# A FLUSH of a client becomes an fsync before it is answered, a WRITE none: seen with ftrace on Linux 6.12
DURABILITY = {"server_sync": "sync", "server_sync_by": "ksmbd, which has no setting for it"}
UNLOAD = read_script(__file__, "ksmbd_unload.sh")


@dataclass(frozen=True)
class Ksmbd(Operation):
    """The kernel module ksmbd, which goes with all that it serves."""

    kind = "ksmbd"
    label = "kernel module ksmbd"
    values = "absent|loaded"

    def read(self) -> Command:
        return script(READ_MODULE)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNLOAD, root=True, deadline_s=60),)


def find_refusal(server: Side, share: Share) -> str:
    """Why ksmbd can never serve here what is asked; empty where it can. Raises Unsupported where a person can help."""
    if share.server_sync not in ("default", "sync"):
        return "ksmbd flushes when a client asks for it, and cannot be told otherwise"
    if share.options.get("dialect") == "2.0.2":
        return "ksmbd speaks no SMB below 2.1"
    if set(share.path) & set(";#"):
        return f"the settings of ksmbd cannot name {share.path}, because ; or # begins a comment"
    return SERVER.find_refusal(server)


def serve(server: Side, share: Share) -> Steps:
    """Start ksmbd on the interface of the data address; the account's password is in a database of the lab's own."""
    if share.old_dialect:
        message = f"ksmbd does not speak {share.old_dialect}"
        raise Unsupported(message, "leave it out of the sweep", host=server.host.name)
    state = f"{server.directory}/ksmbd"
    server.host.run("mkdir", "-m", "700", "-p", state)
    addresses = server.host.run("ip", "-o", "address", "show", "to", server.address).stdout
    config = CONFIG.format(
        interface=parse_interface(addresses), port=PORT,
        name=share.name, path=share.path, account=share.account, user=server.user,
    )  # fmt: skip
    path, accounts = server.write("ksmbd/ksmbd.conf", config), f"{state}/accounts"
    password = share.password.get_secret_value()
    add = ("ksmbd.adduser", "-C", path, "-P", accounts, share.account)
    server.host.run(*add, root=True, given=f"{password}\n{password}\n")
    yield Setting(server.host.name, Ksmbd(), "loaded", (command("modprobe", "ksmbd", root=True),))
    argv = in_private_mounts(START, path, accounts)
    ready = shell_line(READY, server.listening(PORT))
    yield background_process(server.host.name, "ksmbd.mountd", argv, state, ready)


def parse_interface(text: str) -> str:
    """The interface in the one line of ``ip -o address``. Raises LabFailure where it is not that."""
    match = re.fullmatch(r"[0-9]+: ([A-Za-z0-9_.-]{1,15}) +inet6? .*\n", text)
    if not match:
        raise LabFailure(f"its data address is not on one interface: {text!r:.200}", host="server")
    return match[1]
