"""What macOS keeps about a file beside its contents: extended attributes, access control lists, flags, the birth time.

Linux has no place that holds as much and works for symbolic links too. So they are records beside the file system. A
file's record is named by device, inode and birth, so a new file never finds the record of a deleted one. A folder's
record is named by a Linux attribute of the folder. On a mounted share only extended attributes are kept, in AppleDouble
files as macOS writes them (xnu: bsd/vfs/vfs_xattr.c).
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import struct

from . import apple_double
from .apple_double import FINDER_INFO, RESOURCE_FORK
from .kernel_client import call

RECORDS = "/linux/var/lib/emulated_mac_attributes"
NAME_BYTES = 16
NAME_OF_RECORD = b"user.emulated_mac_record"  # a Linux attribute of a folder: no program of the Mac's shows it
NETWORK = ("smbfs", "nfs", "afpfs")
LONGEST_NAME = 127  # XATTR_MAXNAMELEN of <sys/xattr.h>
AT_FDCWD, NO_FOLLOW, ALL_FIELDS, BIRTH = -100, 0x100, 0xFFF, 0x800  # linux/stat.h
STATX_BYTES, INODE_AT, BIRTH_AT, DEVICE_AT = 256, 32, 80, 136

_libc = ctypes.CDLL(None, use_errno=True)


class Attributes:
    """The attributes of one object. ``acl`` has entries as ls prints them; ``birth_ns`` is 0 if never changed."""

    def __init__(
        self, xattrs: dict[str, bytes] | None = None, acl: list[str] | None = None, flags: int = 0, birth_ns: int = 0
    ):
        self.xattrs, self.acl, self.flags, self.birth_ns = xattrs or {}, acl or [], flags, birth_ns

    def to_json(self) -> dict[str, object]:
        """What :meth:`of` takes."""
        xattrs = {name: value.hex() for name, value in self.xattrs.items()}
        return {"xattrs": xattrs, "acl": self.acl, "flags": self.flags, "birth_ns": self.birth_ns}

    @classmethod
    def of(cls, record: dict[str, object]) -> Attributes:
        """The attributes of a record."""
        fields: dict[str, object] = dict(record)
        fields["xattrs"] = {name: bytes.fromhex(value) for name, value in record["xattrs"].items()}  # type: ignore[attr-defined]
        return cls(**fields)  # type: ignore[arg-type]


def read(path: str, follow: bool = True) -> Attributes:
    """The attributes of an object. Raises OSError."""
    if is_on_share(path, follow):
        return Attributes(_read_apple_double(path, follow))
    return _read_record(_record_of(path, follow))


def write(path: str, attributes: Attributes, follow: bool = True) -> None:
    """Replace all attributes of an object. Raises OSError: ENOTSUP on a share for all but extended attributes."""
    if is_on_share(path, follow):
        if attributes.acl or attributes.flags:
            raise OSError(errno.ENOTSUP, "Operation not supported", path)
        _write_apple_double(path, attributes.xattrs, follow)
        return
    content = attributes.to_json()
    record = _record_of(path, follow, make=any(content.values()))
    if any(content.values()):
        written = f"{record}.{os.getpid()}"
        with open(written, "w", encoding="ascii") as file:  # noqa: PTH123
            json.dump(content, file)
        os.chmod(written, 0o644)  # noqa: PTH101
        os.rename(written, record)  # noqa: PTH104
    elif os.path.exists(record):  # noqa: PTH110
        os.unlink(record)  # noqa: PTH108


def set_xattr(path: str, name: str, value: bytes, follow: bool = True) -> None:
    """Like setxattr(2). Raises OSError: ENAMETOOLONG, EACCES, or ERANGE if FinderInfo has not 32 bytes."""
    if len(os.fsencode(name)) > LONGEST_NAME:
        raise OSError(errno.ENAMETOOLONG, "File name too long", path)
    if name == FINDER_INFO and len(value) != apple_double.FINDER_INFO_BYTES:
        raise OSError(errno.ERANGE, "Result too large", path)
    _check_writable(path, follow)
    attributes = read(path, follow)
    attributes.xattrs[name] = value
    if name in (FINDER_INFO, RESOURCE_FORK) and not any(value):
        del attributes.xattrs[name]
    write(path, attributes, follow)


def remove_xattr(path: str, name: str, follow: bool = True) -> None:
    """Like removexattr(2). Raises OSError: EACCES, or ENODATA (a Mac's ENOATTR) if no attribute has the name."""
    attributes = read(path, follow)
    if name not in attributes.xattrs:
        raise OSError(errno.ENODATA, "Attribute not found", path)
    _check_writable(path, follow)
    del attributes.xattrs[name]
    write(path, attributes, follow)


def change_flags(path: str, set_: int, clear: int, follow: bool = True) -> None:
    """Like chflags(2). Raises OSError: EPERM unless the caller owns the object, ENOTSUP on a share."""
    if is_on_share(path, follow):
        raise OSError(errno.ENOTSUP, "Operation not supported", path)
    check_owner(path, follow)
    attributes = read(path, follow)
    attributes.flags = attributes.flags & ~clear | set_
    write(path, attributes, follow)


def birth_ns(path: str, follow: bool = True) -> int:
    """When an object was created, never later than its mtime. utimes(2) cannot set the birth time, so HFS+ moves it
    back when an earlier mtime is set (hfs: core/hfs_vnops.c, smb: kernel/smbfs/smbfs_vnops.c).
    """
    status = os.stat(path, follow_symlinks=follow)  # noqa: PTH116
    if is_on_share(path, follow):
        return status.st_ctime_ns
    recorded = read(path, follow).birth_ns
    return min(recorded or _statx(path, follow)[2] or status.st_ctime_ns, status.st_mtime_ns)


def note_birth(path: str, follow: bool = True) -> None:
    """Record the present birth time of an object, so that later changes of its times do not move it."""
    if is_on_share(path, follow):
        return
    attributes, now = read(path, follow), birth_ns(path, follow)
    if now != (attributes.birth_ns or _statx(path, follow)[2]):
        attributes.birth_ns = now
        write(path, attributes, follow)


def is_on_share(path: str, follow: bool = True) -> bool:
    """Whether an object is on a share of another host."""
    real = os.path.realpath(path) if follow else _real_folder(path)
    best = ("/", "")
    for mount in call("mounts"):
        target = mount["target"].rstrip("/") + "/"
        if f"{real}/".startswith(target) and len(target) >= len(best[0]):
            best = (target, mount["type"])
    return best[1] in NETWORK


def check_owner(path: str, follow: bool = True) -> None:
    """Raise EPERM unless the caller is the object's owner or root."""
    if os.geteuid() not in (0, os.stat(path, follow_symlinks=follow).st_uid):  # noqa: PTH116
        raise OSError(errno.EPERM, "Operation not permitted", path)


def _check_writable(path: str, follow: bool) -> None:
    if not os.access(path, os.W_OK, follow_symlinks=follow, effective_ids=follow):
        raise OSError(errno.EACCES, "Permission denied", path)


def _real_folder(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118


def _record_of(path: str, follow: bool, make: bool = False) -> str:
    """The path of an object's record, which need not exist. With ``make`` a folder without a name for its record gets
    one. Folders need such a name because overlayfs may renumber them (Documentation/filesystems/overlayfs.rst).
    """
    device, inode, birth = _statx(path, follow)
    if not os.path.isdir(path) or (not follow and os.path.islink(path)):  # noqa: PTH112, PTH114
        return f"{RECORDS}/{device}-{inode}-{birth}"
    name = ctypes.create_string_buffer(2 * NAME_BYTES + 1)  # by libc, because a Mac's Python has no getxattr
    if _libc.getxattr(os.fsencode(path), NAME_OF_RECORD, name, 2 * NAME_BYTES) != 2 * NAME_BYTES:
        name.value = os.urandom(NAME_BYTES).hex().encode()
        if make and _libc.setxattr(os.fsencode(path), NAME_OF_RECORD, name, 2 * NAME_BYTES, 0):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    return f"{RECORDS}/folder-{name.value.decode()}"


def _statx(path: str, follow: bool) -> tuple[str, int, int]:
    """Device, inode and birth in ns (0 if the file system keeps none), by statx(2), which Python lacks."""
    buffer = ctypes.create_string_buffer(STATX_BYTES)
    if _libc.statx(AT_FDCWD, os.fsencode(path), 0 if follow else NO_FOLLOW, ALL_FIELDS, buffer):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    (mask,) = struct.unpack_from("=I", buffer)
    (inode,) = struct.unpack_from("=Q", buffer, INODE_AT)
    seconds, fraction = struct.unpack_from("=qI", buffer, BIRTH_AT)
    major, minor = struct.unpack_from("=II", buffer, DEVICE_AT)
    return f"{major}.{minor}", inode, seconds * 10**9 + fraction if mask & BIRTH else 0


def _read_record(record: str) -> Attributes:
    try:
        with open(record, encoding="ascii") as file:  # noqa: PTH123
            return Attributes.of(json.load(file))
    except FileNotFoundError:
        return Attributes()


def _apple_double_of(path: str, follow: bool) -> str:
    folder, name = os.path.split(os.path.realpath(path) if follow else _real_folder(path))
    return os.path.join(folder, apple_double.PREFIX + name)  # noqa: PTH118


def _read_apple_double(path: str, follow: bool) -> dict[str, bytes]:
    os.stat(path, follow_symlinks=follow)  # noqa: PTH116 – raises where there is no such object
    try:
        with open(_apple_double_of(path, follow), "rb") as file:  # noqa: PTH123
            return apple_double.unpack(file.read())
    except (FileNotFoundError, IsADirectoryError, ValueError):
        return {}


def _write_apple_double(path: str, xattrs: dict[str, bytes], follow: bool) -> None:
    beside = _apple_double_of(path, follow)
    if xattrs:
        with open(beside, "wb") as file:  # noqa: PTH123
            file.write(apple_double.pack(xattrs))
    elif _read_apple_double(path, follow):
        os.unlink(beside)  # noqa: PTH108
