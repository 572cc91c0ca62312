"""The script that lays and reads the probes on a host. Needs nothing but Python 3.9.

The part of the platform stands before it, on_host_linux.py or on_host_macos.py; its ``OWN`` has what systems do in
their own ways. ``python3 -c THIS lay|read`` takes a request as JSON on standard input and prints JSON. A probe is an
object with one attribute, in a folder of the probe's name. A reading is a pair: ``value`` and a text; or ``none`` (no
such attribute), ``missing`` (no such object) or ``error``, and the error.
"""

import collections
import contextlib
import errno
import hashlib
import json
import os
import pwd
import stat
import sys
from collections.abc import Callable
from typing import Any

OBJECT, OTHER, PLAIN = b"object", b"other", b"plain-"
HOLE, TAIL = 8 << 20, 4096  # a RAM disk may have pages of 2 MiB
ABSENT = {errno.ENODATA, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS}
# How names begin of files that servers and clients leave behind
DEBRIS = (b"._", b".AppleD", b".DS_Store", b".smbdelete", b".nfs0", b".fuse_hidden", b".TemporaryItems")


class NoAttributeError(Exception):
    """The object is there and has no such attribute."""


def _set_content(path: bytes, key: str, value: str) -> None:
    with open(path, "wb") as file:
        file.write(hashlib.shake_128(b"probe").digest(int(value)))


def _read_content(path: bytes, key: str) -> str:
    with open(path, "rb") as file:
        content = file.read()
    return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:12]}"


def _set_holes(path: bytes, key: str, value: str) -> None:
    with open(path, "wb") as file:
        file.truncate(HOLE)
        file.seek(HOLE - TAIL)
        file.write(b"x" * TAIL)


def _read_holes(path: bytes, key: str) -> str:
    if os.lstat(path).st_blocks * 512 > HOLE // 2:
        raise NoAttributeError
    return "holes"


def _set_owner(path: bytes, key: str, value: str) -> None:
    os.chown(path, int(value) if key == "user" else -1, int(value) if key == "group" else -1, follow_symlinks=False)


def _read_owner(path: bytes, key: str) -> str:
    status = os.lstat(path)
    return str(status.st_uid if key == "user" else status.st_gid)


def _set_time(path: bytes, key: str, value: str) -> None:
    seconds, _, fraction = value.partition(".")
    status = os.lstat(path)
    both = {"atime": status.st_atime_ns, "mtime": status.st_mtime_ns}
    both[key] = int(seconds) * 10**9 + int(fraction)
    os.utime(path, ns=(both["atime"], both["mtime"]), follow_symlinks=False)


def _read_time(path: bytes, key: str) -> str:
    time_ns: int = getattr(os.lstat(path), f"st_{key}_ns")
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def _read_type(path: bytes, key: str) -> str:
    status = os.lstat(path)
    kinds = {stat.S_IFIFO: "fifo", stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(status.st_mode), f"device {os.major(status.st_rdev)}:{os.minor(status.st_rdev)}")


def _read_hard_link(path: bytes, key: str) -> str:
    if not os.path.samefile(path, os.path.join(os.path.dirname(path), OTHER)):
        raise NoAttributeError
    return "one file"


def _made_as_such(path: bytes, key: str, value: str) -> None:
    """The object itself is what is probed."""


ATTRIBUTES: dict[str, tuple[Callable[[bytes, str, str], None], Callable[[bytes, str], str]]] = {
    "content": (_set_content, _read_content),
    "holes": (_set_holes, _read_holes),
    "owner": (_set_owner, _read_owner),
    "mode": (
        lambda path, key, value: os.chmod(path, int(value, 8)),
        lambda path, key: f"{stat.S_IMODE(os.lstat(path).st_mode):04o}",
    ),
    "time": (_set_time, _read_time),
    "type": (_made_as_such, _read_type),
    "target": (
        _made_as_such,
        lambda path, key: _shown(os.readlink(path)) if os.path.islink(path) else _read_type(path, key),
    ),
    "hard link": (_made_as_such, _read_hard_link),
    **globals().get("OWN", {}),
}


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _make_object(folder: bytes, probe: Any) -> bytes:
    path = os.path.join(folder, OBJECT)
    if probe["kind"] == "folder":
        os.mkdir(path)
    elif probe["kind"] == "link":
        os.symlink(_raw(probe["value"] if probe["attribute"] == "target" else "nowhere"), path)
    elif probe["kind"] == "fifo":
        os.mkfifo(path)
    elif probe["kind"] == "device":
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    else:
        with open(path, "wb") as file:
            file.write(b"probe\n")
    if probe["kind"] == "hard link":
        os.link(path, os.path.join(folder, OTHER))
    return path


def _lay_probe(folder: bytes, probe: Any, owner: int | None) -> None:
    os.mkdir(folder)
    _give(folder, owner)
    for name in map(_raw, probe["names"]):
        with open(os.path.join(folder, name), "xb"):
            _give(os.path.join(folder, name), owner)
    if not probe["names"]:
        path = _make_object(folder, probe)
        _give(path, owner)
        ATTRIBUTES[probe["attribute"]][0](path, probe["key"], probe["value"])


def lay(request: Any) -> dict[str, str]:
    """Lay the probes in the new folder ``root``; what the system refused, by probe."""
    root, owner, refused = _raw(request["root"]), _owner_of(request["owner"]), {}
    os.makedirs(root, 0o755)
    _give(root, owner)
    for probe in request["probes"]:
        try:
            _lay_probe(os.path.join(root, _raw(probe["name"])), probe, owner)
        except OSError as error:
            refused[probe["name"]] = error.strerror or str(error)
    return refused


def _owner_of(account: str) -> int | None:
    """The number of the account if root may give it files; None if the files stay the caller's."""
    if account and os.geteuid() == 0:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(account).pw_uid
    return None


def _give(path: bytes, owner: int | None) -> None:
    if owner is not None:
        os.chown(path, owner, -1, follow_symlinks=False)


def _read_object(path: bytes, attribute: str, key: str) -> tuple[str, str]:
    try:
        os.lstat(path)
        return "value", ATTRIBUTES[attribute][1](path, key)
    except NoAttributeError:
        return "none", ""
    except OSError as error:
        return ("none", "") if error.errno in ABSENT else _unread(error)


def _unread(error: OSError) -> tuple[str, str]:
    return "missing" if error.errno == errno.ENOENT else "error", error.strerror or str(error)


def _read_names(folder: bytes, expected: list[str]) -> tuple[str, str]:
    try:
        names = sorted(name for name in os.listdir(folder) if _shown(name) in expected or not name.startswith(DEBRIS))
    except OSError as error:
        return _unread(error)
    return ("value", json.dumps(list(map(_shown, names)))) if names else ("missing", "")


def _read_probe(root: bytes, probe: Any) -> dict[str, tuple[str, str]]:
    """The reading of a probe, and for comparison of an object without the attribute."""
    folder = os.path.join(root, _raw(probe["name"]))
    if probe["names"]:
        return {"is": _read_names(folder, probe["names"])}
    about = probe["attribute"], probe["key"]
    plain = os.path.join(root, PLAIN + _raw(probe["kind"]), OBJECT)
    return {"is": _read_object(os.path.join(folder, OBJECT), *about), "plain": _read_object(plain, *about)}


def _count_debris(root: bytes, probes: Any) -> dict[str, int]:
    expected = {name for probe in probes for name in probe["names"]}
    names = (name for _, folders, files in os.walk(root) for name in (*folders, *files) if _shown(name) not in expected)
    return collections.Counter(_shown(start) for name in names for start in DEBRIS if name.startswith(start))


def read(request: Any) -> dict[str, object]:
    """The readings below ``root``, and the files that servers and clients left. Fails if ``root`` is gone."""
    root, probes = _raw(request["root"]), request["probes"]
    readings = {probe["name"]: _read_probe(root, probe) for probe in probes}
    debris = _count_debris(root, probes)
    os.listdir(root)  # otherwise all probes would be missing from a mount that ended
    return {"readings": readings, "debris": debris}


ACTIONS = {"lay": lay, "read": read}

if __name__ == "__main__":
    print(json.dumps(ACTIONS[sys.argv[1]](json.load(sys.stdin))))
