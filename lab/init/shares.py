"""The shares that a server shows to everybody, by smbclient, smbutil and showmount."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from lab.base.untrusted import MOST_INPUT_BYTES
from lab.hosts.fields import absolute, share_name

DEADLINE_S = 8.0
MOST_SHARES = 100
SYSTEM_FOLDERS = "/usr/sbin:/sbin:/usr/bin:/bin"  # showmount is in /usr/sbin, which some PATHs lack
ROW_OF_SMBUTIL = re.compile(rb"(.{48,}?)Disk(?: .*)?")  # print_header() in view.c of Apple's SMBClient


@dataclass(frozen=True)
class Share:
    """A share: its name for SMB and AFP, its path for NFS."""

    protocol: str
    name: str


def list_shares(address: str, services: frozenset[str]) -> list[Share]:
    """The shares that a server with these services shows; none if the program for it is missing."""
    shares: dict[Share, None] = {}
    if "SMB" in services:
        # smbutil asks as the account that the keychain has for this server, then as a guest
        views = (("smbutil", "view", "-N", f"//{address}"), ("smbutil", "view", "-N", "-G", f"//{address}"))
        for command, parse in ((("smbclient", "-N", "-g", "-L", f"//{address}"), parse_smbclient),
                               *((view, parse_smbutil) for view in views)):  # fmt: skip
            shares |= dict.fromkeys(_ask(command, parse) if not shares else ())
    if "NFS" in services:
        shares |= dict.fromkeys(_ask(("showmount", "-e", address), parse_showmount))
    return list(shares)[:MOST_SHARES]


def _ask(command: tuple[str, ...], parse: Callable[[str], list[Share]]) -> list[Share]:
    path = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:{SYSTEM_FOLDERS}")
    if path is None:
        return []
    try:
        done = subprocess.run(  # noqa: S603 – a program of this machine's, without a shell; the address is an address
            [path, *command[1:]], stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE_S, check=False,
            env=os.environ | {"LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    return parse(done.stdout[:MOST_INPUT_BYTES].decode(errors="replace"))


def parse_smbclient(text: str) -> list[Share]:
    """Parse ``smbclient -g -L``: lines of ``Disk|NAME|COMMENT``. Only the comment may contain a |."""
    rows = (line.split("|", 2) for line in text.splitlines())
    return list(_smb_shares(row[1] for row in rows if row[0] == "Disk" and len(row) == 3))


def parse_smbutil(text: str) -> list[Share]:
    """Parse ``smbutil view``: the name, padded to 48 bytes, the type and a comment."""
    rows = (ROW_OF_SMBUTIL.fullmatch(line.encode(errors="replace")) for line in text.splitlines())
    return list(_smb_shares(row[1].decode(errors="replace").rstrip() for row in rows if row))


def _smb_shares(names: Iterator[str]) -> Iterator[Share]:
    """The shares with a valid name. A $ at the end hides a share, such as print$."""
    for name in names:
        with suppress(ValueError):
            if not name.endswith("$"):
                yield Share("smb", share_name(name))


def parse_showmount(text: str) -> list[Share]:
    """Parse ``showmount -e``: a header, then lines of a padded path and the clients that may mount it."""
    shares = []
    for line in text.splitlines():
        # a path may contain spaces, and a Mac puts spaces between the names of clients
        row = re.fullmatch(r"(/.*?)(?: {2,}|\t)\s*\S.*", line) or re.fullmatch(r"(/.*) \S+", line)
        with suppress(ValueError):
            shares += [Share("nfs", absolute(row[1].rstrip()))] if row else []
    return shares
