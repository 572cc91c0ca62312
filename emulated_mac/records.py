"""The kernel's answers to programs: plain values by name, because its socket carries nothing else."""

from typing import NotRequired, TypedDict


class MountRecord(TypedDict):
    """A line of the table of mounts; ``flags`` are the words that mount(8) prints."""

    source: str
    target: str
    type: str
    flags: tuple[str, ...]
    uid: int


class ImageDevice(TypedDict):
    """A device of an image; ``hint`` is the type of its partition."""

    device: str
    hint: str
    mounted_at: str


class ImageRecord(TypedDict):
    """An image that is attached, as hdiutil lists it; ``path`` is its file, or ``ram://SECTORS``."""

    path: str
    sectors: int
    uid: int
    pid: int
    devices: list[ImageDevice]


class DiskRecord(TypedDict):
    """A device of an image, and the volume on it; ``type`` and ``name`` are empty where there is none."""

    device: str
    image: str
    size_bytes: int
    uid: int
    type: str
    name: str
    mounted_at: str
    case_sensitive: bool
    journaled: bool


class ServiceRecord(TypedDict):
    """A job of launchd; ``disabled`` is None where nobody has switched it, ``pid`` None where it does not run."""

    label: str
    path: str
    program: str
    disabled: bool | None
    loaded: bool
    pid: int | None


class SharePointRecord(TypedDict):
    """A folder that is shared, and how; :class:`.share_points.SharePoint` has the same fields."""

    name: str
    path: str
    afp_name: str
    ftp_name: str
    smb_name: str
    afp_shared: bool
    ftp_shared: bool
    smb_shared: bool
    afp_guest: bool
    ftp_guest: bool
    smb_guest: bool
    afp_inherit: bool
    smb_inherit: bool
    smb_read_only: bool
    smb_sealed: bool


class SmbSession(TypedDict):
    """What client and server agreed on over SMB; ``required`` is whether the server requires signing.

    ``full_sync`` is whether the server takes part in F_FULLFSYNC (kAAPL_SUPPORTS_FULL_SYNC of its AAPL context),
    ``multichannel`` whether the session may have several channels.
    """

    dialect: str
    capabilities: int
    signing: int
    cipher: int
    required: bool
    client_requires: NotRequired[bool]
    signed: bool
    full_sync: NotRequired[bool]
    multichannel: NotRequired[bool]


class SmbFacts(SmbSession):
    """What smbutil prints of a mounted share."""

    share: str
    server: str
    user_id: int
    options: list[str]


class SmbMount(MountRecord, SmbFacts):
    """A share of SMB in the table of mounts, with its facts."""


class NfsFacts(TypedDict):
    """What nfsstat prints of a mounted export: ``asked`` are options of mount_nfs, ``current`` what is in effect."""

    host: str
    address: str
    path: str
    standard_shown: list[str]
    asked: dict[str, str]
    current: dict[str, int]


class NfsMount(MountRecord, NfsFacts):
    """An export of NFS in the table of mounts, with its facts."""


class PoolRecord(TypedDict):
    """A pool of ZFS that is imported, and its only device."""

    name: str
    device: str
    properties: dict[str, str]
    health: str
