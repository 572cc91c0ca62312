"""mount_smbfs(8): usage, order of checks, messages and exit codes as in mount_smbfs.c of smb-552 to SMBClient-494."""

import errno
import getopt
import os
import sys
from pathlib import Path
from urllib.parse import unquote

from .. import mac_errors, mount_options, nsmb_conf, profiles, smb_aapl, smb_negotiate, smb_url
from ..kernel_client import call
from ..mount_options import Refused
from ..password_prompt import ask
from ..records import SmbFacts, SmbSession
from ..smb_negotiate import MAC_SERVER, MULTICHANNEL

EX_USAGE, EX_DATAERR, EX_NOHOST, EX_OSERR, EX_NOPERM = 64, 65, 68, 71, 77
CONNECT_DEADLINE_S = 15.0
SMB1: SmbSession = {
    "dialect": "SMB_1", "required": False, "signed": False, "capabilities": 0, "signing": 0, "cipher": 0,
}  # fmt: skip
NOT_FOUND = -1073741275  # NTSTATUS 0xC0000225
# The synopsis of its manual page: what 13 and later print is not known
USAGE = """\
usage: mount_smbfs [-N] [-o options] [-d mode] [-f mode] [-h] [-s] [-t gmt]
                   //[domain;][user[:password]@]server[/share] path
"""
OLD_USAGE = """\
usage: mount_smbfs [-Nh] [-d mode] [-f mode]
                   //[domain;][user[:password]@]server[/share] path
"""


def own_options(number: tuple[int, ...]) -> dict[str, bool]:
    """The words of -o that only mount_smbfs has, and whether each takes a value (mount_smbfs(8) of each version)."""
    names = ["streams", "nostreams", "notification", "nonotification", "soft"]
    if number >= (11,):
        names += ["nodatacache", "nomdatacache", "datacache", "mdatacache"]
    if number >= (12,):
        names += ["sessionencrypt", "shareencrypt"]
    if number >= (13,):
        names += ["forcenewsession", "snapshot", "passprompt"]
    return {name: name == "snapshot" for name in names}


def main(argv: list[str]) -> int:
    """Mount a share of SMB."""
    try:
        _mount(argv, profiles.current().number)
    except Refused as refused:
        mount_options.warn("mount_smbfs", str(refused))
        return refused.code
    except _Usage:
        number = profiles.current().number
        print(OLD_USAGE if number < (13,) else USAGE, end="", file=sys.stderr)
        return EX_USAGE
    return 0


class _Usage(Exception):
    pass


def _mount(argv: list[str], number: tuple[int, ...]) -> None:
    letters = "Nvhd:f:o:" + ("s" if number >= (11,) else "") + ("t:" if number >= (13,) else "")
    try:
        options, rest = getopt.getopt(argv, letters)
    except getopt.GetoptError as error:
        problem = "option requires an argument" if "requires argument" in error.msg else "illegal option"
        mount_options.warn("mount_smbfs", f"{problem} -- {error.opt}")
        raise _Usage from error
    chosen = dict(options)
    if "-h" in chosen or len(rest) != 2:
        raise _Usage
    for letter, name in (("-d", "directory"), ("-f", "file")):
        if letter in chosen and not _is_octal(chosen[letter]):
            raise Refused(f"invalid value for {name} mode", EX_DATAERR)
    words = ",".join(value for name, value in options if name == "-o")
    standard, own = mount_options.parse(words, own_options(number))
    target = _mount_point(rest[1])
    try:
        url = smb_url.parse(rest[0])
    except ValueError as error:
        invalid = mac_errors.text(errno.EINVAL)
        raise Refused(f"URL parsing failed, please correct the URL and try again: {invalid}", EX_USAGE) from error
    _attach(rest[0], url, target, standard, own, "-N" in chosen, "-s" in chosen, number)


def _is_octal(text: str) -> bool:
    return bool(text) and set(text) <= set("01234567")


def _mount_point(text: str) -> str:
    """The folder, %-decoded and without links, as unpercent() and realpath(3) leave it."""
    path = Path(unquote(text)).resolve()
    if not path.exists():
        raise Refused(f"could not find mount point {path}: {mac_errors.text(errno.ENOENT)}", EX_OSERR)
    if not path.is_dir():
        raise Refused(f"can't mount on {path}: {mac_errors.text(errno.ENOTDIR)}", EX_OSERR)
    return str(path)


def _attach(
    text: str,
    url: smb_url.Url,
    target: str,
    standard: dict[str, bool],
    own: dict[str, str],
    silent: bool,
    new_session: bool,
    number: tuple[int, ...],
) -> None:
    preferences = nsmb_conf.Preferences(url.server)
    offered = nsmb_conf.dialects(number, preferences.versions(number))
    session = _negotiate(url, offered, preferences, number)
    password = _password(url, silent)
    if call("fault", name="smb-file-exists"):
        # seen on macOS 14 and 15: the URL, password and all, stands where the mount point should
        raise Refused(f"mount error: {text}: File exists", EX_USAGE)
    if call("fault", name="smb-ntstatus"):
        raise Refused(f"mount error: {target}: unknown error: {NOT_FOUND}", EX_USAGE)
    full_sync = session.get("full_sync", False) or _answers_full_sync(url, password, bool(offered))
    facts: SmbFacts = {
        **session, "full_sync": full_sync, "share": url.share, "server": url.server, "user_id": os.getuid(),
        "options": sorted(own),
    }  # fmt: skip
    try:
        call(
            "mount_share",
            source=url.source,
            target=target,
            kind="smbfs",
            flags=mount_options.flags(standard, os.getuid()),
            uri=url.uri(),
            password=password,
            smb_conf=nsmb_conf.samba_conf(offered, signed=facts["signed"]),
            facts=facts,
            again=new_session or "forcenewsession" in own,
        )
    except OSError as error:
        raise _refusal(error, target) from error


def _password(url: smb_url.Url, silent: bool) -> str:
    """The password from the URL, else the typed one."""
    if url.password is not None:
        return url.password
    return "" if silent else ask(f"Password for {url.server}: ") or ""


def _negotiate(
    url: smb_url.Url, offered: list[str], preferences: nsmb_conf.Preferences, number: tuple[int, ...]
) -> SmbSession:
    """Negotiate with the server; exit 68 if that fails, as for STATUS_CONNECTION_REFUSED. No source has the message of
    a client with only SMB 1 to a server without SMB 1.
    """
    try:
        if call("fault", name="smb-unreachable"):
            raise OSError(errno.EHOSTUNREACH, url.server)
        if not offered:
            smb_negotiate.negotiate_smb1(url.server, CONNECT_DEADLINE_S)
            return SMB1
        agreed = smb_negotiate.negotiate(url.server, offered, CONNECT_DEADLINE_S)
    except OSError as error:
        raise Refused(f"server connection failed: {mac_errors.text(mac_errors.of(error))}", EX_NOHOST) from error
    client_requires = preferences.is_on("signing_required")
    return {
        "dialect": agreed.dialect,
        "capabilities": agreed.capabilities,
        "signing": agreed.signing,
        "cipher": agreed.cipher,
        "required": agreed.signing_required,
        "client_requires": client_requires,
        "signed": client_requires or agreed.signing_required,
        "full_sync": agreed.server == MAC_SERVER,
        "multichannel": preferences.wants_multichannel(number) and bool(agreed.capabilities & MULTICHANNEL),
    }


def _answers_full_sync(url: smb_url.Url, password: str, knows_smb2: bool) -> bool:
    """Whether the server announces full sync in its AAPL context. If the login fails, the mount reports why."""
    try:
        arguments = (url.server, url.share, url.user, password, CONNECT_DEADLINE_S)
        return knows_smb2 and smb_aapl.takes_part_in_full_sync(*arguments)
    except OSError:
        return False


def _refusal(error: OSError, target: str) -> Refused:
    code = error.errno or errno.EIO
    if code == errno.EKEYREJECTED:
        return Refused(f"server rejected the connection: {mac_errors.text(code)}", EX_NOPERM)
    if code == errno.ECONNREFUSED:
        return Refused(f"server connection failed: {mac_errors.text(code)}", EX_NOHOST)
    return Refused(f"mount error: {target}: {mac_errors.text(code)}", EX_USAGE)
