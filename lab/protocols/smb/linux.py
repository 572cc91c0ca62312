"""SMB on Linux: Samba or ksmbd, and as a client the kernel's cifs, or GVfs."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.base.untrusted import first_line, from_json, word
from lab.hosts.mounts import FIND, cifs_sessions, in_table, parse_signed
from lab.hosts.systems import how_to_install
from lab.protocols.driver import Share, Side, Steps, Values, read_ids
from lab.protocols.mounts import gvfs
from lab.protocols.mounts.linux import LinuxMount
from lab.protocols.smb import ksmbd
from lab.protocols.smb.ksmbd import PORT
from lab.protocols.smb.macos import SMB1
from lab.protocols.smb.options import OPTIONS
from lab.settings.background import background_process

# All state in the lab's own folder: the host's own Samba, its accounts and shares are neither read nor written
SMB_CONF = """\
[global]
server role = standalone server
server min protocol = {least}
disable netbios = yes
smb ports = {port}
interfaces = {address}
bind interfaces only = yes
load printers = no
printcap name = /dev/null
private dir = {state}
lock directory = {state}
state directory = {state}
cache directory = {state}
pid directory = {state}
ncalrpc dir = {state}/ncalrpc
log file = {state}/log

[{name}]
path = {path}
read only = no
valid users = {account}
force user = {user}
{sync}
{macs}
"""
# SMB 1 has no encryption and weak signatures, so it is only there for clients that know nothing else
LEAST = {"": "SMB2_02", SMB1: "NT1"}
# `sync always` does nothing without `strict sync`
SYNC = {
    "default": "",
    "async": "strict sync = no\nsync always = no",
    "sync": "strict sync = yes\nsync always = no",
    "always": "strict sync = yes\nsync always = yes",
}
# As vfs_fruit(8) has it. With Time Machine it tells Macs that it takes part in F_FULLFSYNC (SMB2_CRTCTX_AAPL_FULL_SYNC
# in check_aapl of vfs_fruit.c)
FRUIT = "vfs objects = catia fruit streams_xattr\nfruit:time machine = {}"
MACS = {"": "", "false": FRUIT.format("no"), "true": FRUIT.format("yes")}
# $1 the file, $2 the share: both settings as Samba understands them, one a line
READ_SYNC = """
for name in "strict sync" "sync always"; do testparm -s --section-name "$2" --parameter-name "$name" "$1"; done
"""
READ_FRUIT = 'testparm -s --section-name "$2" --parameter-name "fruit:time machine" "$1" 2>/dev/null; :'
HAS_FRUIT = 'test -e "$(smbd -b | sed -n "s/^ *MODULESDIR: //p")/vfs/fruit.so"'
DEBUG_DATA = "cat /proc/fs/cifs/DebugData"
# $@ addresses: the interface that leads to each
INTERFACES = 'for address in "$@"; do ip -o route get "$address" | sed -n "s/.* dev \\([^ ]*\\) .*/\\1/p"; done'


class LinuxSmb(LinuxMount):
    """Samba, ksmbd, cifs and GVfs."""

    serves_with = MappingProxyType(
        {"smbd": "samba", "smbpasswd": "samba-common-bin", "smbstatus": "samba", "testparm": "samba-common-bin"}
    )
    kernel_type = "cifs"
    options = OPTIONS
    dialect_prefix = "SMB "
    gvfs_file_mode = "700"  # libsmbclient's files have no mode; FUSE shows this one, and has no chmod

    def __init__(self) -> None:
        super().__init__()
        self.serves_by_ksmbd = False
        self.time_machine = ""

    def needs_to_serve(self, server: Side, options: Mapping[str, str]) -> Mapping[str, str]:
        """None for ksmbd, whose tools are looked for with it."""
        return {} if options.get("server") == "ksmbd" else self.serves_with

    def cannot_serve(self, server: Side, share: Share) -> str:
        """Why ksmbd cannot serve: others use it, it is absent, or it lacks an option. Samba may lack the Mac module."""
        if share.options.get("server") == "ksmbd":
            return ksmbd.find_refusal(server, share)
        server.check_not_link_local("Samba")
        if "time_machine" in share.options and server.host.shell(HAS_FRUIT, check=False).exit_code:
            remedy = how_to_install(server.host, "samba-vfs-modules", "leave smb.time_machine out of the sweep")
            raise Unsupported("smb.time_machine: Samba has no vfs_fruit there", remedy, host=server.host.name)
        return ""

    def server_options(self) -> Mapping[str, str]:
        if self.serves_by_ksmbd:
            return {"server": "ksmbd"}
        return {"server": "samba", **({"time_machine": self.time_machine} if self.time_machine else {})}

    def serve(self, server: Side, share: Share) -> Steps:
        self.serves_by_ksmbd = share.options.get("server") == "ksmbd"
        yield from ksmbd.serve(server, share) if self.serves_by_ksmbd else self._serve_by_samba(server, share)

    def _serve_by_samba(self, server: Side, share: Share) -> Steps:
        """On the data address; the account's password is in a database of the lab's own."""
        server.check_sockets()
        state = f"{server.directory}/smb"
        server.host.run("mkdir", "-m", "700", "-p", state)
        config = SMB_CONF.format(
            port=PORT, address=server.address, state=state, name=share.name, path=share.path,
            account=share.account, user=server.user, sync=SYNC[share.server_sync], least=LEAST[share.old_dialect],
            macs=MACS[share.options.get("time_machine", "")],
        )  # fmt: skip
        path = server.write("smb/smb.conf", config)
        password = share.password.get_secret_value()
        add = ("smbpasswd", "-c", path, "-a", "-s", share.account)
        server.host.run(*add, root=True, given=f"{password}\n{password}\n")
        argv = ("smbd", "--foreground", "--no-process-group", "--debug-stdout", "-s", path)
        yield background_process(server.host.name, "smbd", argv, state, server.listening(PORT))

    def durability(self, server: Side, share: Share) -> Mapping[str, str]:
        """What testparm reads in the file that our Samba was started with; ksmbd has nothing to read."""
        if self.serves_by_ksmbd:
            return ksmbd.DURABILITY
        path = f"{server.directory}/smb/smb.conf"
        if "time_machine" in share.options:
            self.time_machine = parse_time_machine(server.host.shell(READ_FRUIT, path, share.name, root=True).stdout)
        return parse_testparm(server.host.shell(READ_SYNC, path, share.name, root=True).stdout)

    def uri(self, server: Side, share: Share) -> str:
        """With a domain, or GVfs asks for one."""
        return gvfs.share_uri("smb", f"WORKGROUP;{share.account}", server.address, share.name)

    def kernel_mount(self, client: Side, server: Side, share: Share) -> tuple[str, str]:
        """The password goes into a file: option strings are visible to everybody, and commas break them."""
        secret = f"username={share.account}\npassword={share.password.get_secret_value()}\n"
        credentials = client.write("smb-credentials", secret)
        uid, gid = read_ids(client)
        return f"//{server.address}/{share.name}", f"credentials={credentials},uid={uid},gid={gid}"

    def options_outside_table(self, client: Side, server: Side, share: Share) -> dict[str, str]:
        """Whether the connection is signed, which is no option that the table of mounts shows."""
        text = client.host.shell(DEBUG_DATA, root=True, check=False).stdout
        return {"signed": parse_signed(text, rf"\\{server.address}\{share.name}")}

    def find_channels(self, client: Side, path: str) -> Mapping[str, str]:
        """The interfaces that lead to each address of the server to which this mount has a connection."""
        source = first_line(client.host.shell(FIND, in_table(path), check=False).stdout).partition(" ")[0]
        text = client.host.shell(DEBUG_DATA, root=True, check=False).stdout
        addresses = parse_connected_addresses(text, source.replace("/", "\\"))
        interfaces = client.host.shell(INTERFACES, *addresses).stdout.split()
        return {word(name, "[!-~]{1,15}"): "of this kernel" for name in interfaces}

    def read_negotiated(self, server: Side, share: Share) -> Values:
        """Dialect, signing and encryption, as our Samba reports its newest session; ksmbd reports none."""
        if not share.served_by_lab or server.platform != "linux" or share.options.get("server") == "ksmbd":
            return {}
        argv = ("smbstatus", "--json", "-s", f"{server.directory}/smb/smb.conf")
        return parse_smbstatus(server.host.run(*argv, root=True).stdout)


def parse_connected_addresses(text: str, share: str) -> list[str]:
    """The server's addresses that sessions of a share have connections to, from the kernel's DebugData."""
    addresses = []
    for session, _ in cifs_sessions(text, share):
        for interface in re.split(r"^\t\d+\)", session.partition("Server interfaces:")[2], flags=re.MULTILINE):
            address = re.search(r"^\s+IPv[46]: ([0-9a-fA-F:.]{2,45})$", interface, re.MULTILINE)
            if address and "[CONNECTED]" in interface:
                addresses.append(address[1])
    return list(dict.fromkeys(addresses))


def parse_smbstatus(text: str) -> dict[str, str]:
    """The dialect, signing and encryption of the session in ``smbstatus --json``. Raises Unsupported if unreadable."""
    try:
        sessions = list(from_json(text)["sessions"].values())
        if not sessions:
            raise ValueError("no session is there")
        # by time, because the ids of sessions are random
        newest = max(sessions, key=lambda session: str(session.get("creation_time", "")))
        ciphers = {name: _cipher(newest[name]) for name in ("signing", "encryption")}
        return {"dialect": word(newest["session_dialect"]), **ciphers}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"smbstatus --json printed something else than the sessions of Samba 4.17 or later: {error}"
        raise Unsupported(message) from error


def parse_testparm(text: str) -> dict[str, str]:
    """The durability that ``strict sync`` and ``sync always`` come to. Raises Unsupported if unreadable."""
    words = text.lower().split()
    if len(words) != 2 or not set(words) <= {"yes", "no"}:
        raise Unsupported(f"testparm printed something else than two settings: {text!r:.100}")
    strict, always = words
    level = "async" if strict == "no" else "always" if always == "yes" else "sync"
    return {"server_sync": level, "server_sync_by": f"strict sync = {strict}, sync always = {always}"}


def parse_time_machine(text: str) -> str:
    """The level of ``smb.time_machine`` that testparm tells: empty where the share has no such setting."""
    return {"yes": "true", "no": "false"}.get(text.strip().lower(), "")


def _cipher(protection: dict[str, str]) -> str:
    """The cipher, or ``off``. Samba also names a cipher that protects only the login (``partial``)."""
    return word(protection["cipher"]) if protection["degree"] == "full" else "off"
