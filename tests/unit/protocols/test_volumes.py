"""What servers refuse of a file system: every row of the table fits what it is about, and nothing else."""

import itertools

import pytest

from lab import protocols
from lab.protocols.volumes import FACTS, Volume, facts_about

MAC, OLD_MAC = (10, 15), (10, 6)


def verdicts_about(protocol: str, volume: Volume) -> list[tuple[str, str]]:
    """What happens to a share of this volume, and the cure."""
    return [(fact.verdict.value, fact.cure) for fact in facts_about(protocol, volume)]


@pytest.mark.parametrize(
    ("protocol", "volume", "verdict", "cure"),
    [
        ("afp", Volume("macos", "zfs", MAC), "refused", "`sudo zfs set com.apple.mimic_hfs=on DATASET`"),
        ("afp", Volume("macos", "apfs", (10, 13)), "refused", "share a folder on a volume of HFS+"),
        ("afp", Volume("macos", "exfat", (10, 7)), "refused", "share a folder on a volume of HFS+"),
        ("smb", Volume("macos", "zfs", (10, 8)), "impaired", "use AFP, or OpenZFS on a later macOS"),
        ("nfs", Volume("macos", "macfuse", MAC), "refused", "share a folder on HFS+ or APFS, or use SMB"),
        ("nfs", Volume("macos", "exfat", (15, 5)), "unproven", "`nfsd -F FILE checkexports` there tells"),
        ("nfs", Volume("linux", "exfat"), "refused", "share a folder on another file system, such as ext4"),
        ("nfs", Volume("linux", "overlay"), "refused", "mount it with `nfs_export=on`"),
        ("nfs", Volume("linux", "fuse.mergerfs"), "impaired", "`fsid=NUMBER` in its line of /etc/exports"),
        ("smb", Volume("linux", "vfat", client="macos"), "impaired", "share a folder on a file system that has them"),
        ("afp", Volume("linux", "exfat"), "impaired", "`ea = ad` in afp.conf"),
        ("smb", Volume("macos", "apfs", MAC, is_case_sensitive=True), "impaired", "share a folder on a volume that is"),
        ("afp", Volume("macos", "apfs", MAC, is_case_sensitive=True), "refused impaired", "share a folder on a volume"),
        ("afp", Volume("macos", "zfs"), "refused", "`sudo zfs set com"),  # the version is not known
    ],
)
def test_what_a_server_refuses_is_told_with_what_helps(protocol: str, volume: Volume, verdict: str, cure: str) -> None:
    rows = verdicts_about(protocol, volume)
    assert ([row[0] for row in rows], rows[0][1][: len(cure)]) == (verdict.split(), cure)


@pytest.mark.parametrize(
    ("protocol", "volume"),
    [
        *((name, Volume("macos", "hfs", MAC)) for name in ("afp", "smb", "nfs")),
        *((name, Volume("macos", "apfs", (15, 5))) for name in ("afp", "smb", "nfs")),  # it has no AFP server
        *((name, Volume("linux", kind)) for name in ("afp", "smb", "nfs") for kind in ("ext4", "xfs", "btrfs", "zfs")),
        ("afp", Volume("macos", "zfs", OLD_MAC)),  # which shared whatever there was
        ("smb", Volume("macos", "zfs", (10, 9))), ("smb", Volume("macos", "exfat", MAC)),
        ("nfs", Volume("macos", "zfs", MAC)), ("nfs", Volume("linux", "overlay", options={"nfs_export": "on"})),
        ("nfs", Volume("linux", "vfat")), ("nfs", Volume("linux", "fuseblk")),
        ("smb", Volume("linux", "exfat", client="linux")),
    ],
)  # fmt: skip
def test_of_what_no_source_says_that_it_is_refused_nothing_is_said(protocol: str, volume: Volume) -> None:
    assert verdicts_about(protocol, volume) == []


def test_each_row_has_its_sources_and_can_be_told_of_some_volume() -> None:
    for fact in FACTS:
        assert fact.protocol in protocols.by_name()
        assert fact.sources
        assert all(source.startswith("https://") for source in fact.sources)
        assert not fact.why.endswith(".")
        kinds = [f"{kind}x" if kind.endswith(".") else kind for kind in fact.kinds] or ["ntfs"]
        volumes = [
            Volume(fact.platform, kind, version, {}, fact.is_case_sensitive, fact.client)
            for kind, version in itertools.product(kinds, [fact.since, fact.since or OLD_MAC])
        ]
        assert any(fact in facts_about(fact.protocol, volume) for volume in volumes)
