"""Record a folder of this machine as a manifest: only its sizes and the structure of its folders."""

import hashlib
import os
import secrets
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lab.base.errors import BadInput
from lab.design.manifest import MOST_ENTRIES, MOST_PATH_BYTES, Manifest, TreeFile

NAME_DIGITS = 16
KINDS = {
    stat.S_IFLNK: "symbolic links", stat.S_IFIFO: "pipes", stat.S_IFSOCK: "sockets", stat.S_IFCHR: "devices",
    stat.S_IFBLK: "devices",
}  # fmt: skip
UNREADABLE, TOO_DEEP = "folders that cannot be read", "folders that lie too deep"


def record(folder: Path) -> tuple[Manifest, Counter[str]]:
    """The manifest of a folder, and how many entries of each kind it leaves out. Raises BadInput.

    Each name becomes a hash under a discarded key, so that nobody can guess names by trial. No link is followed.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: {'not a folder' if folder.exists() else 'no such folder'}")
    left_out: Counter[str] = Counter()
    folders: list[str] = []
    files: list[TreeFile] = []
    for path, size_bytes in _walk(folder, secrets.token_bytes(16), left_out):
        if size_bytes is None:
            folders.append(path)
        else:
            files.append(TreeFile(size_bytes, path))
        if len(folders) + len(files) > MOST_ENTRIES:
            raise BadInput(f"{folder}: more than {MOST_ENTRIES:,} files and folders", "record a part of it")
    if not any(file.size_bytes for file in files):
        raise BadInput(f"{folder}: holds no file with anything in it")
    return Manifest(tuple(folders), tuple(files)), left_out


def _walk(top: Path, key: bytes, left_out: Counter[str]) -> Iterator[tuple[str, int | None]]:
    """The hashed path and size of every folder and regular file below ``top``; a folder has no size."""
    pending = [(top, "")]
    while pending:
        folder, hashed = pending.pop()
        if len(hashed) + NAME_DIGITS > MOST_PATH_BYTES:
            left_out[TOO_DEEP] += 1
            continue
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
        except OSError:
            left_out[UNREADABLE] += 1
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # it was removed meanwhile
                continue
            digest = hashlib.blake2b(os.fsencode(entry.name), key=key, digest_size=NAME_DIGITS // 2)
            path = f"{hashed}{digest.hexdigest()}"
            if stat.S_ISDIR(status.st_mode):
                pending.append((Path(entry.path), f"{path}/"))
                yield path, None
            elif stat.S_ISREG(status.st_mode):
                yield path, status.st_size
            else:
                left_out[KINDS.get(stat.S_IFMT(status.st_mode), "others")] += 1
