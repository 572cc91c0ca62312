"""What servers make of the file system that a share lies on: what they refuse, why, what helps, and who says so.

A file system is called as the host's table of mounts calls it. Of what no row is about, no refusal is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

HFS = "share a folder on a volume of HFS+ (Disk Utility: Mac OS Extended), or use SMB or NFS"
WITH_ATTRIBUTES = "share a folder on a file system that has them, such as ext4, XFS, Btrfs or ZFS"
FAT = ("exfat", "vfat", "msdos")
LIBERATE = "https://github.com/joshado/liberate-applefileserver"
CHECK_EXPORT = "https://github.com/torvalds/linux/blob/v6.1/fs/nfsd/export.c"
XNU = "https://github.com/apple-oss-distributions/xnu/blob/xnu-4570.1.46/bsd/nfs/nfs_subs.c"
EXFAT = "https://github.com/torvalds/linux/blob/04cee52fb8bdbdb0506460f191ed6fd9e6faf00b/fs/exfat/super.c"


class Verdict(StrEnum):
    """What becomes of a share."""

    REFUSED = "refused"
    """The server does not share it, or no client gets in."""
    IMPAIRED = "impaired"
    """It is shared, and something in it fails."""
    UNPROVEN = "unproven"
    """Nothing that is published says whether it is shared."""


@dataclass(frozen=True, kw_only=True)
class VolumeFact:
    """What the servers of a protocol make of some file systems, on a platform of some versions.

    ``kinds`` are the file systems, a word that ends in a dot for all that begin with it; empty for any but ``spared``.
    ``unless`` is an option of the mount with which it is not so. ``client`` is the only platform whose clients notice;
    empty for any. ``cure`` and ``why`` are statements without a full stop. ``since`` one version, ``before`` another.
    """

    platform: str
    protocol: str
    kinds: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    verdict: Verdict
    why: str
    cure: str
    sources: tuple[str, ...]
    since: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    unless: tuple[str, str] = ("", "")
    client: str = ""
    is_case_sensitive: bool = False


@dataclass(frozen=True)
class Volume:
    """The file system that a shared folder lies on, and the systems at both ends of the share.

    ``version`` is that of the server's system, empty where it is not known. ``client`` is the client's platform.
    """

    platform: str
    kind: str
    version: tuple[int, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    is_case_sensitive: bool = False
    client: str = ""


FACTS = (
    VolumeFact(
        platform="macos", protocol="afp", kinds=("zfs",), since=(10, 7), before=(11, 0), verdict=Verdict.REFUSED,
        why="AppleFileServer asks whether a volume is called HFS+, since 10.7, and ZFS is not",
        cure="`sudo zfs set com.apple.mimic_hfs=on DATASET` (of OpenZFS 2: `com.apple.mimic=hfs`) has it taken for HFS+"
        ", and for not mounted by `zfs unmount`, in place of which `umount` does it",
        sources=(
            LIBERATE, "https://github.com/openzfsonosx/zfs/issues/355", "https://github.com/openzfsonosx/zfs/issues/296",
            "https://github.com/openzfsonosx/openzfs/issues/50",
        ),
    ),
    VolumeFact(
        platform="macos", protocol="afp", kinds=("apfs",), since=(10, 13), before=(11, 0), verdict=Verdict.REFUSED,
        why="AFP does not work with APFS", cure=HFS, sources=("https://techterms.com/definition/afp",),
    ),
    VolumeFact(
        platform="macos", protocol="afp", spared=("hfs",), since=(10, 7), before=(11, 0), verdict=Verdict.REFUSED,
        why="since 10.7 AppleFileServer shares no volume but of HFS+", cure=HFS, sources=(LIBERATE,),
    ),
    VolumeFact(
        platform="macos", protocol="smb", kinds=("zfs",), before=(10, 9), verdict=Verdict.IMPAIRED,
        why="on 10.8.5 files of MacZFS were listed over SMB, and to save one hung",
        cure="use AFP, or OpenZFS on a later macOS", sources=("https://github.com/openzfsonosx/zfs/issues/54",),
    ),
    VolumeFact(
        platform="macos", protocol="nfs", kinds=("osxfuse", "osxfusefs", "macfuse", "fusefs", "fuse."),
        verdict=Verdict.REFUSED,
        why="nfsd says `NFS exporting not supported by fstype`, for FUSE makes no file handles there",
        cure="share a folder on HFS+ or APFS, or use SMB", sources=("https://github.com/macfuse/macfuse/issues/53",),
    ),
    VolumeFact(
        platform="macos", protocol="nfs", spared=("hfs", "apfs", "zfs"), verdict=Verdict.UNPROVEN,
        why="the kernel exports a file system only where that makes file handles and has the extended readdir; of this "
        "one that is not known",
        cure="`nfsd -F FILE checkexports` there tells, of a FILE with the line of /etc/exports", sources=(XNU,),
    ),
    VolumeFact(
        platform="linux", protocol="nfs", kinds=("exfat",), verdict=Verdict.REFUSED,
        why="Linux makes no file handles for exFAT: exportfs says `does not support NFS export`, Ganesha `Operation "
        "not supported`",
        cure="share a folder on another file system, such as ext4, or use SMB",
        sources=(
            EXFAT, CHECK_EXPORT, "https://github.com/arter97/exfat-linux/issues/21",
            "https://github.com/nfs-ganesha/nfs-ganesha/issues/1023",
        ),
    ),
    VolumeFact(
        platform="linux", protocol="nfs", kinds=("overlay",), unless=("nfs_export", "on"), verdict=Verdict.REFUSED,
        why="overlayfs makes file handles only where it was mounted so",
        cure="mount it with `nfs_export=on`, or share a folder that lies on no overlay",
        sources=(
            CHECK_EXPORT,
            "https://git.zx2c4.com/linux-dev/commit/?id=8383f1748829e1a6a07988863ed13a47fb653387",
        ),
    ),
    VolumeFact(
        platform="linux", protocol="nfs", kinds=("fuse.",), verdict=Verdict.IMPAIRED,
        why="FUSE has no number of its own to know an export by, and may forget what a file handle stands for",
        cure="`fsid=NUMBER` in its line of /etc/exports, and expect stale file handles; or use SMB",
        sources=(CHECK_EXPORT, "https://github.com/andrekandore/fuse/blob/master/README.NFS"),
    ),
    VolumeFact(
        platform="linux", protocol="smb", kinds=FAT, client="macos", verdict=Verdict.IMPAIRED,
        why="it has no extended attributes, in which Samba's fruit keeps a Mac's metadata: its files may arrive empty",
        cure=WITH_ATTRIBUTES,
        sources=(
            "https://github.com/openwrt/packages/issues/23688", "https://github.com/dperson/samba/issues/294",
        ),
    ),
    VolumeFact(
        platform="linux", protocol="afp", kinds=FAT, verdict=Verdict.IMPAIRED,
        why="it has no extended attributes, and without them netatalk drops those that a Mac sends, or keeps them in "
        "folders named .AppleDouble, by its version",
        cure=f"`ea = ad` in afp.conf, or {WITH_ATTRIBUTES}",
        sources=(
            "https://github.com/Netatalk/netatalk/pull/2103", "https://github.com/Netatalk/netatalk/pull/3060",
        ),
    ),
    *(
        VolumeFact(
            platform="macos", protocol=protocol, kinds=("hfs", "apfs", "zfs"), is_case_sensitive=True,
            before=(11, 0) if protocol == "afp" else (), verdict=Verdict.IMPAIRED,
            why="it tells Name from name, and programs that ask for a file in another case do not find it",
            cure="share a folder on a volume that is not case-sensitive, where such programs are used",
            sources=("https://apple.stackexchange.com/questions/46322",),
        )
        for protocol in ("afp", "smb", "nfs")
    ),
)  # fmt: skip


def facts_about(protocol: str, volume: Volume) -> Iterator[VolumeFact]:
    """What is known of sharing this volume by a protocol: the closest fact, and what its case-sensitivity brings."""
    fitting = [fact for fact in FACTS if fact.protocol == protocol and _fits(fact, volume)]
    yield from [fact for fact in fitting if not fact.is_case_sensitive][:1]
    yield from [fact for fact in fitting if fact.is_case_sensitive][:1]


def _fits(fact: VolumeFact, volume: Volume) -> bool:
    name, value = fact.unless
    return (
        fact.platform == volume.platform
        and _is_among(volume.kind, fact.kinds, fact.spared)
        and (not volume.version or fact.since <= volume.version)
        and (not volume.version or not fact.before or volume.version < fact.before)
        and fact.client in ("", volume.client)
        and (volume.is_case_sensitive or not fact.is_case_sensitive)
        and not (name and volume.options.get(name) == value)
    )


def _is_among(kind: str, kinds: tuple[str, ...], spared: tuple[str, ...]) -> bool:
    return any(kind.startswith(word) if word.endswith(".") else kind == word for word in kinds) or (
        not kinds and kind not in spared
    )
