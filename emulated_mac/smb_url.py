"""``//[domain;][user[:password]@]server[:port][/share]`` as Apple's SMB programs read it."""

import os
import pwd
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote


@dataclass(frozen=True)
class Url:
    """The decoded parts of a URL; ``password`` may be None."""

    domain: str
    user: str
    password: str | None
    server: str
    share: str

    @property
    def source(self) -> str:
        """The source in the mount table: encoded, and without the password."""
        domain = f"{_encode(self.domain)};" if self.domain else ""
        return f"//{domain}{_encode(self.user)}@{self.server}/{_encode(self.share)}"

    def uri(self) -> str:
        """The URI for GVfs, always with a domain because GVfs would ask for one."""
        return f"smb://{_encode(self.domain or 'WORKGROUP')};{_encode(self.user)}@{self.server}/{_encode(self.share)}"


def parse(text: str) -> Url:
    """Parse a URL; the default user is the current one. Raises ValueError."""
    match = re.fullmatch(r"(?:smb:)?//(?:(.*)@)?([^/@:]+)(?::445)?(?:/(.*))?", text)
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
        unquote(server),
        unquote(share),
    )


def _encode(text: str) -> str:
    return quote(text, safe="")
