"""Why a volume cannot be shared, as `lab check` says it of the server's folder."""

from pathlib import Path

import pytest
from support.checked_macs import lines_of, machines_of
from support.fake_host import EmulatedHost

from lab.check.volume import SUBJECT, describe, findings
from lab.hosts.hosts_file import load_hosts
from lab.platforms.macos.mounts import parse_case_sensitive
from lab.protocols.volumes import Volume

PLIST = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>FilesystemName</key><string>{name}</string></dict></plist>
"""


def said(volume: Volume) -> list[tuple[str, str, str]]:
    return [(finding.level, finding.message, finding.remedy) for finding in describe("/srv", volume)]


def test_one_finding_a_reason_names_the_protocols_and_the_cure() -> None:
    ((level, message, remedy),) = said(Volume("macos", "zfs", (10, 15)))
    assert level == "warning"
    assert message.startswith(
        "/srv is on zfs, and is not shared by AFP: since 10.7 AppleFileServer shares only volumes that are"
    )
    assert remedy.startswith("`sudo zfs set com.apple.mimic_hfs=on DATASET`")


def test_what_concerns_several_protocols_is_said_once() -> None:
    findings = said(Volume("macos", "apfs", (15, 5), is_case_sensitive=True))
    assert [message.partition(":")[0] for _, message, _ in findings] == [
        "/srv is on apfs, and is shared with losses by NFS, SMB"
    ]


def test_what_nothing_is_published_about_is_a_note_and_what_is_known_to_be_shared_is_well() -> None:
    assert [level for level, *_ in said(Volume("macos", "exfat", (15, 5)))] == ["note"]
    assert said(Volume("linux", "ext4")) == [("ok", "/srv is on ext4, which no server here is known to refuse", "")]


@pytest.mark.parametrize(
    ("name", "is_sensitive"),
    [("Case-sensitive APFS", True), ("Case-sensitive Journaled HFS+", True), ("APFS", False), ("HFS+", False)],
)
def test_a_macs_volume_says_whether_it_is_case_sensitive(name: str, is_sensitive: bool) -> None:
    assert parse_case_sensitive(PLIST.format(name=name)) is is_sensitive
    with pytest.raises(ValueError, match="not a property list"):
        parse_case_sensitive(f"Could not find disk: {name}")


def test_the_check_reads_the_volume_of_the_servers_folder(macs: dict[str, EmulatedHost]) -> None:
    server = macs["server"]
    (server.folder / "bin" / "mount").write_text("#!/bin/sh\necho '/dev/disk4s1 on / (exfat, local)'\n")
    (line,) = lines_of(findings(load_hosts(Path("hosts.ini")), machines_of(macs)))
    assert SUBJECT in line
    assert "is on exfat, and may not be shared by NFS" in line
