"""Checks of a Parquet file from anywhere, by its footer and the headers of its pages, before anything is unpacked.

Both may claim anything, and equal values take no room: a kilobyte can be a million rows, a page a gigabyte. So rows,
columns and unpacked bytes are limited to what the lab writes into so many bytes, with the lab's types, compression and
encodings only. Beyond that DuckDB's memory is the bound (:data:`lab.dataset.engine.MEMORY_BYTES`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.base.os_errors import reason_of
from lab.base.untrusted import first_line, one_line
from lab.dataset.register import StoredFile, Table
from lab.results.export_table import MOST_COLUMNS, Kind, kinds

if TYPE_CHECKING:
    from pyarrow import parquet

SCHEMA = 1  # of the folder, and of its files of Parquet
GROUP_ROWS = 122_880  # of a row group: a thread of DuckDB takes one at once
MOST_ROWS = 1 << 20  # of a file; a run with more trials has several
CELLS_A_BYTE = 32  # rows × columns; a million trials have 1.4
UNPACKED_A_BYTE = 32  # bytes of pages; a million trials have 2
_UNPACKED = 1 << 20  # of a small file
_MOST_FOOTER_BYTES = 2 << 20  # a million trials in 100 columns by 64 threads of DuckDB have 1 MB
MAGIC = b"PAR1"  # a file begins and ends with it
# The columns that statistics read, with their types, by table
NEEDED: Mapping[Table, Mapping[str, str]] = {
    "trials": {
        "case_number": "int32", "block_number": "int32", "status": "string", "anchor": "bool", "size_bytes": "int64",
        "elapsed_s": "double", "ceiling_bytes_per_s": "double", "run_id": "string", "trial_id": "string",
        "position": "int64", "files": "int64",
    },
    "observed": {"run_id": "string", "trial_id": "string"},
    "limits": {
        "case_number": "int32", "block_number": "int32", "limited_by": "string", "grade": "string",
        "headroom": "double", "evidence": "string",
    },
}  # fmt: skip
_TYPES: dict[Kind, str] = {str: "string", int: "int64", float: "double", bool: "bool"}
# The types of columns by their physical and logical types, as pyarrow and DuckDB write them
_STORED = {
    "INT32 None": "int32", "INT32 Int(bitWidth=32, isSigned=true)": "int32", "INT64 None": "int64",
    "INT64 Int(bitWidth=64, isSigned=true)": "int64", "DOUBLE None": "double", "BOOLEAN None": "bool",
    "BYTE_ARRAY String": "string", "INT64 Timestamp(isAdjustedToUTC=true, timeUnit=microseconds": "time",
}  # fmt: skip
DATA, DICTIONARY = 0, 2  # the kinds of pages that the lab writes
# PLAIN, PLAIN_DICTIONARY, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY: none repeats texts of an earlier page
ENCODINGS = frozenset({0, 2, 3, 5, 8})
_LONGEST_HEADER = 20 << 10  # with the least and the largest value twice, 4 KiB each at most
_DEEPEST = 3
_YES, _NO, _INTEGERS, _BYTES, _STRUCT = 1, 2, (4, 5, 6), 8, 12  # types of Thrift


def is_labs(file: io.FileIO) -> bool:
    """Whether a whole file says that it belongs to a dataset of any schema. Raises OSError."""
    try:
        return b"dataset_schema" in (_read_footer(file).metadata or {})
    except ValueError:
        return False


def problem(file: io.FileIO, stored: StoredFile, *, whole: bool = False) -> str:
    """The problem of a file by footer and pages (of all columns if ``whole``, else of NEEDED) or "". Raises OSError."""
    try:
        metadata = _read_footer(file)
        _check_counts(metadata, stored)
        _check_pages(file.fileno(), metadata, list(_columns(metadata, stored, whole)), stored.size_bytes)
    except ValueError as error:
        return str(error)
    return ""


def _read_footer(file: io.FileIO) -> parquet.FileMetaData:
    """The footer of a file. Raises ValueError if it is not whole, and OSError."""
    import pyarrow as pa
    from pyarrow import parquet

    size = os.fstat(file.fileno()).st_size
    end = os.pread(file.fileno(), 8, max(0, size - 8))
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or not 0 < length <= min(size - 12, _MOST_FOOTER_BYTES):
        raise ValueError("not a whole file of Parquet: it does not end as one does")
    try:
        limits = {"thrift_string_size_limit": 1 << 20, "thrift_container_size_limit": 1 << 16}
        with parquet.ParquetFile(file, **limits) as opened:
            return opened.metadata
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"not a whole file of Parquet: {first_line(reason_of(error))}") from error


def _check_counts(metadata: parquet.FileMetaData, stored: StoredFile) -> None:
    """Raise ValueError for another schema, and for more rows and columns than the lab writes into so many bytes."""
    written = (metadata.metadata or {}).get(b"dataset_schema")
    if written != str(SCHEMA).encode():
        writer = one_line((written or b"none").decode(errors="replace"), 20)
        raise ValueError(f"is of schema {writer} of a dataset, not of {SCHEMA}")
    rows = metadata.num_rows
    if rows != stored.rows:
        raise ValueError(f"has {rows:,} rows, and had {stored.rows:,} when it was written")
    groups = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    if min(groups, default=0) < 0 or sum(groups) != rows:
        raise ValueError(f"has {rows:,} rows, and {sum(groups):,} in its parts")
    if rows > MOST_ROWS or rows * metadata.num_columns > CELLS_A_BYTE * stored.size_bytes:
        raise ValueError(f"{rows:,} rows of {metadata.num_columns:,} columns: more than a run has in so many bytes")


def _columns(metadata: parquet.FileMetaData, stored: StoredFile, whole: bool) -> Iterator[int]:
    """The places of the columns that are read. Raises ValueError for a column that the lab does not write."""
    counted = kinds() if stored.table == "observed" else {}
    lacking = dict(NEEDED[stored.table])
    names: set[str] = set()
    for place in range(metadata.num_columns):
        column = metadata.schema.column(place)
        name, kind = column.path, _type_of(column)
        if name.casefold() in names:
            raise ValueError(f"column {one_line(name, 80)} is there twice")
        names.add(name.casefold())
        needed = lacking.pop(name, None) or (_TYPES[counted[name]] if name in counted else "")
        if not kind or needed not in ("", kind):
            expected = f": should be {needed}" if needed else ""
            actual = kind or "of a type that the lab does not write"
            raise ValueError(f"column {one_line(name, 80)} is {actual}{expected}")
        if whole or needed:
            yield place
    for name, kind in lacking.items():
        raise ValueError(f"column {name} is missing: should be {kind}")
    if metadata.num_columns > MOST_COLUMNS:
        raise ValueError(f"{metadata.num_columns:,} columns: at most {MOST_COLUMNS:,}")


def _type_of(column: parquet.ColumnSchema) -> str:
    """The type of a column; empty if the lab writes no such type, or if it has lists or columns inside."""
    if column.max_repetition_level or column.max_definition_level > 1 or column.path != column.name:
        return ""
    return _STORED.get(f"{column.physical_type} {column.logical_type}".partition(", is_from")[0], "")


def _check_pages(descriptor: int, metadata: parquet.FileMetaData, columns: Collection[int], size_bytes: int) -> None:
    """Raise ValueError if the lab would not write such pages of these columns, or for too many unpacked bytes."""
    places, unpacked, most = [], 0, _UNPACKED + UNPACKED_A_BYTE * size_bytes
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in columns:
            start, end = _place(group.column(place))
            places.append((start, end))
            unpacked += _check_column(descriptor, start, end, group.num_rows)
            if unpacked > most:
                raise ValueError(f"more than {most:,} bytes where it is unpacked, of {size_bytes:,}")
    places.sort()
    ends = [end for _, end in places]
    if any(start < end for (start, _), end in zip(places[1:], ends, strict=False)) or ends[-1:] > [size_bytes]:
        raise ValueError("a column that stands where another one does, or nothing")


def _place(column: parquet.ColumnChunkMetaData) -> tuple[int, int]:
    """The first byte of a column of a row group, and the byte after its last."""
    start, first, length = column.data_page_offset, column.dictionary_page_offset, column.total_compressed_size
    if first is not None:
        if start and first >= start:  # 0 without rows
            raise ValueError("a dictionary that does not stand before what it is of")
        start = first
    if length < 0 or (length and start < len(MAGIC)):
        raise ValueError(f"a column of {length:,} bytes at byte {start:,}")
    if column.compression != "ZSTD":
        raise ValueError(f"a column by {column.compression}: the lab writes ZSTD")
    return start, start + length


def _check_column(descriptor: int, start: int, end: int, rows: int) -> int:
    """The unpacked bytes of a column's pages. Raises ValueError unless they have ``rows`` values."""
    values = unpacked = 0
    for page in pages(descriptor, start, end):
        unpacked += page.unpacked
        if page.kind == DATA:
            values += page.values
        elif values or page.values > rows:
            raise ValueError(f"a dictionary of {page.values:,} values for {rows:,} rows")
    if values != rows:
        raise ValueError(f"a column of {values:,} values for {rows:,} rows")
    return unpacked


@dataclass(frozen=True)
class Page:
    """The header of a page: its kind, the bytes of its content unpacked and packed, its values and their encoding."""

    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int


def pages(descriptor: int, start: int, end: int) -> Iterator[Page]:
    """The pages of a file from byte ``start`` to byte ``end``. Raises ValueError unless the lab writes such pages."""
    while start < end:
        page, length = _page(os.pread(descriptor, min(_LONGEST_HEADER, end - start), start))
        start += length + page.packed
        yield page
    if start != end:
        raise ValueError("a page that is longer than its column")


def _page(content: bytes) -> tuple[Page, int]:
    """The page whose header begins here, and the header's length."""
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
    """The fields of a Thrift struct by number (bytes as None), and its end. Raises IndexError, ValueError."""
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
