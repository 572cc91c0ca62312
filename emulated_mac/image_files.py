"""Disk images in files, as hdiutil makes them: a growing file, a folder of bands, or a file of the full size. The first
bytes tell the type of an image. A volume's content is in memory (:mod:`.kernel.volumes`), never in the file.
"""

import os
import plistlib
import struct
from pathlib import Path

from . import bsd_getopt

SECTOR_BYTES = 512
ENDINGS = {"SPARSE": ".sparseimage", "SPARSEBUNDLE": ".sparsebundle", "UDIF": ".dmg"}
# Header of a sparse image, big-endian: magic, version, sectors of a band, flags, sectors of the image (source: libmodi)
SPARSE_HEADER = struct.Struct(">4sIIII")
SECTORS_OF_A_BAND = 2048
BUNDLE_TYPE = "com.apple.diskimage.sparsebundle"
TAKES = {"-sectors", "-type", "-layout", "-o"}
USAGE = "Usage:\thdiutil create <sizespec> <imagepath>"


def create(words: list[str]) -> int:
    """An empty image: ``-sectors N``, ``-type``, ``-layout NONE``, and its path. Any other form is not emulated."""
    values: dict[str, str] = {}
    names: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in TAKES:
            values[word] = next(rest, "")
        elif word.startswith("-") and word != "-quiet":
            bsd_getopt.fail_as_not_emulated("hdiutil create", word)
        elif word != "-quiet":
            names.append(word)
    names += [values["-o"]] if "-o" in values else []
    sectors, kind = values.get("-sectors", ""), values.get("-type", "UDIF").upper()
    if len(names) != 1 or not sectors.isdigit() or kind not in ENDINGS:
        bsd_getopt.fail_with_usage(USAGE)
    if values.get("-layout", "").upper() != "NONE":
        bsd_getopt.fail_as_not_emulated("hdiutil create", "with a map of partitions")
    path = Path(names[0] if names[0].endswith(ENDINGS[kind]) else names[0] + ENDINGS[kind])
    try:
        _make(path, kind, int(sectors))
    except OSError as error:
        bsd_getopt.fail(f"hdiutil: create failed - {error.strerror}")
    if "-quiet" not in words:
        print(f"created: {path.absolute()}")
    return 0


def _make(path: Path, kind: str, sectors: int) -> None:
    if kind == "SPARSEBUNDLE":
        path.mkdir()
        info = {
            "band-size": SECTORS_OF_A_BAND * 8 * SECTOR_BYTES, "bundle-backingstore-version": 1,
            "diskimage-bundle-type": BUNDLE_TYPE, "size": sectors * SECTOR_BYTES,
        }  # fmt: skip
        for name in ("Info.plist", "Info.bckup"):
            (path / name).write_bytes(plistlib.dumps(info))
        (path / "bands").mkdir()
        (path / "token").touch()
        return
    with path.open("xb") as file:
        if kind == "SPARSE":
            file.write(SPARSE_HEADER.pack(b"sprs", 3, SECTORS_OF_A_BAND, 1, sectors))
        else:
            os.truncate(file.fileno(), sectors * SECTOR_BYTES)


def sectors_of(name: str) -> int:
    """The size of an image in sectors. If the file is no image, the program ends as hdiutil does."""
    try:
        return _read_sectors(Path(name))
    except OSError as error:
        bsd_getopt.fail(f"hdiutil: attach failed - {error.strerror}")
    except (ValueError, LookupError, struct.error):  # plistlib raises ValueError if the file is no property list
        bsd_getopt.fail("hdiutil: attach failed - image not recognized")


def _read_sectors(path: Path) -> int:
    if path.is_dir():
        return int(plistlib.loads((path / "Info.plist").read_bytes())["size"]) // SECTOR_BYTES
    with path.open("rb") as file:
        head = file.read(SPARSE_HEADER.size)
    if head[:4] == b"sprs":
        return int(SPARSE_HEADER.unpack(head)[4])
    if path.suffix != ENDINGS["UDIF"] or not path.stat().st_size:
        raise ValueError("no image")
    return path.stat().st_size // SECTOR_BYTES
