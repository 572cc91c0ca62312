"""What mounts, shares and tools of a Mac print: captured, or after the formats of Apple's sources."""

import re
from pathlib import Path

import pytest
from support.emulated_mac import capture
from support.fake_host import EmulatedHost

from lab import workloads
from lab.base.errors import LabFailure, Unsupported
from lab.hosts.mounts import parse_mounts, parse_multichannel, parse_nfsstat, parse_statshares, read_parameters
from lab.platforms.macos.files import MacPrograms
from lab.protocols.nfs.macos import parse_network
from lab.protocols.nfs.options import MACOS_OPTIONS
from lab.protocols.servers.macos_sharing import SharePoint, parse_share_points
from lab.protocols.smb.macos import parse_channels
from lab.workloads.rsync import parse_version


def test_the_table_of_mounts() -> None:
    found = parse_mounts(capture("mount.txt"))
    assert found["/Volumes/share"] == ("smbfs", "nodev,nosuid")
    assert found["/Volumes/share-1"] == ("smbfs", "nodev,nosuid,noowners")
    assert found["/Volumes/JSS REPO"] == ("afpfs", "nodev,nosuid")
    assert found["/Volumes/JellyfinMovies"] == ("nfs", "nodev,nosuid")
    assert found["/System/Volumes/Data/home"] == ("autofs", "automounted,nobrowse")
    assert len(found) == 8


def test_shares_and_channels_of_smbutil() -> None:
    modern = capture("smbutil-statshares-15.txt")
    assert parse_statshares(modern) == {"dialect": "SMB 3.1.1", "signing": "off", "encryption": "off"}
    signing = modern.replace("DFS_SUPPORTED ", "SIGNING_ON    ").replace(" OFF\n", " AES-128-GCM\n")
    assert parse_statshares(signing) == {"dialect": "SMB 3.1.1", "signing": "AES_128_CMAC", "encryption": "AES-128-GCM"}
    rows = {"SMB_NEGOTIATE": "AUTO_NEGOTIATE", "SMB_VERSION": "SMB_2.1", "SIGNING_SUPPORTED": "TRUE"}
    old = "".join(f"{'':30}{name:30}{value}\n" for name, value in rows.items())  # statshares.c of 10.9
    assert parse_statshares(old) == {"dialect": "SMB 2.1"}
    assert parse_statshares(modern.replace("3.1.1", "3.02"))["dialect"] == "SMB 3.0.2"
    assert parse_statshares(old + f"{'':30}{'SIGNING_REQUIRED':30}TRUE\n")["signing"] == "on"  # as of 10.14
    assert parse_statshares("") == {}
    with pytest.raises(LabFailure, match="client: smbutil statshares: 'SMB_9;rm' is not of the form"):
        parse_statshares("  SMB_VERSION  SMB_9;rm\n")
    with pytest.raises(LabFailure, match="client: nfsstat -m: '-1' is not a count"):
        read_parameters({"vers": "3", "rsize": "-1"})
    text = capture("smbutil-multichannel-14.txt")
    assert parse_multichannel(text) == {"multichannel": "on"}
    assert parse_multichannel(text.replace("ON: yes", "ON: no")) == {"multichannel": "off"}
    assert parse_multichannel("smbutil: unknown command\n") == {}
    wired = {"en6": "Ethernet", "en15": "Ethernet"}  # and over Wi-Fi a session that is inactive
    assert parse_channels(text) == wired
    assert parse_channels(text.replace("inactive ", "active   ")) == {"en0": "wifi", **wired}
    assert parse_channels("smbutil: unknown command\n") == {}


def levels_of(parameters: dict[str, str]) -> dict[str, str]:
    return {name: option.read_level(parameters) for name, option in MACOS_OPTIONS.items()}


def test_what_counts_of_nfsstat_is_what_is_in_effect() -> None:
    text = capture("nfsstat-m.txt")
    asked, current = text.split("  -- Current")
    clamped = f"{asked.replace('131072', '1048576')}  -- Current{current}"
    in_effect = parse_nfsstat(clamped)
    assert read_parameters(in_effect) == {"dialect": "NFSv3", "rsize": 131072, "wsize": 131072}
    assert levels_of(in_effect) == {
        "version": "3", "rsize": "128 KiB", "wsize": "128 KiB", "hard": "false", "readahead": "16",
    }  # fmt: skip
    assert parse_nfsstat(asked) == {}
    old = parse_nfsstat("     NFS parameters: vers=4,tcp,hard,rsize=65536\n")
    assert read_parameters(old) == {"dialect": "NFSv4.0", "rsize": 65536}
    assert levels_of(old)["version"] == "4.0"
    assert levels_of(old)["hard"] == "true"


def test_share_points_of_either_layout() -> None:
    assert parse_share_points(capture("sharing-l-indented.txt")) == {
        "Backups": SharePoint("/Users/kknott/Backups", {"smb": "Backups"}),
        "Media": SharePoint("/Volumes/Media", {"smb": "Media"}),
    }
    assert parse_share_points(capture("sharing-l-margin.txt")) == {
        "Public Folder": SharePoint("/Users/me/Public", {"smb": "Public Folder"}),
        "Private": SharePoint("/Users/me/Private", {}),
    }
    assert parse_share_points("\n\t\t\tList of Share Points\n") == {}
    braces = re.sub("(name:\t+)Media", r"\1A {b}", capture("sharing-l-indented.txt"))
    assert parse_share_points(braces)["A {b}"].names == {"smb": "A {b}"}
    assert parse_share_points("name:\tx\nname:\ty\n\tpath:\t/y\n") == {"y": SharePoint("/y", {})}


def test_the_network_of_an_address() -> None:
    text = capture("ifconfig-10gbase-t.txt")
    assert str(parse_network(text, "10.254.100.2")) == "10.254.0.0/16"
    for address in ("10.254.100", "nas.local", "10.254.100.20"):
        with pytest.raises(Unsupported, match="is data_address of"):
            parse_network(text, address)


def test_which_rsync_it_is_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    assert parse_version(capture("rsync-version-2.6.9.txt")) == "rsync 2.6.9, protocol 29"
    assert parse_version(capture("rsync-version-15.4.txt")) == "openrsync, protocol 29"
    assert parse_version(capture("rsync-version-homebrew.txt")) == "rsync 3.4.1, protocol 32"
    host = EmulatedHost(tmp_path, {"rsync": "echo rclone v1.60"}, ("sh", "env"))
    with pytest.raises(Unsupported, match="client: rsync --version: it is neither rsync nor openrsync: 'rclone"):
        workloads.tool("rsync").version(host, MacPrograms.calls["rsync"])
