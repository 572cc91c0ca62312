"""mount_nfs(8): options, messages and exit codes (errnos) as in mount_nfs.c of NFS-63 to NFS-339. Like the original, it
ignores unknown options silently (getmnt_silent).
"""

import errno
import getopt
import os
import re
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from .. import mac_errors, mount_options, profiles, smb_url, sunrpc
from ..interfaces import without_brackets
from ..kernel_client import call
from ..mount_options import Refused
from ..records import NfsFacts

USAGE = "usage: mount_nfs [-o options] server:/path directory"
WAIT_S = 10.0
SIZE_BYTES = 32768  # the size of requests over TCP unless an option sets it
TRANSIENT = (errno.ETIMEDOUT, errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENETUNREACH)
LETTERS = "23456a:bcdg:iI:LlnNo:Pr:R:sTt:Uvw:x:z"
REMOTE_LOCKS_OFF = {"nolocks", "nolock", "nolockd", "nonlm", "locallocks"}
Options = dict[str, str]


@dataclass(frozen=True)
class Request:
    """What to mount where, with standard and NFS options, and the version of macOS."""

    host: str
    path: str
    point: str
    standard: dict[str, bool]
    own: Options
    version: tuple[int, ...]

    @property
    def reserved(self) -> bool:
        """Whether the client uses a port below 1024."""
        return "resvport" in self.own


def main(argv: list[str]) -> int:
    """Mount an export."""
    try:
        _mount(argv, profiles.current().number)
    except Refused as refused:
        print(refused if str(refused) == USAGE else f"mount_nfs: {refused}", file=sys.stderr)
        return refused.code
    return 0


def _mount(argv: list[str], number: tuple[int, ...]) -> None:
    try:
        letters, words = getopt.getopt(argv, LETTERS)
    except getopt.GetoptError as error:
        raise Refused(USAGE, errno.EINVAL) from error
    if words == ["configupdate"]:
        if os.geteuid() != 0:
            raise Refused("Must be superuser to configupdate", 1)
        return
    if len(words) != 2:
        raise Refused(USAGE, errno.EINVAL)
    text = ",".join(value for name, value in letters if name == "-o")
    standard, own = _options(text, dict(letters), number)
    target = Path(words[1])
    if not target.exists():
        raise Refused(f"realpath {target}: {mac_errors.text(errno.ENOENT)}", errno.ENOENT)
    match = re.fullmatch(
        r"(\[[0-9A-Fa-f:]+(?:%\w+)?\]|[^:]+):(/.*)" if number >= (10, 7) else r"([^:]+):(/.*)", words[0]
    )
    if not match:
        raise Refused("could not parse file system specification", errno.EINVAL)
    retries = int(own.get("retrycnt", "1"))
    request = Request(match[1], match[2].rstrip("/") or "/", str(target.resolve()), standard, own, number)
    for attempt in range(retries + 1):
        try:
            _attach(request)
        except OSError as error:
            code = error.errno or errno.EIO
            if attempt < retries and code in TRANSIENT:
                continue
            message = f"can't mount {request.path} from {request.host} onto {request.point}: {mac_errors.text(code)}"
            raise Refused(message, mac_errors.number(code)) from error
        return


def _options(text: str, letters: dict[str, str], number: tuple[int, ...]) -> tuple[dict[str, bool], Options]:
    """Standard options and NFS options; an option without a value has an empty text."""
    standard: dict[str, bool] = {}
    own: Options = {}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        if name in mount_options.ALIASES and not equals:
            option, on = mount_options.ALIASES[name]
            standard[option] = on
        else:
            own[name] = value
    for letter, name in (("-P", "resvport"), ("-s", "soft"), ("-i", "intr"), ("-T", "tcp"), ("-L", "nolocks")):
        if letter in letters:
            own[name] = ""
    for letter, name in (("-r", "rsize"), ("-w", "wsize"), ("-R", "retrycnt"), ("-t", "timeo"), ("-x", "retrans")):
        if letter in letters:
            own[name] = letters[letter]
    version = own.pop("vers", own.pop("nfsvers", ""))
    if re.fullmatch(r"2|3|4|4\.0", version) or (version == "4.1" and number >= (26,)):
        own["vers"] = version
    elif version:
        mount_options.warn("mount_nfs", f"illegal NFS version value -- {version}")
    return standard, own


def _attach(request: Request) -> None:
    address = _resolve(request.host)
    _check_request(request)
    own, reserved = request.own, request.reserved
    ports = {
        "port": int(own.get("port") or sunrpc.port_of(address, sunrpc.NFS, 3, WAIT_S)),
        "mountport": int(own.get("mountport") or sunrpc.port_of(address, sunrpc.MOUNT, 3, WAIT_S)),
    }
    handle = sunrpc.mount(address, request.path, ports["mountport"], reserved, WAIT_S)
    limits = sunrpc.limits(address, handle, ports["port"], reserved, WAIT_S)
    if not REMOTE_LOCKS_OFF & set(own):
        _check_lock_service(request.host, address)
    _warn_of_ratio(own)
    call(
        "mount_share",
        source=f"{request.host}:{request.path}",
        target=request.point,
        kind="nfs",
        flags=mount_options.flags(request.standard, os.getuid()),
        uri=f"nfs://{smb_url.gvfs_host(address)}{request.path}",
        password="",
        facts=_facts(request, address, ports, limits),
        again=True,
        reserved=reserved,
    )


def _resolve(host: str) -> str:
    try:
        literal = without_brackets(host)
        return literal if ":" in literal else socket.gethostbyname(host)
    except socket.gaierror as error:
        raise Refused(f"can't resolve host {host}", errno.ENOENT) from error


def _check_request(request: Request) -> None:
    """Raise OSError if the request cannot be mounted from any server."""
    if call("fault", name="nfs-refused"):
        raise PermissionError(errno.EPERM, request.host)
    if call("fault", name="nfs-times-out"):
        raise TimeoutError(errno.ETIMEDOUT, request.host)
    if request.reserved and os.getuid() != 0:
        raise PermissionError(errno.EPERM, "resvport")
    if request.own.get("vers", "3")[0] != "3":  # the client below speaks only version 3
        raise OSError(errno.EPROTONOSUPPORT, request.own["vers"])


def _check_lock_service(host: str, address: str) -> None:
    try:
        sunrpc.port_of(address, sunrpc.STATD, 1, WAIT_S)
    except OSError as error:
        message = f"can't mount with remote locks when server ({host}) is not running rpc.statd"
        raise Refused(f"{message}: {mac_errors.text(1074)}", 74) from error


def _warn_of_ratio(own: Options) -> None:
    if "readahead" not in own and int(own.get("wsize") or SIZE_BYTES) > 4 * 16 * int(own.get("rsize") or SIZE_BYTES):
        message = "wsize/rsize ratio is high: this could end up with unexpected readahead RPCs"
        mount_options.warn("mount_nfs", message)


def _facts(request: Request, address: str, ports: dict[str, int], limits: sunrpc.Limits) -> NfsFacts:
    """For nfsstat: the requested options, and those in effect within the limits of server and kernel."""
    own = request.own
    # nfs_vfsops.c: as much as a buffer's page masks cover; 10.15 dropped the masks
    maximum = 131072 if request.version < (10, 15) else 2097152
    default = own.get("rwsize")
    sizes = {
        "rsize": min(int(own.get("rsize") or default or SIZE_BYTES), maximum, limits.read),
        "wsize": min(int(own.get("wsize") or default or SIZE_BYTES), maximum, limits.write),
        "dsize": min(int(own.get("dsize") or SIZE_BYTES), maximum),
    }
    return {
        "host": request.host,
        "address": address,
        "path": request.path,
        "standard_shown": mount_options.changed_options(request.standard),
        "asked": own,
        "current": {**ports, **{name: value // 512 * 512 for name, value in sizes.items()}},
    }
