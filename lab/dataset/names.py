"""What the files of a dataset are called: no other is read, written or removed."""

from __future__ import annotations

import hashlib
import re
import string
from typing import Literal, TypeAlias, get_args

Table: TypeAlias = Literal["trials", "observed", "limits"]
TABLES: tuple[Table, ...] = get_args(Table)
_PLAIN = frozenset(string.ascii_letters + string.digits + "-_.")
_LONGEST = 100
LONGEST_ID = 400  # characters of the id of a run or a trial, which each row has: that of a run may be its folder's name
FOLDER = re.compile(r"sweep=[A-Za-z0-9_.%-]*")
FILE = re.compile(r"(?:run=[A-Za-z0-9_.%-]*|joined=[0-9]+-[0-9a-f]{12})\.parquet")
PART = re.compile(rf"\.{FILE.pattern}\.[0-9a-f]{{12}}")  # of a file that is being written


def name_of(text: str) -> str:
    """A text as a part of a path: other characters as ``%2F``, and what is too long by its hash."""
    quoted = "".join(sign if sign in _PLAIN else "".join(f"%{byte:02X}" for byte in sign.encode()) for sign in text)
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[: _LONGEST // 2]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def folder_of(sweep: str) -> str:
    """The name of the folder of a sweep, in each of TABLES."""
    return f"sweep={name_of(sweep)}"


def is_own(path: str, table: Table, sweep: str) -> bool:
    """Whether this is the path, in a dataset, of a file of this table and sweep."""
    folder, _, name = path.rpartition("/")
    return folder == f"{table}/{folder_of(sweep)}" and bool(FILE.fullmatch(name))
