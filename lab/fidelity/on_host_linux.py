"""The part of the script for Linux: attributes that only Linux has, or has in its own way."""

import errno
import fcntl
import hashlib
import os
import struct

FLAGS = {"nodump": 0x40, "noatime": 0x80}
# FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of linux/fs.h, whose number holds the size of a long
GET_FLAGS = 2 << 30 | struct.calcsize("l") << 16 | 0x6601
SET_FLAGS = 1 << 30 | struct.calcsize("l") << 16 | 0x6602
ACL_VERSION, NO_ID = 2, 0xFFFFFFFF
ACL_TAGS, ACL_OWNERS = {"u": 0x02, "g": 0x08, "m": 0x10, "o": 0x20}, {"u": 0x01, "g": 0x04}


def _set_xattr(path: bytes, key: str, value: str) -> None:
    content = bytes.fromhex(value[2:]) if value.startswith("0x") else b"x" * int(value)
    os.setxattr(path, key, content, follow_symlinks=False)


def _read_xattr(path: bytes, key: str) -> str:
    content = os.getxattr(path, key, follow_symlinks=False)
    return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:12]}"


def _set_acl(path: bytes, key: str, value: str) -> None:
    packed = struct.pack("<I", ACL_VERSION)
    for entry in value.split(","):
        kind, who, rights = entry.split(":")
        tag = ACL_TAGS[kind] if who or kind not in ACL_OWNERS else ACL_OWNERS[kind]
        packed += struct.pack("<HHI", tag, int(rights), int(who) if who else NO_ID)
    os.setxattr(path, f"system.posix_acl_{key}", packed, follow_symlinks=False)


def _read_acl(path: bytes, key: str) -> str:
    packed = os.getxattr(path, f"system.posix_acl_{key}", follow_symlinks=False)
    names = {tag: kind for table in (ACL_TAGS, ACL_OWNERS) for kind, tag in table.items()}
    entries = struct.iter_unpack("<HHI", packed[4:])
    return ",".join(f"{names.get(tag, tag)}:{'' if who == NO_ID else who}:{rights}" for tag, rights, who in entries)


def _ask_flags(path: bytes, flag: int) -> int:
    """The flags of an object, before ``flag`` is added."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        (flags,) = struct.unpack("l", fcntl.ioctl(file, GET_FLAGS, struct.pack("l", 0)))
        if flag:
            fcntl.ioctl(file, SET_FLAGS, struct.pack("l", flags | flag))
    finally:
        os.close(file)
    return int(flags)


def _read_flag(path: bytes, key: str) -> str:
    if not _ask_flags(path, 0) & FLAGS[key]:
        raise OSError(errno.ENODATA, "")
    return "set"


def _set_birth(path: bytes, key: str, value: str) -> None:
    raise OSError(errno.ENOTSUP, "Linux cannot set it")


def _read_birth(path: bytes, key: str) -> str:
    raise OSError(errno.ENODATA, "")


OWN = {
    "xattr": (_set_xattr, _read_xattr),
    "acl": (_set_acl, _read_acl),
    "flag": (lambda path, key, value: _ask_flags(path, FLAGS[key]), _read_flag),
    "birth": (_set_birth, _read_birth),
}
