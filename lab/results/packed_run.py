"""A run in a zip file, which may come from anywhere: its files are taken by name, each up to a size, and nothing else.

What else a zip file holds, and what it says of paths, sizes and links, counts for nothing. The list of its content,
which Python reads as a whole, is looked at first: a few megabytes of it could name a million files.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_FILE_BYTES, one_line, open_file

# Names of the files of a run that are read, and how large each may be at the most
RUN, TRIALS, SAMPLES = "run.json", "trials.jsonl", "samples.jsonl"
MOST_BYTES = {RUN: MOST_FILE_BYTES, TRIALS: 64 << 20, SAMPLES: 256 << 20}
OPTIONAL, NEEDED = (SAMPLES,), (RUN, TRIALS)
MOST_ZIP_BYTES = 64 << 20
MOST_LISTED = 1000  # files that a zip file may list: that of an exported run lists three
MOST_LIST_BYTES = 1 << 20
END, END_BYTES, LONGEST_END = b"PK\x05\x06", 22, 22 + 65535  # the record that ends a zip file, which may have a comment
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BLOCK = 1 << 16
_BROKEN = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError, OSError,
)  # fmt: skip


def unpack(
    archive: Path, folder: Path, remedy: str = "", shown: str = "", largest: Mapping[str, int] = MOST_BYTES
) -> None:
    """Make the new folder ``folder`` a run folder of a packed run. Raises BadInput for a file that holds none.

    The files of the run are at the top of the archive, or all in one folder there. ``shown`` is what an error calls it,
    and ``largest`` has the names that are taken, each with the most bytes that it may have.
    """
    folder.mkdir()
    try:
        with open_file(archive, links=True) as file:
            _check_list(file)
            with zipfile.ZipFile(file) as packed:
                for name, place in _places(packed.namelist(), largest).items():
                    if packed.getinfo(place).compress_type not in METHODS:
                        raise ValueError(f"{name} is packed by an unusual method")
                    with packed.open(place) as content:
                        copy_limited(content, folder / name, largest[name])
    except _BROKEN as error:
        why = one_line(str(error), 200) or type(error).__name__
        raise BadInput(f"{shown or archive}: not a packed run: {why}", remedy) from error


def copy_limited(content: IO[bytes], to: Path, most: int) -> None:
    """Write what is left of ``content`` into a new file. Raises ValueError for more than ``most`` bytes."""
    size = 0
    with to.open("xb") as file:
        while block := content.read(BLOCK):
            size += len(block)
            if size > most:
                raise ValueError(f"{to.name} is larger than {most >> 20} MiB")
            file.write(block)


def _check_list(file: IO[bytes]) -> None:
    """Raise ValueError for a file that is too large, is no zip file, or lists more than the files of a run."""
    size = file.seek(0, os.SEEK_END)
    if size > MOST_ZIP_BYTES:
        raise ValueError(f"larger than {MOST_ZIP_BYTES >> 20} MiB")
    file.seek(max(0, size - LONGEST_END))
    end = file.read(LONGEST_END)
    record = end[end.rfind(END) :]
    if end.count(END) != 1 or len(record) < END_BYTES:  # of several records another reader may take another one
        raise ValueError("it does not end as a zip file does")
    listed, list_bytes = int.from_bytes(record[10:12], "little"), int.from_bytes(record[12:16], "little")
    if listed > MOST_LISTED or list_bytes > MOST_LIST_BYTES:
        raise ValueError(f"it lists more than {MOST_LISTED} files")
    file.seek(0)


def _places(names: list[str], largest: Mapping[str, int]) -> dict[str, str]:
    """Where the files of the run stand in an archive, by name. Raises ValueError where they stand nowhere."""
    tops = [
        name.removesuffix(RUN) for name in names if name == RUN or (name.count("/") == 1 and name.endswith(f"/{RUN}"))
    ]
    if len(tops) != 1:
        raise ValueError(f"it holds {len(tops) or 'no'} {RUN}, at its top or in a folder there")
    places = {name: f"{tops[0]}{name}" for name in largest}
    if lacking := [name for name in NEEDED if places[name] not in names]:
        raise ValueError(f"it holds no {lacking[0]} beside {places[RUN]}")
    return {name: place for name, place in places.items() if place in names}
