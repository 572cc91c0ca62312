"""The target of `lab measure`, as people write it: a folder, the URL of a share, or the name of a host for ssh."""

import ipaddress
import os.path
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote, unquote

from lab.base.addresses import for_url
from lab.base.errors import BadInput
from lab.base.untrusted import one_line, printable
from lab.hosts.fields import absolute, check_zone, host_name, parse_port, share_name, user_name

SCHEMES = {"smb": "smb", "cifs": "smb", "nfs": "nfs", "afp": "afp"}
WRITE = {"smb": "smb://SERVER/SHARE", "nfs": "nfs://SERVER/EXPORT/PATH", "afp": "afp://SERVER/SHARE"}
REMEDY = f"give a folder such as /Volumes/media, a share ({', '.join(WRITE.values())}), or a host of your ssh config"
LONGEST = 1000  # characters of a target
LOOKS_LIKE_A_PATH = re.compile(r"(/|\./|\.\./|~).*|\.|\.\.")


@dataclass(frozen=True)
class Folder:
    """A folder of a mounted share on this machine: an absolute path whose links are not followed."""

    path: str

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Url:
    """A share that the lab mounts and unmounts, by its protocol: ``smb``, ``nfs`` or ``afp``.

    ``server`` is a name or an address (IPv6 without brackets); ``share`` is the share's name, for NFS the exported
    path; ``folder`` is a folder in it, or empty. ``user`` may be empty, or begin with a domain and a semicolon.
    ``port`` is None for the protocol's port.
    """

    protocol: str
    server: str
    share: str
    folder: str = ""
    user: str = ""
    port: int | None = None

    def __str__(self) -> str:
        """The URL, as :func:`parse_target` takes it."""
        login = f"{quote(self.user, safe=';')}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        path = "/".join(filter(None, [self.share.removeprefix("/"), self.folder]))
        return f"{self.protocol}://{login}{for_url(self.server)}{port}/{quote(path)}"


@dataclass(frozen=True)
class SshName:
    """A host by a name that ssh knows; ``user`` may be empty."""

    host: str
    user: str = ""

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" if self.user else self.host


Target: TypeAlias = Folder | Url | SshName


def parse_target(text: str) -> Target:
    """Parse a target. Raises BadInput without repeating a password of the text."""
    text = text.strip() if "://" in text else text  # as it was copied
    if not text.strip():
        raise BadInput("TARGET is empty", REMEDY)
    if printable(text) != text or re.search(r"[\n\t]", text) or len(text) > LONGEST:
        message = "TARGET has a line break or another character that cannot be seen, or more than a thousand characters"
        raise BadInput(message, "measure the folder above it, or give it another name")
    scheme, separator, rest = text.partition("://")
    if separator and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return _parse_url(scheme.lower(), rest)
    if text.startswith("\\"):
        return _parse_unc(text)
    if text.startswith("//"):
        return _parse_url("smb", text.removeprefix("//"))
    if LOOKS_LIKE_A_PATH.fullmatch(text) or _is_folder(text):
        # pathlib follows links, which may lead to a server that is dead, and refuses ~nobody
        return Folder(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111
    server, separator, path = text.partition(":/")
    if separator and server.lower() in SCHEMES:
        remedy = f"write {WRITE[SCHEMES[server.lower()]]}"
        raise BadInput(f"TARGET begins with {server}:/, and a share begins with {server}://", remedy)
    if separator:
        return _export(_parse_server(server)[0], None, path)
    return _parse_ssh_name(text)


def _is_folder(text: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(text).is_dir()
    return False


def _parse_unc(text: str) -> Url:
    r"""A share as Windows writes it: ``\\server\share``; a shell removes one of the first two, or all."""
    if not text.startswith("\\\\"):
        message = r"TARGET begins with one \, as a shell leaves it of \\SERVER\SHARE"
        raise BadInput(message, "put it in quotes, or write //SERVER/SHARE")
    return _parse_url("smb", text.replace("\\", "/").removeprefix("//"))


def _parse_url(scheme: str, rest: str) -> Url:
    if scheme not in SCHEMES:
        remedy = f"known are {', '.join(SCHEMES)}; a host to log in to is given by its name alone"
        raise BadInput(f"TARGET begins with {one_line(scheme, 20)}://, which is no share that the lab knows", remedy)
    protocol = SCHEMES[scheme]
    authority, _, path = rest.partition("/")
    login, _, address = authority.rpartition("@")
    user = _parse_login(login)
    server, port = _parse_server(address)
    names = _decode(path, "path")
    if protocol == "nfs":
        if user:
            raise BadInput("TARGET names an account, and NFS has none", f"write {WRITE['nfs']}")
        return _export(server, port, names)
    share, _, folder = names.lstrip("/").partition("/")
    if not share:
        raise BadInput("TARGET names a server, and no share of it", f"write {WRITE[protocol]}")
    _check(share_name, share)
    return Url(protocol, server, share, _tidy(folder), user, port)


def _parse_login(login: str) -> str:
    """The account before the @ of a URL, without ``;AUTH=`` of AFP and without an empty password."""
    account, _, password = login.partition(":")
    if password:
        remedy = "leave it out, and the lab asks for it; and change it, because your shell's history has it now"
        raise BadInput("TARGET has a password in it: all users of a machine see what its commands are told", remedy)
    user = _decode(re.split(";AUTH=", account, maxsplit=1, flags=re.IGNORECASE)[0], "account")
    if user and not re.fullmatch(r"(?!-)[^:/@]{1,255}", user):
        raise BadInput("TARGET has an account with a : or / or @ in it, or a - at its beginning", REMEDY)
    return user


def _parse_server(address: str) -> tuple[str, int | None]:
    """Name or address of a server, without brackets, and the port, if there is one."""
    match = re.fullmatch(r"\[([^\[\]]*)\](?::(.*))?|([^:]*)(?::([^:]*))?", address)
    if not match:
        remedy = "put an IPv6 address in brackets: smb://[fe80::1]/SHARE"
        raise BadInput("TARGET has a server with a colon in it", remedy)
    in_brackets, name, port = match[1], match[3], match[2] or match[4]
    name = _decode(name if in_brackets is None else in_brackets, "server")
    _check(_server_name if in_brackets is None else _ipv6, name)
    try:
        return name, parse_port(port) if port else None
    except ValueError:  # the message must not repeat the text, which may be a part of a password
        raise BadInput("TARGET has something after the colon that is not a port from 1 to 65535", REMEDY) from None


def _export(server: str, port: int | None, path: str) -> Url:
    """A share of NFS. Its whole path is the share, because the exported folder itself is mounted."""
    if not (path := _tidy(path)):
        raise BadInput("TARGET names a server, and no export of it", f"write {WRITE['nfs']}")
    return Url("nfs", server, f"/{path}", port=port)


def _parse_ssh_name(text: str) -> SshName:
    if sign := re.search(r"[/\\]", text):
        raise BadInput(f"TARGET has a {sign[0]} in it, and there is no such folder here", "a share is //SERVER/SHARE")
    login, _, host = text.rpartition("@")
    user = _parse_login(login)
    _check(_ipv6 if ":" in host else host_name, host)
    if user:
        _check(user_name, user)
    return SshName(host, user)


def _check(reader: Callable[[str], str], text: str) -> None:
    """Raise BadInput for a text that ``reader``, for a key of a hosts file, refuses."""
    try:
        reader(text)
    except ValueError as error:
        raise BadInput(f"TARGET: {one_line(text, 80)!r} {error}", REMEDY) from error


def _server_name(text: str) -> str:
    if not re.fullmatch(r"(?!-)[\w.-]{1,255}", text):
        raise ValueError("is not the name or address of a server")
    return text


def _ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise ValueError("is not the name of a host, and not an IPv6 address") from None
    check_zone(address)
    return str(address)


def _decode(text: str, what: str) -> str:
    """A part of a URL without percent-encoding. Raises BadInput if the result is no text."""
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        decoded = "\0"
    if printable(decoded) != decoded or re.search(r"[\n\t]", decoded):
        message = f"TARGET: the {what} has a % with two digits that stand for no text, or for a line break"
        raise BadInput(message, "write a % itself as %25")
    return decoded


def _tidy(path: str) -> str:
    """A path below a share, without needless slashes."""
    tidy = "/".join(filter(None, path.split("/")))
    if tidy:
        _check(absolute, f"/{tidy}")
    return tidy
