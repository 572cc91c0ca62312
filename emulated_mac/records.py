"""The kernel's answers to programs: plain values by name, because its socket carries nothing else."""

from typing import NotRequired, TypedDict


class MountRecord(TypedDict):
    """A line in the table of mounts; ``flags`` are the words that mount(8) prints."""

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
    """An attached image as hdiutil lists it; ``path`` is its file or ``ram://SECTORS``."""

    path: str
    sectors: int
    uid: int
    pid: int
    devices: list[ImageDevice]


class DiskRecord(TypedDict):
    """A device of an image, and its volume; ``type`` and ``name`` are empty without a volume."""

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
    """A job of launchd; ``disabled`` is None if nobody switched it, ``pid`` None if it does not run."""

    label: str
    path: str
    program: str
    disabled: bool | None
    loaded: bool
    pid: int | None


class SharePointRecord(TypedDict):
    """A shared folder, with the fields of :class:`.share_points.SharePoint`."""

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
    """What client and server agreed on over SMB. ``required``: the server requires signing. ``full_sync``: the server
    supports F_FULLFSYNC (kAAPL_SUPPORTS_FULL_SYNC of its AAPL context). ``multichannel``: the session may have several
    channels.
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
    """What smbutil prints about a mounted share."""

    share: str
    server: str
    user_id: int
    options: list[str]


class SmbMount(MountRecord, SmbFacts):
    """A share of SMB in the table of mounts, with its facts."""


class NfsFacts(TypedDict):
    """What nfsstat prints about a mounted export: ``asked`` has mount_nfs options, ``current`` those in effect."""

    host: str
    address: str
    path: str
    standard_shown: list[str]
    asked: dict[str, str]
    current: dict[str, int]


class NfsMount(MountRecord, NfsFacts):
    """An export of NFS in the table of mounts, with its facts."""


class PoolRecord(TypedDict):
    """An imported pool of ZFS and its only device."""

    name: str
    device: str
    properties: dict[str, str]
    health: str
