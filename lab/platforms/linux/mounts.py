"""Mounts of a Linux host, from /proc/self/mounts (proc(5)), GVfs and the kernel's report about SMB."""

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

from lab.base.addresses import without_brackets
from lab.hosts.mounts import from_table, parse_encrypted, parse_mount_options, parse_signed
from lab.platforms.mounts import MountedShare, Mounts, Values

TABLE = "/proc/self/mounts"
DEBUG_DATA = "/proc/fs/cifs/DebugData"  # all may read it
PROTOCOLS = {
    "cifs": "smb", "smb3": "smb", "smbfs": "smb", "nfs": "nfs", "nfs4": "nfs", "fuse.sshfs": "ssh", "fuse.afpfs": "afp",
}  # fmt: skip
# How a source names account, server and share. fuse.afpfs: start_fuse_thread of netatalk-client
SOURCES = {
    "smb": re.compile(r"(?P<account>)[/\\]{2}(?P<server>[^/\\]+)[/\\](?P<share>.*)", re.DOTALL),
    "nfs": re.compile(r"(?P<account>)\[?(?P<server>[^/]*?)\]?:(?P<share>/.*)", re.DOTALL),
    "ssh": re.compile(r"(?:(?P<account>[^@/]*)@)?\[?(?P<server>[^/]*?)\]?:(?P<share>.*)", re.DOTALL),
    "afp": re.compile(r"(?:(?P<account>[^@]*)@)?(?P<server>[^:]*):(?P<share>.*)", re.DOTALL),
}
GVFS = "fuse.gvfsd-fuse"
# First word of a folder of GVfs: protocol, and its names of server and share (g_mount_spec_to_string)
GVFS_NAMES = {
    "smb-share": ("smb", "server", "share"), "afp-volume": ("afp", "host", "volume"), "nfs": ("nfs", "host", "prefix"),
    "sftp": ("ssh", "host", "prefix"),
}  # fmt: skip
DIALECT_PREFIXES = {"smb": "SMB ", "nfs": "NFSv"}
MOUNTED_BY = {GVFS: "gvfs", "fuse.sshfs": "sshfs", "fuse.afpfs": "mount_afpfs"}


class LinuxMounts(Mounts):
    """What is mounted on a Linux host."""

    def table(self) -> tuple[MountedShare, ...]:
        return self.read(parse_mount_table, "cat", TABLE)

    def share_at(self, path: str) -> MountedShare:
        """All shares of GVfs are one row; its folders say which."""
        mounted = super().share_at(path)
        return find_in_gvfs(mounted, path) if mounted.kind == GVFS else mounted

    def negotiated(self, mounted: MountedShare) -> Values:
        if mounted.kind in MOUNTED_BY:
            return {"mount": MOUNTED_BY[mounted.kind]}
        limits = parse_mount_options(mounted.option_text, DIALECT_PREFIXES.get(mounted.protocol, ""))
        protection = self._protection(mounted) if mounted.protocol == "smb" else {}
        return {"mount": "kernel", **limits, **protection, "mount_options": mounted.option_text}

    def _protection(self, mounted: MountedShare) -> Mapping[str, str]:
        """Signing and encryption by the kernel's DebugData, or by the options where these name it."""
        text = self.host.run("cat", DEBUG_DATA, check=False).stdout
        path = rf"\\{mounted.server}\{mounted.share}".replace("/", "\\")
        words = {"true": "on", "false": "off"}
        signing, encryption = words.get(parse_signed(text, path)), words.get(parse_encrypted(text, path))
        # sec=ntlmsspi and the like are signed (cifs_show_security)
        signing = signing or ("on" if re.fullmatch("(ntlm|krb5).*i", mounted.options.get("sec", "")) else None)
        encryption = encryption or ("on" if "seal" in mounted.options else None)
        channels = "on" if "multichannel" in mounted.options else "off"
        values = {"signing": signing, "encryption": encryption, "multichannel": channels}
        return {name: value for name, value in values.items() if value}


def parse_mount_table(text: str) -> tuple[MountedShare, ...]:
    """Every row of /proc/self/mounts. Raises ValueError for what is no such table."""
    rows = tuple(_row(line.split(" ")) for line in text.split("\n") if line)
    if not rows:
        raise ValueError("no mounts")
    return rows


def _row(fields: list[str]) -> MountedShare:
    if len(fields) < 4 or not fields[1].startswith("/"):
        raise ValueError("a line that is no mount")
    source, path, kind = map(from_table, fields[:3])
    parted = (option.partition("=") for option in fields[3].split(","))
    row = MountedShare(path, kind, options={from_table(name): from_table(value) for name, _, value in parted})
    protocol = PROTOCOLS.get(kind, "")
    match = SOURCES[protocol].fullmatch(source) if protocol else None
    if not match:
        return replace(row, protocol=protocol)
    account = match["account"] or _login(row.options.get("domain"), row.options.get("username"))
    share = match["share"].replace("\\", "/") if protocol == "smb" else match["share"]
    return replace(row, protocol=protocol, server=match["server"], share=share, account=account)


def find_in_gvfs(fuse: MountedShare, path: str) -> MountedShare:
    """The share of GVfs that a folder lies on; the row of all of them for one that lies on none."""
    spec = path.removeprefix(fuse.path).strip("/").partition("/")[0]
    word, _, pairs = spec.partition(":")
    protocol, server, share = GVFS_NAMES.get(word, ("", "", ""))
    values = {name: unquote(value) for name, _, value in (pair.partition("=") for pair in pairs.split(","))}
    if not spec or not values.get(server):
        return fuse
    account = _login(values.get("domain"), values.get("user"))
    name, host = values.get(share, ""), without_brackets(values[server])
    return MountedShare(f"{fuse.path}/{spec}", fuse.kind, protocol, host, name, account, fuse.options)


def _login(domain: str | None, user: str | None) -> str:
    return ";".join(filter(None, [domain if user else None, user]))
