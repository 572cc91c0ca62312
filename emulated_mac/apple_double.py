"""AppleDouble: the file ``._NAME`` beside NAME, which keeps what a file system has no place for. RFC 1740 has the
format, and all numbers are big-endian. macOS puts extended attributes behind the FinderInfo, with their own header
(xnu: bsd/vfs/vfs_xattr.c; copyfile: copyfile.c).
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "._"
FINDER_INFO, RESOURCE_FORK = "com.apple.FinderInfo", "com.apple.ResourceFork"
MAGIC, VERSION, FILLER = 0x00051607, 0x00020000, b"Mac OS X        "
HEADER, PART = struct.Struct(">II16sH"), struct.Struct(">III")
FINDER_INFO_ID, RESOURCE_FORK_ID = 9, 2
FINDER_INFO_BYTES, PADDING = 32, 2
LIST_MAGIC = 0x41545452  # "ATTR"
LIST, ENTRY = struct.Struct(">5I12x2H"), struct.Struct(">IIHB")
FINDER_INFO_AT = HEADER.size + 2 * PART.size
LIST_AT = FINDER_INFO_AT + FINDER_INFO_BYTES + PADDING
ENTRIES_AT = LIST_AT + LIST.size


def pack(attributes: Mapping[str, bytes]) -> bytes:
    """The AppleDouble file that keeps these extended attributes. FinderInfo and the resource fork have their own
    entries. The file is as long as its content; a Mac's file has at least 4 KiB.
    """
    finder_info = attributes.get(FINDER_INFO, b"").ljust(FINDER_INFO_BYTES, b"\0")[:FINDER_INFO_BYTES]
    resource_fork = attributes.get(RESOURCE_FORK, b"")
    others = {name: value for name, value in attributes.items() if name not in (FINDER_INFO, RESOURCE_FORK)}
    data_at = ENTRIES_AT + sum(_entry_bytes(name) for name in others)
    entries, data = b"", b""
    for name, value in others.items():
        raw = name.encode() + b"\0"
        entry = ENTRY.pack(data_at + len(data), len(value), 0, len(raw)) + raw
        entries += entry.ljust(_entry_bytes(name), b"\0")
        data += value
    end = data_at + len(data)
    listed = LIST.pack(LIST_MAGIC, 0, end, data_at, len(data), 0, len(others))
    parts = PART.pack(FINDER_INFO_ID, FINDER_INFO_AT, end - FINDER_INFO_AT)
    parts += PART.pack(RESOURCE_FORK_ID, end, len(resource_fork))
    head = HEADER.pack(MAGIC, VERSION, FILLER, 2) + parts
    return head + finder_info + bytes(PADDING) + listed + entries + data + resource_fork


def _entry_bytes(name: str) -> int:
    """Entries begin at multiples of four bytes."""
    return (ENTRY.size + len(name.encode()) + 1 + 3) // 4 * 4


def unpack(content: bytes) -> dict[str, bytes]:
    """The extended attributes in an AppleDouble file. Raises ValueError if the data is no AppleDouble file."""
    try:
        magic, version, _, count = HEADER.unpack_from(content)
        if (magic, version) != (MAGIC, VERSION):
            raise ValueError("no AppleDouble file")
        attributes = {}
        for number in range(count):
            kind, at, length = PART.unpack_from(content, HEADER.size + number * PART.size)
            if kind == RESOURCE_FORK_ID and length:
                attributes[RESOURCE_FORK] = content[at : at + length]
            if kind == FINDER_INFO_ID:
                if any(finder_info := content[at : at + FINDER_INFO_BYTES]):
                    attributes[FINDER_INFO] = finder_info
                if length > FINDER_INFO_BYTES:
                    attributes |= _unpack_list(content, at + FINDER_INFO_BYTES + PADDING)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"no AppleDouble file: {error}") from error
    return attributes


def _unpack_list(content: bytes, at: int) -> dict[str, bytes]:
    magic, *_, count = LIST.unpack_from(content, at)
    if magic != LIST_MAGIC:
        return {}
    attributes, at = {}, at + LIST.size
    for _ in range(count):
        value_at, length, _, name_bytes = ENTRY.unpack_from(content, at)
        name = content[at + ENTRY.size : at + ENTRY.size + name_bytes - 1].decode()
        attributes[name] = content[value_at : value_at + length]
        at += _entry_bytes(name)
    return attributes
