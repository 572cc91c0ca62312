"""Why a volume cannot be shared, as `lab check` says it of the server's folder."""

from pathlib import Path

import pytest
from support.checked_macs import Macs, lines_of, machines_of

from lab.check.finding import Finding
from lab.check.storage import VOLUME, check_volume, describe_volume
from lab.hosts.hosts_file import load_hosts
from lab.platforms.macos.mounts import parse_case_sensitive
from lab.protocols.volumes import Volume

PLIST = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>FilesystemName</key><string>{name}</string></dict></plist>
"""
ZFS = "is not shared by AFP: since 10.7 AppleFileServer shares only volumes that are"
MIMIC = "`sudo zfs set com.apple.mimic_hfs=on DATASET`"
CASE_SENSITIVE = Volume("macos", "apfs", (15, 5), is_case_sensitive=True)


@pytest.mark.parametrize(
    ("volume", "level", "message", "remedy"),
    [
        (Volume("macos", "zfs", (10, 15)), "warning", ZFS, MIMIC),
        (CASE_SENSITIVE, "warning", "is shared with losses by NFS, SMB: ", ""),
        (Volume("macos", "exfat", (15, 5)), "note", "may not be shared by ", ""),  # nothing is published about it
    ],
)
def test_a_finding_has_protocols_and_cure(volume: Volume, level: str, message: str, remedy: str) -> None:
    (finding,) = describe_volume("/srv", volume)
    assert (finding.level, finding.remedy[: len(remedy)]) == (level, remedy)
    assert finding.message.startswith(f"/srv is on {volume.kind}, and {message}")


def test_a_volume_that_is_known_to_be_shared_is_well() -> None:
    message = "/srv is on ext4, which no server here is known to refuse"
    assert list(describe_volume("/srv", Volume("linux", "ext4"))) == [Finding("ok", VOLUME, message)]


@pytest.mark.parametrize("name", ["Case-sensitive APFS", "Case-sensitive Journaled HFS+", "APFS", "HFS+"])
def test_a_macs_volume_says_whether_it_is_case_sensitive(name: str) -> None:
    assert parse_case_sensitive(PLIST.format(name=name)) is name.startswith("Case-sensitive")
    with pytest.raises(ValueError, match="not a property list"):
        parse_case_sensitive(f"Could not find disk: {name}")


def test_the_check_reads_the_volume_of_the_servers_folder(macs: Macs) -> None:
    (macs["server"].folder / "bin" / "mount").write_text("#!/bin/sh\necho '/dev/disk4s1 on / (exfat, local)'\n")
    (line,) = lines_of(check_volume(load_hosts(Path("hosts.ini")), machines_of(macs)))
    assert VOLUME in line
    assert "is on exfat, and may not be shared by NFS" in line
