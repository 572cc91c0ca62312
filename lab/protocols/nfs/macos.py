"""NFS on Macs: the kernel's nfs on the client, nfsd of macOS and the lab's line in /etc/exports on the server."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, TypeAlias, cast

from pydantic import Field

from lab.base.addresses import for_command
from lab.base.errors import LabFailure, Unsupported
from lab.base.scripts import read_script
from lab.hosts.assumptions import Capture
from lab.hosts.command import Command, command, run_perl, script
from lab.hosts.mounts import parse_nfsstat, read_parameters, real_path
from lab.protocols.driver import Share, Side, Steps, Values, read_ids
from lab.protocols.mounts.macos import BUFFER_LIMIT, MOUNTING, MacMount, parse_df_point
from lab.protocols.nfs.options import MACOS_OPTIONS
from lab.protocols.servers.macos_sharing import SERVING
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import AccountId, OwnPath
from lab.settings.tcp_reach import SYSTEM, Reach

EXPORTS = "/etc/exports"
Condition: TypeAlias = Literal["missing", "unended", "whole"]
EXPORTABLE = r"/[A-Za-z0-9_./+@~-]*"  # what exports can say
ADDRESS = r"^([0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-f:]{2,39})$"  # of IPv4 or IPv6
EDIT = read_script(__file__, "exports.pl")
# resvport: a port below 1024, which most servers demand and only root gets. nolocks: copies need no lock manager. Soft,
# because a dead server must end a trial, not block the host
MOUNT_OPTIONS = "tcp,resvport,nolocks,intr,timeo=100,retrans=3,retrycnt=0,nobrowse"
DEFAULTS = {"version": "3", "hard": "false"}  # where a sweep does not say
CONDITION = """
if [ ! -e "$1" ]; then echo missing; elif [ -z "$(tail -c 1 "$1")" ]; then echo whole; else echo unended; fi
"""
IS_EXPORTED = 'if grep -Fxq -- "$2" "$1" 2>/dev/null; then echo exported; else echo absent; fi'
STATE = "if nfsd status | grep -q '^nfsd is running'; then echo running; else echo stopped; fi"
# If enabled, nfsd starts and ends with the file. A running nfsd must be told that the file has changed
UPDATE = 'if [ -e "$1" ] && nfsd status | grep -q "^nfsd is running"; then nfsd update; fi'
AWAIT = f"nfsd_state() {{ {STATE}; }}\n" + read_script(__file__, "nfsd_await.sh")
AWAIT_END = f'[ -e "$2" ] || nfsd status | grep -q "^nfsd service is disabled" || {{\n{AWAIT}}}\n'
AWAIT_EXPORT = read_script(__file__, "nfsd_await_export.sh")
# Darwin 11 is Mac OS X 10.7, whose NFS (63) was the first with IPv6: mountd.c and mount_nfs.c
IS_BEFORE_IPV6 = 'system=$(uname -r) && [ "${system%%.*}" -lt 11 ]'
OWN_2_MIB = Reach(False, "its sockets get 2 MiB of their own")
# Source: nfs_socket.c of xnu's bsd/nfs, later of the NFS kext
CLIENT_TCP_REACH = {
    (10, 6): SYSTEM,
    (10, 15): OWN_2_MIB,
    (11, 0): Reach(
        False, "its sockets get a size of their own, or twice that of a transfer", "vfs.generic.nfs.client.tcp_sockbuf"
    ),
}
SERVER_TCP_REACH = {
    (10, 6): SYSTEM,
    (10, 15): OWN_2_MIB,
    (11, 0): Reach(False, "its sockets get twice the largest transfer", BUFFER_LIMIT),
    (15, 0): OWN_2_MIB,
}
# mount_nfs exits with the error number of what went wrong, and says it in words too (mount_nfs.c of NFS)
REASONS = {
    r"sandbox_check failed": "macOS keeps nfsd out of that folder: System Settings > Privacy & Security > Full Disk "
    "Access, add /sbin/nfsd",
    r"mount_nfs: .*Permission denied": "the server does not export that folder to this address; see its exports",
    r"mount_nfs: .*Operation not permitted": "the server refused the mount: it wants a port below 1024, which only "
    "root gets (Linux: `insecure` among its export's options, else mount it as root and measure the folder), or its "
    "exports do not fit",
    r"mount_nfs: .*timed out": "no answer: is the address right, and its firewall open for NFS and mountd?",
    r"mount_nfs: .*Connection refused": "no NFS server answers there: start it, or open that host's firewall",
    r"mount_nfs: .*No such file or directory": "the server has no such folder, or mounted nothing at it",
    r"nfsd is not running": "start it there: `sudo nfsd enable && sudo nfsd start`",
    r"rpc\.statd|RPC prog\. not avail": "the server lacks a service of NFSv3: rpcbind and mountd must run there",
}


@dataclass(frozen=True)
class MacExport(Operation):
    """A line in the exports of a Mac, for a folder of the lab's own."""

    kind = "mac-export"
    label_format = "export {path}"
    values = "absent|exported"
    volatile = False

    path: Annotated[OwnPath, Field(pattern=f"^{EXPORTABLE}$")]
    """The folder, as exports name it."""
    mount_point: Annotated[str, Field(pattern=f"^{EXPORTABLE}$", max_length=1024)]
    """The mount point of its file system; so nfsd exports nothing while the RAM disk is not mounted."""
    uid: AccountId
    """The account that all who come are."""
    gid: AccountId
    """The group of that account."""
    network: Annotated[str, Field(pattern=ADDRESS)]
    """Who may come: the address of a network."""
    mask: Annotated[str, Field(pattern=ADDRESS)]
    """The mask of that network."""
    condition: Condition
    """The file of exports before: `missing`, `unended` (no newline at its end) or `whole`."""

    @property
    def line(self) -> str:
        where = f"-network {self.network} -mask {self.mask}"
        return f"{self.path} -fspath={self.mount_point} -mapall={self.uid}:{self.gid} {where}"

    def read(self) -> Command:
        return script(IS_EXPORTED, EXPORTS, self.line, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        remove, update = edit_exports("remove", self.line, self.condition), script(UPDATE, EXPORTS, root=True)
        return remove, update, script(AWAIT_END, "stopped", EXPORTS, root=True, deadline_s=60)


@dataclass(frozen=True)
class MacNfsd(Operation):
    """The NFS server of a Mac, where it was off."""

    kind = "mac-nfsd"
    label = "service nfsd"
    values = "running|stopped"

    def read(self) -> Command:
        return script(STATE, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return command("nfsd", "stop", root=True), script(AWAIT, "stopped", root=True, deadline_s=60)


class MacNfs(MacMount):
    """mount_nfs, nfsstat and nfsd."""

    file_system = "nfs"
    program = "mount_nfs"
    options = MACOS_OPTIONS
    gone = "every macOS has it; this system is damaged"
    reasons = MappingProxyType(REASONS)
    client_tcp_reach = MappingProxyType(CLIENT_TCP_REACH)
    server_tcp_reach = MappingProxyType(SERVER_TCP_REACH)
    assumption_files = (SERVING, MOUNTING)
    captures: ClassVar[tuple[Capture, ...]] = (
        *MacMount.captures,
        Capture(name="nfsstat-m", ask="nfsstat -m", parse=parse_nfsstat),
    )

    def mount_method(self, client: Side) -> str:
        """The kernel. Raises Unsupported for an IPv6 address that this version does not know."""
        check_ipv6(client)
        return super().mount_method(client)

    def served_by(self, server: Side, account: str) -> str:
        """nfsd, for every account: NFS has none. Raises Unsupported for an address that exports cannot name."""
        if not server.has_program("nfsd"):
            raise Unsupported("no nfsd: every macOS has it; this system is damaged", host=server.host.name)
        server.check_not_link_local("nfsd")
        check_ipv6(server)
        return "nfsd"

    def serve(self, server: Side, share: Share) -> Steps:
        path, point = exported_folder(server, share.path)
        condition = server.host.shell(CONDITION, EXPORTS, root=True).stdout.strip()
        export = find_export(server, path, point, condition)
        check = server.write("exports", f"{export.line}\n")
        server.host.run("nfsd", "-F", check, "checkexports", root=True)
        is_on = "nfsd service is enabled" in server.host.run("nfsd", "status", check=False).stdout
        add = (edit_exports("add", export.line), script(UPDATE, EXPORTS, root=True))
        yield Setting(server.host.name, export, "exported", add)
        if is_on:
            server.host.shell(AWAIT, "running", root=True, deadline_s=60)
        else:  # launchd does not remember that it was started
            start = (command("nfsd", "start", root=True), script(AWAIT, "running", root=True, deadline_s=60))
            yield Setting(server.host.name, MacNfsd(), "running", start)
        server.host.shell(AWAIT_EXPORT, path, root=True, deadline_s=60)

    def mount(self, client: Side, server: Side, share: Share, path: str) -> Command:
        """As root, because most exports demand a port below 1024. Without root any port is tried."""
        source = f"{for_command(server.address)}:{exported_path(server, share)}"
        options = self.chosen_options(replace(share, options=DEFAULTS | dict(share.options)))
        return mount_nfs(source, path, options, reserved=not client.host.lacks_root)

    def read_negotiated(self, client: Side, server: Side, share: Share, path: str) -> tuple[Values, Mapping[str, str]]:
        """What nfsstat tells. Raises LabFailure for another version than was asked for: some fall back silently."""
        parameters = parse_nfsstat(client.host.run("nfsstat", "-m", path, check=False).stdout)
        values, asked = read_parameters(parameters), f"NFSv{share.options.get('version', DEFAULTS['version'])}"
        if values.get("dialect", asked) != asked:
            message = f"asked for {asked}, and nfsstat -m says {values['dialect']}"
            raise LabFailure(message, host=client.host.name)
        return values, parameters


def mount_nfs(source: str, path: str, chosen_options: Iterable[str], reserved: bool = True) -> Command:
    """The command that mounts an export at a folder, with these options besides MOUNT_OPTIONS; or from any port."""
    options = ",".join([MOUNT_OPTIONS if reserved else MOUNT_OPTIONS.replace("resvport,", ""), *chosen_options])
    return command("mount_nfs", "-o", options, source, path, root=True, deadline_s=60)


def check_ipv6(side: Side) -> None:
    """Raise Unsupported if the data address is of IPv6 and this Mac's NFS knows IPv4 alone."""
    if ":" in side.address and side.host.shell(IS_BEFORE_IPV6, check=False).exit_code == 0:
        message = f"NFS of Macs before 10.7 knows IPv4 alone, and data_address is {side.address}"
        remedy = "give both hosts a data_address of IPv4, or leave nfs out of the sweep"
        raise Unsupported(message, remedy, host=side.host.name)


def exported_path(server: Side, share: Share) -> str:
    """The folder of a share as a client has to ask for it: a Mac that exports it may know it by another name."""
    if not share.served_by_lab or server.platform != "macos":
        return share.path
    return exported_folder(server, share.path)[0]


def exported_folder(server: Side, folder: str) -> tuple[str, str]:
    """A folder of a Mac as exports name it, and the mount point of its file system.

    From 10.15 on folders such as /Users are on the data volume, and shown at / as well: nfsd takes the path that begins
    with the volume's mount point, and no other. Raises Unsupported where the folder is not there.
    """
    path = real_path(server.host, folder)
    point = parse_df_point(server.host.run("df", "-P", path).stdout)
    if f"{path}/".startswith(f"{point.rstrip('/')}/"):
        return path, point
    there = f"{point}{path}"
    if server.host.shell('[ "$1" -ef "$2" ]', path, there, check=False).exit_code != 0:
        message = f"{path} is on {point}, and not there as {there}"
        raise Unsupported(message, "share another folder", host=server.host.name)
    return there, point


def find_export(server: Side, path: str, point: str, condition: str) -> MacExport:
    """The export of a folder to the data link's network, for the lab's account. Raises Unsupported for odd paths."""
    for name in (path, point):
        if not re.fullmatch(EXPORTABLE, name):
            remedy = "give a mount_base of plain characters"
            raise Unsupported(f"exports cannot say {name}", remedy, host=server.host.name)
    uid, gid = read_ids(server)
    network = parse_network(server.host.run("ifconfig").stdout, server.address)
    before = cast(Condition, condition)  # which is checked with the rest
    return MacExport(path, point, uid, gid, str(network.network_address), str(network.netmask), before)


def edit_exports(act: str, line: str, *condition: str) -> Command:
    """The command that adds or removes a line."""
    return command(*run_perl(EDIT, act, EXPORTS, line, *condition), root=True)


def parse_network(text: str, address: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """The network of a host's address, from ``ifconfig``. Raises Unsupported if the host lacks the address."""
    mask_or_length = r"(?:.*?\bnetmask 0x([0-9a-f]{8})|prefixlen (1[01][0-9]|12[0-8]|[0-9]{1,2}))\b"
    match = re.search(rf"^\s+inet6? {re.escape(address)} {mask_or_length}", text, re.MULTILINE)
    if not match:
        remedy = "is data_address of [server] right?"
        raise Unsupported(f"ifconfig shows no address {address}", remedy, host="server")
    mask = ipaddress.IPv4Address(int(match[1], 16)) if match[1] else match[2]
    return ipaddress.ip_network(f"{address}/{mask}", strict=False)
