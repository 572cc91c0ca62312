"""Share points: records in the Mac's directory on its disk. sharing(8) writes them, and the file servers read them."""

import plistlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

from .records import SharePointRecord

FOLDER = Path("/private/var/db/dslocal/nodes/Default/sharepoints")


@dataclass
class SharePoint:
    """One folder, with its protocols and its name in each."""

    name: str
    path: str
    afp_name: str
    ftp_name: str
    smb_name: str
    afp_shared: bool = True
    ftp_shared: bool = True
    smb_shared: bool = True
    afp_guest: bool = False
    ftp_guest: bool = False
    smb_guest: bool = False
    afp_inherit: bool = False
    smb_inherit: bool = False
    smb_read_only: bool = False
    smb_sealed: bool = False


def read_all() -> list[SharePoint]:
    """All share points, by name."""
    return [SharePoint(**plistlib.loads(path.read_bytes())) for path in sorted(FOLDER.glob("*.plist"))]


def write(point: SharePoint) -> None:
    """Add a share point, or replace the one of its name."""
    FOLDER.mkdir(mode=0o700, parents=True, exist_ok=True)
    (FOLDER / f"{point.name}.plist").write_bytes(plistlib.dumps(asdict(point)))


def remove(name: str) -> None:
    """Remove a share point. Raises FileNotFoundError."""
    (FOLDER / f"{name}.plist").unlink()


def to_record(point: SharePoint) -> SharePointRecord:
    """A share point as the kernel returns it."""
    return cast("SharePointRecord", asdict(point))


def from_record(record: SharePointRecord) -> SharePoint:
    """The share point from a record. Raises ValueError for unknown keys."""
    if set(record) != {field.name for field in fields(SharePoint)}:
        raise ValueError(f"not a share point: {record}")
    return SharePoint(**record)
