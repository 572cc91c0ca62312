"""The part of the script for Macs: attributes that only Macs have, or have in their own way.

It uses xattr(1), chmod(1), chflags(1), ls(1) and stat(1), because a Mac's Python has no functions for extended
attributes, access lists and flags. com.apple.FinderInfo is 32 bytes: type, creator, then 16 bits of flags, three of
which are the label (Finder.h; Inside Macintosh: Macintosh Toolbox Essentials).
"""

import errno
import hashlib
import os
import re
import subprocess

FINDER_INFO, BYTES = "com.apple.FinderInfo", 32
FLAGS = {"nodump": 0x1, "opaque": 0x8, "hidden": 0x8000}  # sys/stat.h
LABEL = 0x000E
# What a command prints if there is no such attribute, or no place for one
NONE = re.compile(r"No such xattr|Attribute not found|Operation not supported")
DEADLINE_S = 30
LATER_S = 100_000_000  # three years, from the birth time to the mtime


def _run(*words: str | bytes) -> str:
    """What a command prints. Raises OSError if it fails, with errno ENODATA if there is no such attribute."""
    raw = [word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape") for word in words]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        raw, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE_S, env=environment, check=False
    )
    if done.returncode != 0:
        error_text = done.stderr.decode("utf-8", "backslashreplace").strip() or f"exit code {done.returncode}"
        raise OSError(errno.ENODATA if NONE.search(error_text) else errno.EIO, error_text.splitlines()[-1][:300])
    return done.stdout.decode("utf-8", "backslashreplace")


def parse_hex(text: str) -> bytes:
    """A value of ``xattr -px``: pairs of digits, in lines. Raises ValueError."""
    return bytes.fromhex("".join(text.split()))


def parse_access_list(text: str) -> list[str]:
    """The entries of an access list in the output of ``ls -lde`` for one object."""
    return re.findall(r"^ [0-9]{1,4}: (.+)$", text, re.MULTILINE)


def _set_xattr(path: bytes, key: str, value: str) -> None:
    if value.startswith("0x"):
        _run("xattr", "-s", "-w", "-x", key, value[2:], path)
    else:
        _run("xattr", "-s", "-w", key, value if ";" in value else "x" * int(value), path)


def _read_xattr(path: bytes, key: str) -> str:
    content = parse_hex(_run("xattr", "-s", "-p", "-x", key, path))
    return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:12]}"


def _read_finder(path: bytes, key: str) -> str:
    info = parse_hex(_run("xattr", "-s", "-p", "-x", FINDER_INFO, path)).ljust(BYTES, b"\0")
    flags = int.from_bytes(info[8:10], "big")
    shown = {"type": info[:8].decode("mac-roman"), "label": str((flags & LABEL) >> 1), "flags": f"{flags & ~LABEL:04x}"}
    if not shown[key].strip("0\0"):
        raise OSError(errno.ENODATA, "")
    return shown[key]


def _read_acl(path: bytes, key: str) -> str:
    entries = parse_access_list(_run("ls", "-lde", path))
    if not entries:
        raise OSError(errno.ENODATA, "")
    return "; ".join(entries)


def _read_flag(path: bytes, key: str) -> str:
    if not int(_run("stat", "-f", "%f", path)) & FLAGS[key]:
        raise OSError(errno.ENODATA, "")
    return "set"


def _set_birth(path: bytes, key: str, value: str) -> None:
    """Set an earlier mtime, which alone sets the birth time (hfs: core/hfs_vnops.c); then set a later mtime."""
    birth = int(value.split(".")[0])
    for mtime in (birth, birth + LATER_S):
        os.utime(path, (os.lstat(path).st_atime, mtime), follow_symlinks=False)
    if _read_birth(path, key) != value:
        raise OSError(errno.ENOTSUP, "the birth time does not go back with the mtime")


def _read_birth(path: bytes, key: str) -> str:
    return f"{int(_run('stat', '-f', '%B', path))}.000000000"


OWN = {
    "xattr": (_set_xattr, _read_xattr),
    "finder": (
        lambda path, key, value: _run("xattr", "-w", "-x", FINDER_INFO, value.ljust(2 * BYTES, "0"), path),
        _read_finder,
    ),
    "acl": (lambda path, key, value: _run("chmod", "+a", value, path), _read_acl),
    "flag": (lambda path, key, value: _run("chflags", "-h", key, path), _read_flag),
    "birth": (_set_birth, _read_birth),
}
