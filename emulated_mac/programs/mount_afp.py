"""mount_afp(8), from 10.6 to 26; macOS 27 has none. Only a part of its messages is documented: AFPMountURL and the
error.
"""

import errno
import getopt
import os
import re
import socket
import sys
from pathlib import Path
from urllib.parse import quote, unquote

from .. import mac_errors, mount_options, profiles, smb_url
from ..interfaces import without_brackets
from ..kernel_client import call
from ..mount_options import Refused
from ..password_prompt import ask

USAGE = """\
usage: mount_afp [-i] [-o mount_options] afp_url node
"""
EX_USAGE = 64
PORT, CONNECT_DEADLINE_S = 548, 60.0
# Apple Filing Protocol Reference, result codes
AFP_USER_NOT_AUTH, AFP_OBJECT_NOT_FOUND = -5023, -5018


def main(argv: list[str]) -> int:
    """Mount a share of AFP."""
    number = profiles.current().number
    try:
        options, words = getopt.getopt(argv, "iskho:" if number >= (10, 9) else "io:")
    except getopt.GetoptError as error:
        print(f"mount_afp: illegal option -- {error.opt}", file=sys.stderr)
        words = []
    if len(words) != 2:
        print(USAGE, end="", file=sys.stderr)
        return EX_USAGE
    try:
        _mount(words[0], words[1], dict(options))
    except Refused as refused:
        mount_options.warn("mount_afp", str(refused))
        return refused.code
    if number < (10, 13):
        # OS X 10.8 and 10.9 print this also if all went well
        mount_options.warn("mount_afp", "the mount flags are 0000 the altflags are 0020")
    return 0


def _mount(url: str, node: str, options: dict[str, str]) -> None:
    standard, _ = mount_options.parse(options.get("-o", ""), {})
    match = re.fullmatch(rf"afp://(?:(.*)@)?{smb_url.SERVER}(?::548)?/([^/]+)/?", url)
    if not match:
        raise Refused(
            f"AFPMountURL returned error {mac_errors.number(errno.EINVAL)}, errno is {errno.EINVAL}", errno.EINVAL
        )
    account, server, share = match[1] or "", match[2], unquote(match[3])
    who, _, password = account.partition(":")
    user = unquote(who.partition(";")[0])
    target = Path(node).resolve()
    if not target.is_dir():
        raise _refusal(errno.ENOENT)
    address = unquote(without_brackets(server))
    _check_connection(address)
    if "-i" in options and not password:
        user = user or ask("User: ") or ""
        password = quote(ask("Password: ") or "", safe="")
    try:
        call(
            "mount_share",
            source=f"//{quote(user, safe='')}@{server}/{quote(share, safe='')}",
            target=str(target),
            kind="afpfs",
            flags=mount_options.flags(standard, os.getuid()),
            uri=f"afp://{quote(user, safe='')}@{smb_url.gvfs_host(address)}/{quote(share, safe='')}",
            password=unquote(password),
        )
    except OSError as error:
        raise _refusal(error.errno or errno.EIO) from error


def _check_connection(server: str) -> None:
    try:
        socket.create_connection((server, PORT), CONNECT_DEADLINE_S).close()
    except OSError as error:
        raise _refusal(mac_errors.of(error)) from error


def _refusal(code: int) -> Refused:
    afp = {errno.EKEYREJECTED: AFP_USER_NOT_AUTH, errno.EIO: AFP_OBJECT_NOT_FOUND}.get(code, mac_errors.number(code))
    return Refused(f"AFPMountURL returned error {afp}, errno is {afp}", afp % 256)
