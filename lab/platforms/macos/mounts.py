"""What is mounted on a Mac, by mount, smbutil and nfsstat."""

import re
from urllib.parse import unquote

from lab.hosts import macos_privacy
from lab.hosts import mounts as reports
from lab.hosts.command import run_perl
from lab.platforms.macos.parsers import parse_plist
from lab.platforms.mounts import MountedShare, Mounts, Told, Values
from lab.platforms.network import CONNECT

PROTOCOLS = {"smbfs": "smb", "afpfs": "afp", "nfs": "nfs"}
PORTS = {"smb": 445, "afp": 548, "nfs": 2049}
URL = re.compile(r"//(?:(?P<login>[^@/]*)@)?\[?(?P<server>[^/@]*?)\]?(?::[0-9]+)?/(?P<share>.*)")
EXPORT = re.compile(r"(?P<login>)\[?(?P<server>[^/]*?)\]?:(?P<share>/.*)")


class MacMounts(Mounts):
    """What is mounted on a Mac."""

    def table(self) -> tuple[MountedShare, ...]:
        """``mount`` asks no server (getfsstat with MNT_NOWAIT)."""
        return self.read(parse_table, "mount")

    def negotiated(self, mounted: MountedShare) -> Values:
        """No command tells about AFP."""
        asked: Values = {}
        if mounted.protocol == "smb":
            asked = {
                **reports.parse_statshares(self._printed("smbutil", "statshares", "-m", mounted.path)),
                **reports.parse_multichannel(self._printed("smbutil", "multichannel", "-m", mounted.path)),
            }
        elif mounted.protocol == "nfs":
            asked = reports.read_parameters(reports.parse_nfsstat(self._printed("nfsstat", "-m", mounted.path)))
        return {"mount": "kernel", **asked, "mount_options": mounted.option_text}

    def kept_out(self, share: str, output: str = "") -> Told | None:
        starter = macos_privacy.starter_of(self.host)
        if not output:
            message = f"nothing came of {share}, though its server answers: macOS may keep {starter.name} out of it"
            return message, starter.remedy
        refused = macos_privacy.NOT_PERMITTED.search(output)
        return (f"macOS keeps {starter.name} out of {share}", starter.remedy) if refused else None

    def silent(self, mounted: MountedShare) -> Told:
        """If the server takes connections, macOS's privacy is the likely cause; else it may be."""
        port = PORTS.get(mounted.protocol, 0)
        answers = self.host.run(*run_perl(CONNECT, mounted.server, str(port))).stdout.strip() == "yes"
        if answers and (told := self.kept_out(mounted.label)):
            return told
        message, remedy = super().silent(mounted)
        starter = macos_privacy.starter_of(self.host)
        if starter.is_let_through:
            return message, remedy
        return f"{message}, or macOS keeps {starter.name} out of it", starter.remedy

    def is_case_sensitive(self, mounted: MountedShare) -> bool:
        """False if diskutil does not know the volume."""
        text = self._printed("diskutil", "info", "-plist", mounted.path)
        return bool(text) and parse_case_sensitive(text)

    def _printed(self, *argv: str) -> str:
        """What a command printed; empty if this macOS lacks the command."""
        result = self.host.run(*argv, check=False)
        return result.stdout if result.exit_code == 0 else ""


def parse_case_sensitive(text: str) -> bool:
    """Whether a volume is case-sensitive, of ``diskutil info -plist``. Raises ValueError for what is no such output."""
    content = parse_plist(text)
    if not isinstance(content, dict):
        raise ValueError("a property list without keys")
    return str(content.get("FilesystemName", "")).startswith("Case-sensitive")


def parse_table(text: str) -> tuple[MountedShare, ...]:
    """Every row of what ``mount`` prints. Raises ValueError if there is none."""
    lines = reports.parse_mount_lines(text)
    rows = tuple(_row(source, point, kind, dict.fromkeys(flags, "")) for source, point, kind, flags in lines)
    if not rows:
        raise ValueError("no mounts")
    return rows


def _row(source: str, point: str, kind: str, options: dict[str, str]) -> MountedShare:
    protocol = PROTOCOLS.get(kind, "")
    match = (EXPORT if protocol == "nfs" else URL).fullmatch(source) if protocol else None
    if not match:
        return MountedShare(point, kind, protocol, options=options)
    account = unquote(re.split(";AUTH=|:", match["login"] or "", maxsplit=1)[0])
    share = match["share"] if protocol == "nfs" else unquote(match["share"])
    return MountedShare(point, kind, protocol, unquote(match["server"]), share, account, options)
