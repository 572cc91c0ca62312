"""AFP on Macs: afpfs of the kernel on the client, to macOS 26; on the server AppleFileServer, to 10.15."""

from collections.abc import Mapping
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.base.untrusted import first_line
from lab.hosts.command import Command
from lab.hosts.mounts import parse_mounts, real_path
from lab.protocols.afp.linux import read_last_login
from lab.protocols.driver import Share, Side, Steps, Values
from lab.protocols.mounts.macos import ALREADY_MOUNTED, answer_prompt, parse_df_point
from lab.protocols.servers import macos_sharing
from lab.protocols.volumes import Volume, facts_about
from lab.settings.tcp_reach import CLOSED

SERVICE = macos_sharing.Service(
    protocol="afp", label="com.apple.AppleFileServer", port=548, flags="100", name_option="-A", hash_type="",
    gone="this macOS has no AFP server: 11 and later have none",
)  # fmt: skip
# Error numbers of AFP itself: Apple Filing Protocol Reference, result codes
REASONS = {
    r"-5023\b|-5000\b|asked for the password again|Authentication error": "the server refused account or password, or "
    "the account's rights",
    r"-5002\b": "client and server know no common way to log in: on netatalk, `uam list = uams_dhx2.so`",
    r"-5003\b": "client and server have no version of AFP in common",
    r"-5042\b|-5045\b": "the account's password has expired, or must be changed before it is used",
    r"-5018\b|No such file or directory": "the server has no such share",
    r"Connection refused": "no AFP server answers there: start it, or let it through that host's firewall",
    r"File exists": ALREADY_MOUNTED,
}


class MacAfp(macos_sharing.MacShare):
    """mount_afp, sharing and AppleFileServer."""

    file_system = "afpfs"
    program = "mount_afp"
    gone = "macOS 27 has removed its AFP client"
    gone_remedy = "leave afp out of sweeps, or take an older Mac"
    reasons = MappingProxyType(REASONS)
    service = SERVICE
    client_tcp_reach = server_tcp_reach = MappingProxyType({(10, 6): CLOSED})

    def check_ram_disk(self, server: Side, layout: str | None) -> None:
        """AppleFileServer shares only volumes of HFS+."""
        if layout == "apfs":
            remedy = f"ram_disk_format = hfs in [{server.host.name}], or take afp out of the sweep"
            raise Unsupported("AFP cannot share APFS", remedy, host=server.host.name)

    def serve(self, server: Side, share: Share) -> Steps:
        """AppleFileServer and a share point, of a folder on HFS+: it shares nothing else."""
        point = parse_df_point(server.host.run("df", "-P", real_path(server.host, share.path)).stdout)
        kind, _ = parse_mounts(server.host.run("mount").stdout).get(point, ("an unknown file system", ""))
        if kind != "hfs":
            fact = next(facts_about("afp", Volume("macos", kind)))  # every kind but HFS+ has one
            message = f"AFP cannot share {share.path}, which is on {first_line(kind)}"
            raise Unsupported(message, f"share a RAM disk (store = ram); or {fact.cure}", host=server.host.name)
        yield from super().serve(server, share)

    def mount(self, client: Side, server: Side, share: Share, path: str) -> Command:
        """As the account that logs in. Output after success (``the mount flags are …``) is no failure."""
        url = f"afp:{macos_sharing.url(server, share)}"
        return answer_prompt(client, share, "mount_afp", "-i", "-o", "nobrowse", url, path)

    def read_negotiated(self, client: Side, server: Side, share: Share, path: str) -> tuple[Values, Mapping[str, str]]:
        """No command of macOS tells; netatalk does."""
        return read_last_login(server, share), {}
