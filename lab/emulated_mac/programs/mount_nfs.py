"""mount_nfs(8): options, messages and exit codes, which are errnos, as in mount_nfs.c of NFS-63 to NFS-339.

Options that it does not know it ignores without a word (getmnt_silent), and so does this.
"""

from __future__ import annotations

import errno
import getopt
import os
import re
import socket
import sys
from pathlib import Path

from .. import mac_errors, mount_options, profiles, sunrpc
from ..kernel_client import call
from ..mount_options import Refused
from ..records import NfsFacts

USAGE = "usage: mount_nfs [-o options] server:/path directory"
WAIT_S = 10.0
SIZE_BYTES = 32768  # of requests over TCP where no option says otherwise
TRANSIENT = (errno.ETIMEDOUT, errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENETUNREACH)
LETTERS = "23456a:bcdg:iI:LlnNo:Pr:R:sTt:Uvw:x:z"
Options = dict[str, str]


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
    match = re.fullmatch(r"([^:]+):(/.*)", words[0])
    if not match:
        raise Refused("could not parse file system specification", errno.EINVAL)
    retries = int(own.get("retrycnt", "1"))
    host, path, point = match[1], match[2].rstrip("/") or "/", str(target.resolve())
    for attempt in range(retries + 1):
        try:
            _attach(host, path, point, standard, own, number)
        except OSError as error:
            code = error.errno or errno.EIO
            if attempt < retries and code in TRANSIENT:
                continue
            _refuse(host, path, point, own, code)
        return


def _options(text: str, letters: dict[str, str], number: tuple[int, ...]) -> tuple[dict[str, bool], Options]:
    """Standard options and those of NFS; a bare one has an empty value."""
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


def _attach(host: str, path: str, point: str, standard: dict[str, bool], own: Options, number: tuple[int, ...]) -> None:
    try:
        address = socket.gethostbyname(host)
    except socket.gaierror as error:
        raise Refused(f"can't resolve host {host}", errno.ENOENT) from error
    if call("fault", name="nfs-refused"):
        raise PermissionError(errno.EPERM, host)
    if call("fault", name="nfs-times-out"):
        raise TimeoutError(errno.ETIMEDOUT, host)
    reserved = "resvport" in own
    if reserved and os.getuid() != 0:
        raise PermissionError(errno.EPERM, "resvport")
    if own.get("vers", "3")[0] != "3":  # the client underneath speaks version 3 alone
        raise OSError(errno.EPROTONOSUPPORT, own["vers"])
    ports = {
        "port": int(own.get("port") or sunrpc.port_of(address, sunrpc.NFS, 3, WAIT_S)),
        "mountport": int(own.get("mountport") or sunrpc.port_of(address, sunrpc.MOUNT, 3, WAIT_S)),
    }
    handle = sunrpc.mount(address, path, ports["mountport"], reserved, WAIT_S)
    limits = sunrpc.limits(address, handle, ports["port"], reserved, WAIT_S)
    if not {"nolocks", "nolock", "nolockd", "nonlm", "locallocks"} & set(own):
        try:
            sunrpc.port_of(address, sunrpc.STATD, 1, WAIT_S)
        except OSError as error:
            said = (
                f"can't mount with remote locks when server ({host}) is not running rpc.statd: {mac_errors.text(1074)}"
            )
            raise Refused(said, 74) from error
    _warn_of_ratio(own)
    call(
        "mount_share",
        source=f"{host}:{path}",
        target=point,
        kind="nfs",
        flags=mount_options.flags(standard, os.getuid()),
        uri=f"nfs://{address}{path}",
        password="",
        facts=_facts(host, address, path, standard, own, ports, limits, number),
        again=True,
        reserved=reserved,
    )


def _warn_of_ratio(own: Options) -> None:
    if "readahead" not in own and int(own.get("wsize") or SIZE_BYTES) > 4 * 16 * int(own.get("rsize") or SIZE_BYTES):
        message = "wsize/rsize ratio is high: this could end up with unexpected readahead RPCs"
        mount_options.warn("mount_nfs", message)


def _facts(
    host: str,
    address: str,
    path: str,
    standard: dict[str, bool],
    own: Options,
    ports: dict[str, int],
    limits: sunrpc.Limits,
    number: tuple[int, ...],
) -> NfsFacts:
    """For nfsstat: what was asked for, and what is in effect, which server and kernel limit."""
    maximum = (
        131072 if number < (10, 15) else 2097152
    )  # nfs_vfsops.c: what the page masks of a buffer cover, until 10.15 dropped them
    default = own.get("rwsize")
    sizes = {
        "rsize": min(int(own.get("rsize") or default or SIZE_BYTES), maximum, limits.read),
        "wsize": min(int(own.get("wsize") or default or SIZE_BYTES), maximum, limits.write),
        "dsize": min(int(own.get("dsize") or SIZE_BYTES), maximum),
    }
    return {
        "host": host,
        "address": address,
        "path": path,
        "standard_shown": mount_options.shown(standard),
        "asked": own,
        "current": {**ports, **{name: value // 512 * 512 for name, value in sizes.items()}},
    }


def _refuse(host: str, path: str, point: str, own: Options, code: int) -> None:
    raise Refused(f"can't mount {path} from {host} onto {point}: {mac_errors.text(code)}", mac_errors.number(code))
