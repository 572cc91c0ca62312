"""SMB on Macs: smbfs of the kernel on the client; on the server the share points and smbd of macOS, from 10.7 on."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from lab.hosts.assumptions import Capture
from lab.hosts.command import Command
from lab.hosts.mounts import parse_multichannel, parse_statshares
from lab.protocols.driver import Share, Side, Steps, Values
from lab.protocols.mounts.macos import ALREADY_MOUNTED, BUFFER_LIMIT, answer_prompt
from lab.protocols.servers import macos_sharing
from lab.protocols.smb.options import MACOS_OPTIONS
from lab.settings.tcp_reach import CLOSED, SYSTEM, Reach

SERVICE = macos_sharing.Service(
    protocol="smb", label="com.apple.smbd", port=445, flags="001", name_option="-S", hash_type="SMB-NT",
    gone="this macOS has no SMB server of its own (Mac OS X 10.6 has Samba, which the lab does not start there)",
)  # fmt: skip
SMB1 = "SMB 1"
# Source: smb_trantcp.c of SMBClient
CLIENT_TCP_REACH = {
    (10, 6): Reach(False, "its sockets get 128 KiB of their own", "net.smb.fs.tcpsndbuf and net.smb.fs.tcprcvbuf"),
    (10, 7): Reach(False, "its sockets get 255 KiB of their own"),
    (10, 9): Reach(False, "it asks for 4 MiB, and for less where it does not get them", BUFFER_LIMIT),
    (10, 11): Reach(None, "its source is not published for this version"),
    (11, 0): Reach(False, "it asks for 8 MiB, and for less where it does not get them", BUFFER_LIMIT),
    (15, 0): SYSTEM,
}
# Darwin 13 is OS X 10.9, whose client was the first with SMB 2
HAS_SMB1_ALONE = 'system=$(uname -r) && [ "${system%%.*}" -lt 13 ]'
# Darwin 20.4 is macOS 11.3, the first with several channels; before Darwin 15, OS X 10.11, SMB 2 was chosen otherwise
KERNEL = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})")
FIRST_WITH = {"multichannel": (20, 4), "dialect": (15, 0)}
HAS_OWN_SESSIONS = "mount_smbfs -h 2>&1 | grep -qF -- '[-s]'"  # it tells how it is used; -h is no success
# Errors stand as mount_smbfs.c of SMBClient writes them; what the numbers mean: MS-ERREF
REASONS = {
    r"Authentication error|asked for the password again|-1073741715\b": "the server refused account or password. A "
    "Mac lets in only accounts whose password was typed into its System Settings > General > Sharing > File Sharing "
    "(i) > Options > Windows File Sharing",
    r"Connection refused": "no SMB server answers there: start it, or let it through that host's firewall",
    r"Connection reset by peer|Protocol not supported|Input/output error": "client and server may have no version of "
    "SMB in common: Macs before 10.9 know SMB 1 alone, which many servers do not speak",
    r"Operation timed out|-1073741643\b": "no answer: is the address right, and its firewall open for port 445?",
    r"File exists": ALREADY_MOUNTED,
    r"No such file or directory|share connection failed|-1073741275\b|-1073741620\b|-1073741772\b": "the server has "
    "no such share, or may not read its folder; a Mac that shares a removable volume may need /usr/sbin/smbd in "
    "System Settings > Privacy & Security > Full Disk Access",
    r"-1073741790\b|Permission denied": "the server knows the account, and does not let it into this share",
    r"-1073741260\b": "the server has locked the account out: too many wrong passwords",
    r"-1073741711\b|-1073741276\b": "the account's password has expired, or must be changed before it is used",
    r"URL parsing failed": "account or name of the share cannot be part of a URL: choose others in [share]",
}


class MacSmb(macos_sharing.MacShare):
    """mount_smbfs, smbutil, sharing and smbd."""

    file_system = "smbfs"
    program = "mount_smbfs"
    gone = "every macOS has it; this system is damaged"
    reasons = MappingProxyType(REASONS)
    service = SERVICE
    options = MACOS_OPTIONS
    captures: ClassVar[tuple[Capture, ...]] = (
        *macos_sharing.MacShare.captures,
        Capture(name="statshares", ask="smbutil statshares -a", parse=parse_statshares, since=(10, 9)),
        Capture(
            name="multichannel", ask="smbutil multichannel -a", parse=lambda text: parse_channels(text), since=(11, 3)
        ),
    )
    client_tcp_reach = MappingProxyType(CLIENT_TCP_REACH)
    server_tcp_reach = MappingProxyType({(10, 6): CLOSED})

    def __init__(self) -> None:
        self.own_session = False
        self.smb1_alone = False

    def mount_method(self, client: Side) -> str:
        """The kernel, with a note if it knows only SMB 1."""
        return super().mount_method(client) + (f", {SMB1} alone" if self.old_dialect(client) else "")

    def old_dialect(self, client: Side) -> str:
        return SMB1 if client.host.shell(HAS_SMB1_ALONE, check=False).exit_code == 0 else ""

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """Some options came with later versions of macOS."""
        if reason := super().cannot_attach(client, options):
            return reason
        came_later = sorted(options.keys() & FIRST_WITH.keys())
        kernel = read_kernel(client) if came_later else ()  # the host is asked last, and only where that decides
        missing = [name for name in came_later if kernel < FIRST_WITH[name]]
        return f"this macOS is too old to be told {' and '.join(missing)}" if missing else ""

    def takes_every_network(self, client: Side) -> bool:
        return read_kernel(client) >= FIRST_WITH["multichannel"]

    def prepare(self, client: Side) -> Steps:
        """Find out what this version knows: SMB 1 alone, and whether a mount can have a session of its own."""
        self.smb1_alone = bool(self.old_dialect(client))
        self.own_session = client.host.shell(HAS_OWN_SESSIONS, check=False).exit_code == 0
        yield from ()

    def mount(self, client: Side, server: Side, share: Share, path: str) -> Command:
        """As the account that logs in, because a Mac lets nobody else into its mounts."""
        session = ("-s",) if self.own_session else ()
        url = macos_sharing.url(server, share)
        preferences = self._write_preferences(client, share)
        return answer_prompt(client, share, *preferences, "mount_smbfs", *session, "-o", "nobrowse", url, path)

    def _write_preferences(self, client: Side, share: Share) -> tuple[str, ...]:
        """Write the nsmb.conf of a mount with options, in a home of its own; returns the words that use it.

        The account's own file is neither read nor changed. /etc/nsmb.conf takes precedence over this one.
        """
        lines = self.chosen_options(share)
        if not lines:
            return ()
        client.host.run("mkdir", "-p", f"{client.directory}/smb-home/Library/Preferences")
        client.write("smb-home/Library/Preferences/nsmb.conf", "\n".join(["[default]", *lines, ""]))
        return "env", f"HOME={client.directory}/smb-home"

    def find_channels(self, client: Side, path: str) -> Mapping[str, str]:
        """From 11.3 on SMB uses every network that both hosts are on, the fastest first, and that may be Wi-Fi."""
        return parse_channels(client.host.run("smbutil", "multichannel", "-m", path, check=False).stdout)

    def read_negotiated(self, client: Side, server: Side, share: Share, path: str) -> tuple[Values, Mapping[str, str]]:
        """What smbutil tells, as far as this version has it; one that knows SMB 1 alone has none of it."""
        shares = client.host.run("smbutil", "statshares", "-m", path, check=False)  # from 10.9 on
        channels = client.host.run("smbutil", "multichannel", "-m", path, check=False)  # from 11.3 on
        negotiated = {
            **({"dialect": SMB1} if self.smb1_alone else {}),
            **parse_statshares(shares.stdout if shares.exit_code == 0 else ""),
            **parse_multichannel(channels.stdout if channels.exit_code == 0 else ""),
        }
        return negotiated | ({"session": "own"} if self.own_session else {}), negotiated


def read_kernel(client: Side) -> tuple[int, ...]:
    """The first two numbers of the client's Darwin; none where it says something else."""
    release = KERNEL.match(client.host.run("uname", "-r").stdout)
    return tuple(map(int, release.groups())) if release else ()


def parse_channels(text: str) -> dict[str, str]:
    """The kind of each interface, such as ``Ethernet``, that a session now sends over: ``smbutil multichannel -m``."""
    row = r"^[A-Z]* +\d+ +([a-z0-9]{1,15}) +\(([\w-]{1,20}) *\).*\[session active *\]"
    return dict(re.findall(row, text, re.MULTILINE))
