"""/etc/exports as mountd.c of NFS-63 to NFS-327 reads it, with its messages: ``exports:LINE: MESSAGE``."""

import grp
import os
import pwd
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

NOBODY = 4294967294  # -2
FLAGS = ("-ro", "-o", "-alldirs", "-32bitclients", "-offline")
VALUES = ("-maproot", "-mapall", "-sec", "-fspath", "-fsuuid", "-network", "-mask")


@dataclass
class Export:
    """One line: directories of one volume, and for whom."""

    line: int
    paths: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    network: str = ""
    mask: str = ""
    read_only: bool = False
    all_dirs: bool = False
    offline: bool = False
    fspath: str = ""
    map_all: bool = False
    uid: int = NOBODY
    gid: int = NOBODY


class _InvalidLine(Exception):
    """A line that is left out; the message says why."""


def parse(text: str, volume_of: Callable[[str], str], version: tuple[int, ...]) -> tuple[list[Export], list[str]]:
    """The exports of a file as a version reads it, and its errors. ``volume_of`` maps a path to its mount point."""
    exports: list[Export] = []
    errors: list[str] = []
    for number, line in _lines(text):
        export = Export(number)
        messages: list[str] = []
        try:
            _parse_line(line, export)
            _check_network(export, version)
            _check(export, exports, volume_of, messages)
            exports.append(export)
        except _InvalidLine as error:
            messages.append(str(error))
        errors += [f"exports:{number}: {message}" for message in messages]
    return exports, errors


def _lines(text: str) -> list[tuple[int, str]]:
    """Entries with the number of their last line; a backslash at the end joins lines."""
    joined, entries = "", []
    for number, line in enumerate(text.splitlines(), 1):
        joined += line
        if joined.endswith("\\"):
            joined = joined[:-1] + " "
            continue
        if joined.strip() and not joined.lstrip().startswith("#"):
            entries.append((number, joined))
        joined = ""
    return entries


def _parse_line(line: str, export: Export) -> None:
    words = shlex.split(line)
    while words:
        word = words.pop(0)
        if word.startswith("-"):
            if not export.paths:
                raise _InvalidLine(f"got options with no exported directory: {word}")
            _parse_option(word, words, export)
        elif word.startswith("/"):
            if export.hosts or export.network or export.map_all or export.fspath:
                raise _InvalidLine(f"Directories must be first: {word}")
            export.paths.append(word.rstrip("/") or "/")
        elif not export.paths:
            raise _InvalidLine(f"got host/group with no directory?: {word}")
        else:
            export.hosts.append(word)
    if export.hosts and export.network:
        raise _InvalidLine("can't specify both network and hosts on same line")


def _parse_option(word: str, words: list[str], export: Export) -> None:
    name, equals, value = word.partition("=")
    if name in FLAGS and not equals:
        export.read_only |= name in ("-ro", "-o")
        export.all_dirs |= name == "-alldirs"
        export.offline |= name == "-offline"
        return
    if name not in VALUES:
        raise _InvalidLine(f"error processing options: {word}")
    if not equals:  # exports(5): -network and -mask are also followed by a blank
        if name not in ("-network", "-mask") or not words:
            raise _InvalidLine(f"error processing options: {word}")
        value = words.pop(0)
    if name in ("-maproot", "-mapall"):
        export.map_all |= name == "-mapall"
        export.uid, export.gid = _parse_credential(value, word)
    elif name in ("-network", "-mask", "-fspath"):
        setattr(export, name[1:], value)


def _parse_credential(text: str, word: str) -> tuple[int, int]:
    """User and group id of ``user``, ``user:group``, or numbers for both."""
    user, colon, groups = text.partition(":")
    try:
        uid = int(user) if user.lstrip("-").isdigit() else pwd.getpwnam(user).pw_uid
        group = groups.split(":")[0]
        if not colon:
            gid = pwd.getpwuid(uid).pw_gid
        else:
            gid = int(group) if group.lstrip("-").isdigit() else grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise _InvalidLine(f"error processing options: {word}") from error
    return uid % 2**32, gid % 2**32


def _check_network(export: Export, version: tuple[int, ...]) -> None:
    """Raise for a mask of another family than the network's, and for IPv6 before 10.7 (NFS-42)."""
    families = {":" in text for text in (export.network, export.mask) if text}
    if len(families) > 1 or (True in families and version < (10, 7)):
        raise _InvalidLine(f"error processing options: -network={export.network}")


def _check(export: Export, others: list[Export], volume_of: Callable[[str], str], messages: list[str]) -> None:
    usable = [path for path in export.paths if _is_plain_folder(path)]
    for path in export.paths:
        if path not in usable:
            messages.append(f"path contains non-directory or non-existent components: {path}")
    if not usable:
        fallback = export.fspath if os.path.ismount(export.fspath or "/nowhere") else ""
        if not fallback:
            raise _InvalidLine("no usable directories in export entry and no fallback")
        messages.append("no usable directories in export entry")
        _go_offline(export, fallback, messages)
        return
    volume = volume_of(usable[0])
    if export.fspath and volume != export.fspath:
        raise _InvalidLine(f"file system path ({volume}) does not match fspath ({export.fspath}) and no fallback")
    for path in usable:
        if not path.startswith(volume):
            raise _InvalidLine(f"exported dir/fs mismatch: {path} {volume}")
        for other in (other_path for other_export in others for other_path in other_export.paths):
            if _is_below(path, other) or _is_below(other, path):
                raise _InvalidLine(f"{path} conflicts with existing export {other}")
    export.paths = usable


def _go_offline(export: Export, fallback: str, messages: list[str]) -> None:
    messages.append(f"using fallback (marked offline): {fallback}")
    export.offline = True


def _is_plain_folder(path: str) -> bool:
    """check_dirpath(): every component is a folder, and none a link."""
    parts = [Path(path), *Path(path).parents]
    return all(part.is_dir() and not part.is_symlink() for part in parts)


def _is_below(path: str, other: str) -> bool:
    return path != other and (path.startswith(f"{other}/") or other == "/")
