"""A packed run: a zip file that may come from anywhere. Only a run's files are taken, by name, each up to a size.

Other files, and what the archive says about paths, sizes and links, are ignored. Python reads the whole list of files,
of which a few megabytes could name a million. So the size of the list is checked before, in the last record, and no
ZIP64 record, which could replace that one, is allowed.
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_FILE_BYTES, one_line, open_file

# The files of a run that are read, and the largest size of each
RUN, TRIALS, SAMPLES = "run.json", "trials.jsonl", "samples.jsonl"
MOST_BYTES = {RUN: MOST_FILE_BYTES, TRIALS: 64 << 20, SAMPLES: 256 << 20}
OPTIONAL, NEEDED = (SAMPLES,), (RUN, TRIALS)
MOST_ZIP_BYTES = 64 << 20
MOST_LISTED = 1000  # files in the list; an exported run has three
MOST_LIST_BYTES = 256 << 10  # of that list; names of 1000 files of a run folder take 120 kB
END, LONGEST_COMMENT = b"PK\x05\x06", 65535  # the last record, and the comment in it
END_FIELDS = struct.Struct("<4x4H2IH")
LOCATOR, LOCATOR_BYTES = b"PK\x06\x07", 20  # of ZIP64; Python follows one right before the last record
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BLOCK = 1 << 16
_BROKEN = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError, OSError,
)  # fmt: skip


def unpack(
    archive: Path, folder: Path, remedy: str = "", shown: str = "", largest: Mapping[str, int] = MOST_BYTES
) -> None:
    """Unpack the files in ``largest``, at the top or all in one folder, up to their sizes. Raises BadInput.

    ``shown`` is the name of the archive in an error, and ``remedy`` what to do.
    """
    folder.mkdir()
    try:
        with open_file(archive, links=True) as file:
            listed = _count_listed(file)
            with zipfile.ZipFile(file) as packed:
                if len(packed.filelist) != listed:
                    raise ValueError(f"it lists {len(packed.filelist):,} files, and says {listed:,}")
                for name, place in _places(packed.namelist(), largest).items():
                    entry = packed.getinfo(place)
                    if entry.compress_type not in METHODS:
                        raise ValueError(f"{name} is packed by an unusual method")
                    if entry.header_offset > MOST_ZIP_BYTES:
                        raise ValueError(f"{name} begins behind the end")
                    with packed.open(place) as content:
                        copy_limited(content, folder / name, largest[name])
    except _BROKEN as error:
        why = one_line(str(error), 200) or type(error).__name__
        raise BadInput(f"{shown or archive}: not a packed run: {why}", remedy) from error


def copy_limited(content: IO[bytes], to: Path, most: int) -> None:
    """Write the rest of ``content`` into a new file. Raises ValueError for more than ``most`` bytes."""
    size = 0
    with to.open("xb") as file:
        while block := content.read(BLOCK):
            size += len(block)
            if size > most:
                raise ValueError(f"{to.name} is larger than {most >> 20} MiB")
            file.write(block)


def _count_listed(file: IO[bytes]) -> int:
    """The number of files that a zip file says it lists. Raises ValueError for a large file or list, or no zip file."""
    size = file.seek(0, os.SEEK_END)
    if size > MOST_ZIP_BYTES:
        raise ValueError(f"larger than {MOST_ZIP_BYTES >> 20} MiB")
    file.seek(max(0, size - LOCATOR_BYTES - END_FIELDS.size - LONGEST_COMMENT))
    before, *records = file.read().split(END)
    if len(records) != 1 or len(records[0]) < END_FIELDS.size - len(END):  # readers could differ on which record counts
        raise ValueError("it does not end as a zip file does")
    *disks, on_disk, listed, list_bytes, list_start, comment_bytes = END_FIELDS.unpack_from(END + records[0])
    if listed > MOST_LISTED or list_bytes > MOST_LIST_BYTES:
        raise ValueError(f"it lists more than {MOST_LISTED} files")
    end = size - len(END) - len(records[0])
    is_plain = not any(disks) and on_disk == listed and before[-LOCATOR_BYTES:][:4] != LOCATOR
    if not is_plain or list_start + list_bytes != end or end + END_FIELDS.size + comment_bytes != size:
        raise ValueError("its last record is of ZIP64, or does not say where its list of files is")
    file.seek(0)
    return int(listed)


def _places(names: list[str], largest: Mapping[str, int]) -> dict[str, str]:
    """The paths of the run's files in an archive, by name. Raises ValueError if it holds none."""
    tops = [
        name.removesuffix(RUN) for name in names if name == RUN or (name.count("/") == 1 and name.endswith(f"/{RUN}"))
    ]
    if len(tops) != 1:
        raise ValueError(f"it holds {len(tops) or 'no'} {RUN}, at its top or in a folder there")
    places = {name: f"{tops[0]}{name}" for name in largest}
    if lacking := [name for name in NEEDED if places[name] not in names]:
        raise ValueError(f"it holds no {lacking[0]} beside {places[RUN]}")
    if doubled := [place for place in places.values() if names.count(place) > 1]:
        raise ValueError(f"it holds {doubled[0]} twice")
    return {name: place for name, place in places.items() if place in names}
