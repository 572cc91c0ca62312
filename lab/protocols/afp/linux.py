"""AFP on Linux: netatalk serves; mount_afpfs or GVfs mounts, because no Linux kernel can."""

import re
from collections.abc import Generator, Mapping
from types import MappingProxyType

from lab.base.addresses import for_command, for_url
from lab.hosts.command import script
from lab.protocols.driver import Attached, Share, Side, Steps, Values
from lab.protocols.mounts import gvfs
from lab.protocols.mounts.linux import LinuxMount, in_private_mounts, mount_setting
from lab.protocols.servers.unflushed import is_unflushed, without_flushes
from lab.settings.background import background_process
from lab.settings.operation import Setting

PORT = 548
AFP_CONF = """\
[Global]
afp listen = {address}
afp port = {port}
zeroconf = no
spotlight = no
afpstats = no
uam list = uams_dhx2_passwd.so
log file = "{state}/afpd.log"
log level = default:info
vol dbpath = "{state}/cnid"

[{name}]
path = "{path}"
valid users = {account}
cnid scheme = dbd
ea = sys
"""
# In a mount namespace of its own: netatalk writes a signature into its system folder, a lock that stays when it is
# killed, and a cache into its home
START = """
mount -t tmpfs -o mode=755 lab /var/lib/netatalk && mount -t tmpfs -o mode=755 lab "$(cd /var/lock && pwd -P)" &&
HOME=$1 && export HOME && exec netatalk -d -F "$2"
"""
# `-` as the password has it asked for; without a terminal it is read from standard input
MOUNT_AFPFS = 'mount_afpfs "afp://$1:-@$2/$3" "$4"'


class LinuxAfp(LinuxMount):
    """netatalk, mount_afpfs and GVfs."""

    serves_with = MappingProxyType({"netatalk": "netatalk"})

    def __init__(self) -> None:
        super().__init__()
        self.has_afpfs = False

    def serve(self, server: Side, share: Share) -> Steps:
        """Start a netatalk of the lab's own, which checks logins against the system's accounts."""
        state = f"{server.directory}/afp"
        # afpd works as the account that logged in, which must reach the volume's database in here
        server.host.run("mkdir", "-m", "755", "-p", state, f"{state}/cnid")
        paths = {"state": _literal(state), "path": _literal(share.path)}
        address = for_command(server.address)
        config = AFP_CONF.format(address=address, port=PORT, name=share.name, account=share.account, **paths)
        path = server.write("afp/afp.conf", config)
        argv = in_private_mounts(START, state, path)
        if share.server_sync == "async":
            argv = without_flushes(argv)
        yield background_process(server.host.name, "netatalk", argv, state, server.listening(PORT))

    def durability(self, server: Side, share: Share) -> Mapping[str, str]:
        """netatalk has no setting: afpd answers FPFlushFork and FPSyncFork after an fsync, FPWrite after a write."""
        if is_unflushed(server, f"{server.directory}/afp/netatalk.process", "afpd"):
            return {"server_sync": "async", "server_sync_by": "a filter makes flushes of afpd do nothing"}
        return {"server_sync": "sync", "server_sync_by": "afpd as it is"}

    def mount_method(self, client: Side) -> str:
        """mount_afpfs if it is installed, else GVfs."""
        return "mount_afpfs" if client.has_program("mount_afpfs") else super().mount_method(client)

    def prepare(self, client: Side) -> Steps:
        """mount_afpfs needs nothing; GVfs a session."""
        self.has_afpfs = client.has_program("mount_afpfs")
        if not self.has_afpfs:
            yield from super().prepare(client)

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        if not self.has_afpfs:
            return (yield from super().attach(client, server, share))
        path = f"{client.directory}/mnt"
        client.host.run("mkdir", "-p", path)
        answer = share.password.get_secret_value() + "\n"
        words = (share.account, for_url(server.address), share.name, path)
        mount = script(MOUNT_AFPFS, *words, given=answer, deadline_s=60)
        yield mount_setting(client, path, mount)
        return Attached(path, effective={"mount": "mount_afpfs", **self.read_negotiated(server, share)})

    def uri(self, server: Side, share: Share) -> str:
        return gvfs.share_uri("afp", share.account, server.address, share.name)

    def read_negotiated(self, server: Side, share: Share) -> Values:
        """The version, from the server's log."""
        return read_last_login(server, share)


def _literal(path: str) -> str:
    """A path as it stands between double quotes in afp.conf, where a dollar sign begins a variable."""
    return path.replace("$", "$$")


def read_last_login(server: Side, share: Share) -> dict[str, str]:
    """The version of the newest login, from the line that our afpd logs; empty for every other server."""
    if not share.served_by_lab or server.platform != "linux":
        return {}
    logins = server.host.shell('grep -h "Login by" "$1" | tail -n 1', f"{server.directory}/afp/afpd.log", root=True)
    return parse_login(logins.stdout)


def parse_login(line: str) -> dict[str, str]:
    """The AFP version of a line such as ``… Login by lab (AFP3.3)``; empty if there is none."""
    match = re.search(r"\bAFP(?:X| )?(\d[\d.]*)", line)
    return {"dialect": f"AFP {match[1]}"} if match else {}
