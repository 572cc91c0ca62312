"""``//[domain;][user[:password]@]server[:port][/share]`` as Apple's SMB programs read it."""

import os
import pwd
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from .interfaces import without_brackets

SERVER = r"([^/@:\[\]]+|\[[0-9A-Fa-f:.]+(?:%25\w+)?\])"  # a name, or an address of either family


@dataclass(frozen=True)
class Url:
    """The decoded parts of a URL; ``password`` may be None, and an IPv6 address has no brackets."""

    domain: str
    user: str
    password: str | None
    server: str
    share: str

    @property
    def source(self) -> str:
        """The source in the mount table: encoded, and without the password."""
        domain = f"{_encode(self.domain)};" if self.domain else ""
        server = f"[{self.server}]" if ":" in self.server else self.server
        return f"//{domain}{_encode(self.user)}@{server}/{_encode(self.share)}"

    def uri(self) -> str:
        """The URI for GVfs, always with a domain because GVfs would ask for one."""
        login = f"{_encode(self.domain or 'WORKGROUP')};{_encode(self.user)}"
        return f"smb://{login}@{gvfs_host(self.server)}/{_encode(self.share)}"


def parse(text: str) -> Url:
    """Parse a URL; the default user is the current one. Raises ValueError."""
    match = re.fullmatch(rf"(?:smb:)?//(?:(.*)@)?{SERVER}(?::445)?(?:/(.*))?", text)
    if not match:
        raise ValueError(text)
    account, server, share = match[1] or "", match[2], (match[3] or "").rstrip("/")
    domain, semicolon, rest = account.partition(";")
    user, colon, password = (rest if semicolon else account).partition(":")
    if "/" in user:
        raise ValueError(text)
    return Url(
        unquote(domain) if semicolon else "",
        unquote(user) or pwd.getpwuid(os.getuid()).pw_name,
        unquote(password) if colon else None,
        unquote(without_brackets(server)),
        unquote(share),
    )


def gvfs_host(server: str) -> str:
    """A server as GVfs takes it, whose AFP knows no brackets around an IPv6 address."""
    return quote(server, safe="")


def _encode(text: str) -> str:
    return quote(text, safe="")
