"""nsmb.conf(5): /etc/nsmb.conf goes before the file below $HOME (rcfile.c), a server's section before [default]."""

import configparser
import os
from pathlib import Path

from .smb_negotiate import DIALECTS

GLOBAL = Path("/etc/nsmb.conf")
PERSONAL = "Library/Preferences/nsmb.conf"
SMB1, SMB2, SMB3 = 1, 2, 4  # bits of protocol_vers_map
# The name of each dialect in Samba, whose client does the real mount
SAMBA = {
    "SMB_2.002": "SMB2_02", "SMB_2.1": "SMB2_10", "SMB_3.0": "SMB3_00", "SMB_3.0.2": "SMB3_02", "SMB_3.1.1": "SMB3_11",
}  # fmt: skip
SAMBA_CONF = """\
[global]
client min protocol = {oldest}
client max protocol = {newest}
client signing = {signing}
"""
WORDS = {"normal": SMB1 | SMB2 | SMB3, "smb1_only": SMB1, "smb2_only": SMB2 | SMB3}  # of smb_neg, 10.9 and 10.10


class Preferences:
    """The preferences for one server. A file that cannot be read counts as empty."""

    def __init__(self, server: str):
        self._values: dict[str, str] = {}
        home = os.environ.get("HOME")
        for path in (*([Path(home) / PERSONAL] if home else []), GLOBAL):
            self._values |= _section(path, server)

    def is_on(self, key: str, default: str = "no") -> bool:
        """Whether a boolean key is on."""
        return self._values.get(key, default).lower() in ("yes", "true", "1", "on")

    def wants_multichannel(self, number: tuple[int, ...]) -> bool:
        """Whether a session may have several channels: from 11.3 on, unless mc_on says no (SMBClient-231.100.34)."""
        return number >= (11, 3) and self.is_on("mc_on", default="yes")

    def versions(self, number: tuple[int, ...]) -> int:
        """Bits of the allowed dialects: 10.6 has only SMB1, and 10.9 and 10.10 use the key smb_neg."""
        if number < (10, 9):
            return SMB1
        if number < (10, 11):
            return WORDS.get(self._values.get("smb_neg", "normal"), WORDS["normal"])
        value = self._values.get("protocol_vers_map", "7")
        return int(value, 0) if value.removeprefix("0x").isalnum() else SMB1 | SMB2 | SMB3


def _section(path: Path, server: str) -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None, default_section="", comment_prefixes=("#", ";"))
    try:
        parser.read(path)
    except (configparser.Error, OSError, UnicodeError):
        return {}
    values: dict[str, str] = {}
    for name in ("default", server):
        for section in parser.sections():
            if section.lower() == name.lower():
                values |= dict(parser.items(section))
    return values


def dialects(number: tuple[int, ...], versions: int) -> list[str]:
    """What a version's client offers: SMB 2.1 in 10.9, 3.0 in 10.10, 3.0.2 in 10.13, 3.1.1 from 11 on."""
    newest = "SMB_2.1" if number < (10, 10) else "SMB_3.0.2" if number < (11,) else "SMB_3.1.1"
    names = [name for name, value in DIALECTS.items() if value <= DIALECTS[newest]]
    return [name for name in names if versions & (SMB2 if name.startswith("SMB_2") else SMB3)]


def samba_conf(offered: list[str], *, signed: bool) -> str:
    """Options that let Samba's client offer the same dialects; none means SMB1."""
    oldest, newest = (SAMBA[offered[0]], SAMBA[offered[-1]]) if offered else ("NT1", "NT1")
    return SAMBA_CONF.format(oldest=oldest, newest=newest, signing="required" if signed else "default")
