"""Parquet files with footers and pages that no writer makes, edited in Thrift's compact protocol."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

# Types of Thrift
TRUE, FALSE, BYTE, I16, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12
Struct = dict[int, tuple[int, Any]]  # the type and the value of each field
# Fields of the footer, of a row group, a column and what it says of itself
ROWS, GROUPS, COLUMNS, GROUP_ROWS, ABOUT = 3, 4, 1, 3, 3
CODEC, PACKED, DATA_OFFSET, DICTIONARY_OFFSET = 4, 7, 9, 11


def encode(fields: Struct) -> bytes:
    made, before = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        made += bytes([(number - before) << 4 | kind]) + _encode(kind, value)
        before = number
    return made + b"\0"


def _encode(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value & 255])
    if kind in (I16, I32, I64):
        return _varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == STRUCT:
        return encode(value)
    of, values = value
    head = bytes([len(values) << 4 | of]) if len(values) < 15 else bytes([0xF0 | of]) + _varint(len(values))
    return head + b"".join(_encode(of, item) for item in values)


def _varint(value: int) -> bytes:
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


class _Reader:
    def __init__(self, content: bytes):
        self.content, self.at = content, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.take(1)[0]) & 128:
            value, shift = value | (byte & 127) << shift, shift + 7
        return value | byte << shift

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.value(I16)
            fields[number] = (head & 15, self.value(head & 15))
        return fields

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return None
        if kind == BYTE:
            return self.take(1)[0]
        if kind in (I16, I32, I64):
            number = self.varint()
            return (number >> 1) ^ -(number & 1)
        if kind == BINARY:
            return self.take(self.varint())
        if kind == STRUCT:
            return self.struct()
        head = self.take(1)[0]
        count = head >> 4 if head >> 4 < 15 else self.varint()
        return head & 15, [self.value(head & 15) for _ in range(count)]


def edit(path: Path, change: Callable[[Struct], object], more: bytes = b"") -> None:
    """Change the footer of a file, and put more bytes in front of it."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = _Reader(content[start:-8]).struct()
    change(footer)
    made = encode(footer)
    path.write_bytes(content[:start] + more + made + len(made).to_bytes(4, "little") + b"PAR1")


def columns(footer: Struct) -> dict[str, Struct]:
    group = footer[GROUPS][1][1][0][COLUMNS][1][1]
    abouts = [column[ABOUT][1] for column in group]
    return {b".".join(about[3][1][1]).decode(): about for about in abouts}


def place(path: Path, name: str, pages: bytes, **fields: int) -> None:
    """Replace the pages of a column."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")

    def change(footer: Struct) -> None:
        about = columns(footer)[name]
        about.pop(DICTIONARY_OFFSET, None)
        about[DATA_OFFSET], about[PACKED] = (I64, start), (I64, fields.get("packed", len(pages)))

    edit(path, change, pages)


def page(content: bytes, values: int, *, encoding: int = 0, unpacked: int | None = None, kind: int = 0) -> bytes:
    """A page with this content, and a header that may state something else."""
    zipped: bytes = pa.Codec("zstd").compress(content, asbytes=True)
    about: Struct = {1: (I32, values), 2: (I32, encoding)} | ({} if kind == 2 else {3: (I32, 3), 4: (I32, 3)})
    header: Struct = {1: (I32, kind), 2: (I32, len(content) if unpacked is None else unpacked), 3: (I32, len(zipped))}
    return encode(header | {{0: 5, 2: 7}.get(kind, 8): (STRUCT, about)}) + zipped
