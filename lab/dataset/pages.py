"""The pages of a file of Parquet, by their headers: a reader reserves and unpacks what these say, whatever the footer
says.

Headers are structs of Thrift in its compact protocol: https://parquet.apache.org/docs/file-format/data-pages/.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DATA, DICTIONARY = 0, 2  # the kinds of pages that the lab, pyarrow and DuckDB write for it
# PLAIN, PLAIN_DICTIONARY, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY: none of which repeats texts of a page before
ENCODINGS = frozenset({0, 2, 3, 5, 8})
_LONGEST_HEADER = 20 << 10  # with the least and the largest value, twice: pyarrow leaves out what is over 4 KiB
_DEEPEST = 3
_YES, _NO, _INTEGERS, _BYTES, _STRUCT = 1, 2, (4, 5, 6), 8, 12  # types of Thrift


@dataclass(frozen=True)
class Page:
    """What its header says: the kind, the bytes of its content unpacked and as it is, and how many values it has."""

    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int


def pages(descriptor: int, start: int, end: int) -> Iterator[Page]:
    """The pages of a file from byte ``start`` to byte ``end``. Raises ValueError where other than whole pages stand
    there, or such as the lab does not write.
    """
    while start < end:
        page, length = _page(os.pread(descriptor, min(_LONGEST_HEADER, end - start), start))
        start += length + page.packed
        yield page
    if start != end:
        raise ValueError("a page that is longer than its column")


def _page(content: bytes) -> tuple[Page, int]:
    """The page whose header begins here, and the bytes of that."""
    try:
        fields, length = _struct(content, 0)
        kind = fields[1]
        about = fields[{DATA: 5, DICTIONARY: 7}[kind]]
        page = Page(kind, fields[2], fields[3], about[1], about[2])
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError("a page without a header that the lab writes") from error
    if min(page.unpacked, page.packed, page.values) < 0 or page.encoding not in ENCODINGS:
        raise ValueError(f"a page of {page.unpacked:,} bytes and {page.values:,} values by encoding {page.encoding}")
    return page, length


def _struct(content: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """The fields of a struct by number, those of bytes as None, and where it ends. Raises IndexError, ValueError."""
    fields: dict[int, Any] = {}
    number = 0
    value: Any
    while head := content[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(content, at)
        kind = head & 15
        if kind in (_YES, _NO):
            value = kind == _YES
        elif kind in _INTEGERS:
            value, at = _integer(content, at)
        elif kind == _BYTES:
            length, at = _varint(content, at)
            value, at = None, at + length
        elif kind == _STRUCT and depth < _DEEPEST:
            value, at = _struct(content, at, depth + 1)
        else:
            raise ValueError("a page without a header that the lab writes")
        fields[number] = value
    return fields, at + 1


def _integer(content: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(content, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := content[at]) & 0x80 and shift < 63:
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | byte << shift, at + 1
