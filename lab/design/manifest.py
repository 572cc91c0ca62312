"""A manifest: the folders of a tree, and its files with their sizes, without content.

Its text is a tree file of elbencho 3.1 (source/PathStore.cpp of breuner/elbencho): a line ``d PATH`` for each folder,
``f BYTES PATH`` for each file, and comments after ``#``. It may come from anywhere, and hosts make what it names.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lab.base import untrusted
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import LARGEST, one_line

BASE64 = "# encoding=base64"  # of all paths; elbencho looks for it in the comments at the top
MOST_BYTES = 64 << 20  # of the text: half a million files
MOST_ENTRIES = 500_000  # a host makes and compares them in minutes
MOST_PATH_BYTES = 700  # a Mac allows 1024 (PATH_MAX) with the lab's folder in front
MOST_NAME_BYTES = 255  # in ext4, XFS, Btrfs and ZFS
LINE = re.compile(r"(?:d|f +(?P<size>[0-9]{1,19})) +(?P<path>.*\S) *")


class TreeFile(NamedTuple):
    """A file of a tree: its size, and its path below the tree's top."""

    size_bytes: int
    path: str


@dataclass(frozen=True)
class Manifest:
    """``folders`` has all below the top, each after its parent; ``files`` are in the order of the text."""

    folders: tuple[str, ...]
    files: tuple[TreeFile, ...]

    @cached_property
    def size_bytes(self) -> int:
        """The sum of all sizes."""
        return sum(file.size_bytes for file in self.files)

    @cached_property
    def digest(self) -> str:
        """A hash of its text."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def text(self) -> str:
        """The text for elbencho. Paths are in base64 if it would strip spaces from one."""
        paths = [*self.folders, *(file.path for file in self.files)]
        if all(path == path.strip() for path in paths):
            return self.lines()
        folders = tuple(map(_encode, self.folders))
        files = tuple(TreeFile(file.size_bytes, _encode(file.path)) for file in self.files)
        return f"{BASE64}\n{Manifest(folders, files).lines()}"

    def lines(self) -> str:
        """A line for each folder and then for each file, with plain paths."""
        lines = [*(f"d {path}" for path in self.folders), *(f"f {file.size_bytes} {file.path}" for file in self.files)]
        return "".join(f"{line}\n" for line in lines)

    def sample(self, size_bytes: int) -> Manifest:
        """A tree of these bytes: every n-th file by size keeps the shares of sizes; the largest make up the rest."""
        total = self.size_bytes
        if size_bytes == total:
            return self
        by_size = sorted(range(len(self.files)), key=lambda place: (self.files[place].size_bytes, place))
        count = max(1, len(by_size) * size_bytes // total)
        chosen = [by_size[(2 * index + 1) * len(by_size) // (2 * count)] for index in range(count)]
        sizes = {place: self.files[place].size_bytes for place in chosen}
        missing = size_bytes - sum(sizes.values())
        for place in reversed(chosen):
            changed = max(0, sizes[place] + missing)
            missing -= changed - sizes[place]
            sizes[place] = changed
        return of_files(TreeFile(sizes[place], self.files[place].path) for place in sorted(sizes))


def of_files(files: Iterable[TreeFile]) -> Manifest:
    """The manifest of these files and the folders that they need."""
    files = tuple(files)
    return Manifest(tuple(dict.fromkeys(folder for file in files for folder in parents(file.path))), files)


def parents(path: str) -> Iterator[str]:
    """The folders above a path, the uppermost first, without the top."""
    for match in re.finditer("/", path):
        yield path[: match.start()]


def _encode(path: str) -> str:
    return base64.b64encode(path.encode()).decode()


def read_manifest(path: Path, *, links: bool = True) -> Manifest:
    """Read a manifest. Raises BadInput, and without ``links`` for a link, too."""
    try:
        content = untrusted.read_file(path, MOST_BYTES, links=links)
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="\n").read()
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file", "`lab workload record FOLDER FILE` makes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error
    return parse_manifest(text, path)


def parse_manifest(text: str, place: Path) -> Manifest:
    """The manifest in a text. Raises BadInput that names ``place`` and the line."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            reader.read(line.rstrip("\r"))
        except ValueError as error:
            raise BadInput(f"{place}: line {number}: {error}") from error
    if not any(file.size_bytes for file in reader.files):
        raise BadInput(f"{place}: no file with anything in it", "a line for each is: f BYTES PATH")
    return Manifest(tuple(reader.folders), tuple(reader.files))


class _Reader:
    """Reads line by line. Raises ValueError for a line that no tree can have."""

    def __init__(self) -> None:
        self.folders: dict[str, None] = {}
        self.files: list[TreeFile] = []
        self.total = 0
        self._encoded = False
        self._kinds: dict[str, str] = {}
        self._named: set[str] = set()  # by a line of their own
        self._spellings: dict[str, str] = {}  # by their case-insensitive, normalized form

    def read(self, line: str) -> None:
        """Add what a line names."""
        if not line.strip() or line.startswith("#"):
            self._encoded |= line == BASE64 and not self._kinds
            return
        match = LINE.fullmatch(line)
        if not match:
            raise ValueError(f"is none of d PATH, f BYTES PATH and # COMMENT: {one_line(line, 60)!r}")
        path = self._decode(match["path"])
        _check_path(path)
        for folder in parents(path):
            self._add(folder, "folder", implied=True)
        if match["size"] is None:
            self._add(path, "folder")
            return
        self._add(path, "file")
        self.files.append(TreeFile(int(match["size"]), path))
        self.total += int(match["size"])
        if self.total >= LARGEST:
            raise ValueError(f"{match['size']} bytes: the files up to here have more than any disk holds")

    def _decode(self, text: str) -> str:
        if not self._encoded:
            return text
        try:
            return base64.b64decode(text, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise ValueError(f"the path is not base64 of UTF-8: {one_line(text, 60)!r}") from error

    def _add(self, path: str, kind: str, implied: bool = False) -> None:
        key = unicodedata.normalize("NFC", path).casefold()
        spelling = self._spellings.setdefault(key, path)
        if spelling != path:
            raise ValueError(f"{one_line(path, 80)} and {one_line(spelling, 80)} are one name to many file systems")
        if self._kinds.setdefault(path, kind) != kind:
            raise ValueError(f"{one_line(path, 80)} is a file and a folder")
        if not implied:
            if path in self._named:
                raise ValueError(f"{one_line(path, 80)} comes twice")
            self._named.add(path)
        if kind == "folder":
            self.folders[path] = None
        if len(self._kinds) > MOST_ENTRIES:
            raise ValueError(f"more than {MOST_ENTRIES:,} files and folders")


def _check_path(path: str) -> None:
    shown = one_line(path, 80)
    names = path.split("/")
    if path.startswith("/"):
        raise ValueError(f"{shown!r} is absolute")
    if ".." in names or "." in names or "" in names:
        raise ValueError(f"{shown!r} has a part that is empty, . or ..")
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in path):
        raise ValueError(f"{shown!r} has a control character")
    if len(path.encode()) > MOST_PATH_BYTES or any(len(name.encode()) > MOST_NAME_BYTES for name in names):
        raise ValueError(f"{shown!r} is too long: at most {MOST_NAME_BYTES} bytes a name, {MOST_PATH_BYTES} in all")
