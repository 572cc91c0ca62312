"""Sharing on emulated Macs: what commands print, against samples of real Macs; and what they refuse."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.paths import MACOS_CAPTURES

from lab.emulated_mac import exports, mount_options, nsmb, profiles, services, smb_url
from lab.emulated_mac.commands import (
    launchctl,
    mount_afp,
    mount_nfs,
    mount_smbfs,
    nfsd,
    nfsstat,
    place,
    sharing,
    smbutil,
)
from lab.emulated_mac.mount_options import Refused
from lab.emulated_mac.servers import smb

Say = Callable[..., None]


def capture(name: str) -> str:
    return (MACOS_CAPTURES / name).read_text(encoding="utf-8")


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch) -> Say:
    """Chooses a version, and what the kernel answers to each call."""

    def choose(module: Any, version: str, **answers: Any) -> None:
        profile = profiles.find(version)
        assert profile
        monkeypatch.setattr(profiles, "chosen", lambda: profile)

        def call(name: str, /, **arguments: Any) -> Any:
            answer = {"fault": False, **answers}[name]
            return answer(**arguments) if callable(answer) else answer

        monkeypatch.setattr(module, "call", call)

    return choose


STATSHARES = {
    "target": "/private/tmp/m", "source": "//u@20.50.1.20/SharedDir", "type": "smbfs", "share": "SharedDir",
    "server": "20.50.1.20", "user_id": 501, "dialect": "SMB_3.1.1", "capabilities": 0b101111, "signing": 1,
    "cipher": 1, "required": False, "signed": False, "options": [],
}  # fmt: skip


def test_statshares_prints_what_a_mac_prints(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(smbutil, "15", mounts=[STATSHARES], share_facts={})
    assert smbutil.main(["statshares", "-a"]) == 0
    printed, sample = capsys.readouterr().out.splitlines(), capture("smbutil-statshares-15.txt").splitlines()
    # whether a server has file ids is not in what it negotiates; and that client knew one cipher alone
    assert [line for line in sample if line not in printed] == [f"{'':30}{'FILE_IDS_SUPPORTED':30}TRUE"]
    known = [line for line in printed if line in sample]
    assert known[: len(sample) - 1] == [line for line in sample if "FILE_IDS" not in line]


def test_statshares_by_version(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(smbutil, "10.13", mounts=[STATSHARES | {"dialect": "SMB_3.0.2"}], share_facts={})
    smbutil.main(["statshares", "-a"])
    text = capsys.readouterr().out
    assert re.search(r" SMB_VERSION +SMB_3\.02\n", text)
    assert "ALGORITHM" not in text
    assert smbutil.main(["statshares", "-a", "-f", "Json"]) == 1
    mac(smbutil, "10.6", mounts=[], share_facts={})
    assert smbutil.main(["statshares", "-a"]) == 64


def test_statshares_refuses_what_is_no_share(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(smbutil, "15", mounts=[], share_facts={})
    assert smbutil.main(["statshares", "-m", "/nowhere"]) == 22
    assert smbutil.main(["statshares"]) == 1
    assert smbutil.main(["statshares", "-a", "-m", "/"]) == 1
    assert "usage : smbutil statshares [-m <mount_path> | -a] [-f <format>]" in capsys.readouterr().err


def test_nfsstat_prints_what_a_mac_prints(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "tcp,port=53771,mountport=53771,soft,intr,locallocks,rsize=131072,wsize=131072,timeo=600,retrans=2,nfc"
    own = dict(word.partition("=")[::2] for word in f"{asked},rdirplus".split(","))
    current = {"port": 53771, "mountport": 53771, "rsize": 131072, "wsize": 131072, "dsize": 8192}
    mount = {
        "target": "/Users/x/Cloud", "source": "localhost:/", "type": "nfs", "flags": ["nodev", "nosuid"],
        "host": "localhost", "address": "::1,127.0.0.1", "path": "/", "asked": own, "current": current,
        "standard_shown": [],
    }  # fmt: skip
    mac(nfsstat, "12", mounts=[mount], share_facts={"/Users/x/Cloud": {}})
    assert nfsstat.main(["-m"]) == 0
    printed = capsys.readouterr().out.replace(",rdirplus,timeo=600", ",timeo=600").replace("sec=sys", "sec=none:sys")
    sample = capture("nfsstat-m-12.txt").replace("/ @", "/ @")
    assert printed.replace("     Status flags: 0x0\n\n", "") == sample


def test_nfsstat_knows_mounts_alone(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(nfsstat, "10.9", mounts=[], share_facts={})
    assert nfsstat.main(["-f", "JSON", "-m"]) == 1
    assert nfsstat.main(["-s"]) == 1
    assert nfsstat.main(["-m"]) == 0


POINT = {
    "name": "Backups", "path": "/Users/kknott/Backups", "afp_name": "Backups", "ftp_name": "Backups",
    "smb_name": "Backups", "afp_shared": False, "ftp_shared": False, "smb_shared": True, "afp_guest": False,
    "ftp_guest": False, "smb_guest": False, "afp_inherit": False, "smb_inherit": False, "smb_read_only": False,
    "smb_sealed": False,
}  # fmt: skip


def test_sharing_lists_as_a_mac_does(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(sharing, "10.6", share_points=[POINT])
    assert sharing.main(["-l"]) == 0
    printed = capsys.readouterr().out
    assert set(capture("sharing-l-10.8.txt").splitlines()) <= set(printed.splitlines())
    mac(sharing, "15", share_points=[POINT])
    sharing.main(["-l"])
    printed = capsys.readouterr().out
    assert printed.startswith(
        "\t\t\tList of Share Points\nname:\t\tBackups\npath:\t\t/Users/kknott/Backups\n\tsmb:\t{\n"
    )
    assert "afp" not in printed
    sharing.main(["-l", "-f", "json"])
    assert '"smb_guest_access": 0' in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [[], ["-a", "/", "-s", "11"], ["-a", "/", "-s", "002"],
     ["-l", "-f", "xml"], ["-l", "-r", "x"], ["-x"], ["-l", "y"]],
)  # fmt: skip
def test_sharing_refuses(mac: Say, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    mac(sharing, "15", share_points=[])
    assert sharing.main(words) == 64
    assert capsys.readouterr().err.startswith("usage: sharing -a <path>")


def test_json_is_refused_before_11(mac: Say) -> None:
    mac(sharing, "10.15", share_points=[])
    assert sharing.main(["-l", "-f", "json"]) == 64


def test_a_share_point_has_the_flags_that_were_asked_for(mac: Say, tmp_path: Path) -> None:
    written: list[dict[str, Any]] = []
    mac(sharing, "10.9", share_points=[], share_point_write=lambda record: written.append(record))
    assert sharing.main(["-a", str(tmp_path), "-n", "labram", "-S", "Lab", "-s", "101", "-g", "000"]) == 0
    (point,) = written
    assert (point["name"], point["smb_name"], point["afp_name"]) == ("labram", "Lab", "labram")
    assert (point["afp_shared"], point["ftp_shared"], point["smb_shared"]) == (True, False, True)


JOBS = [
    {"label": "com.apple.smbd", "path": "/System/Library/LaunchDaemons/com.apple.smbd.plist", "disabled": True,
     "program": "/usr/sbin/smbd", "loaded": False, "pid": None},
    {"label": "com.apple.nfsd", "path": "/System/Library/LaunchDaemons/com.apple.nfsd.plist", "disabled": None,
     "program": "/sbin/nfsd", "loaded": True, "pid": 2140},
]  # fmt: skip


def test_print_disabled_by_version(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(launchctl, "14", services=JOBS)
    assert launchctl.main(["print-disabled", "system"]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    sample = [line.strip() for line in capture("launchctl-print-disabled.txt").splitlines()]
    assert set(printed) <= set(sample)
    mac(launchctl, "12", services=JOBS)
    launchctl.main(["print-disabled", "system"])
    assert '"com.apple.smbd" => true' in capsys.readouterr().out  # APPL-12-002001 of DISA looks for that


def test_verbs_of_launchd_2_are_unknown_to_the_first(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(launchctl, "10.9", services=JOBS)
    for verb in ("enable", "bootstrap", "print", "kickstart"):
        assert launchctl.main([verb, "system/com.apple.smbd"]) == 1
    assert 'launchctl: unknown subcommand "enable"' in capsys.readouterr().err
    assert launchctl.main(["list", "com.apple.smbd"]) == 1
    assert "launchctl list returned unknown response" in capsys.readouterr().err


def test_a_job_that_is_not_loaded_is_not_found(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(launchctl, "12", services=JOBS)
    assert launchctl.main(["print", "system/com.apple.smbd"]) == 113
    assert capsys.readouterr().err == 'Could not find service "com.apple.smbd" in domain for system\n'
    assert launchctl.main(["print", "system/com.apple.nfsd"]) == 0
    assert "\tpid = 2140\n" in capsys.readouterr().out


def test_nfsd_status_by_version(mac: Say, capsys: pytest.CaptureFixture[str]) -> None:
    mac(nfsd, "10.9", services=JOBS)
    assert nfsd.main(["status"]) == 1  # not enabled, though it runs
    assert capsys.readouterr().out == "nfsd service is disabled\nnfsd is running (pid 2140, 8 threads)\n"
    mac(nfsd, "14.5", services=JOBS)
    assert nfsd.main(["status"]) == 0
    assert nfsd.main(["frobnicate"]) == 1
    assert "nfsd: unknown command: frobnicate\nusage: nfsd [-NRrtuv]" in capsys.readouterr().err


def volume_of(path: str) -> str:
    return "/Volumes/lab" if path.startswith("/Volumes/lab") else "/System/Volumes/Data"


def errors_of(text: str) -> list[str]:
    return exports.read(text, volume_of)[1]


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that are there."""
    there = ("/Users/rfay", "/Users/rfay/workspace", "/Volumes/lab", "/Volumes/lab/a")
    monkeypatch.setattr(exports, "_is_plain_folder", lambda path: path in there)


@pytest.mark.usefixtures("folders")
def test_exports_are_read_as_nfsd_reads_them() -> None:
    text = "# none\n/Volumes/lab -alldirs -fspath=/Volumes/lab \\\n  -mapall=501:20 -network 10.0.0.0 -mask 255.0.0.0\n"
    (one,), errors = exports.read(text, volume_of)
    assert (errors, one.paths, one.all_dirs, one.map_all, one.uid, one.gid) == (
        [],
        ["/Volumes/lab"],
        True,
        True,
        501,
        20,
    )
    assert (one.network, one.mask, one.line) == ("10.0.0.0", "255.0.0.0", 3)
    (one,), errors = exports.read("/Volumes/lab -mapall=0\n", volume_of)  # a user alone brings its own group
    assert (errors, one.hosts, one.map_all, one.uid, one.gid) == ([], [], True, 0, 0)


@pytest.mark.usefixtures("folders")
def test_what_is_wrong_with_exports_is_said_as_nfsd_says_it() -> None:
    assert (
        errors_of("#\n/Users/rfay -alldirs -mapall=501:20 localhost\n")
        == capture("nfsd-checkexports-10.15.txt").splitlines()
    )
    assert errors_of("/x -ro\n") == [
        "exports:1: path contains non-directory or non-existent components: /x",
        "exports:1: no usable directories in export entry and no fallback",
    ]
    hosts = "/Volumes/lab -network 10.0.0.0 -mask 255.0.0.0 host\n"
    assert errors_of(hosts) == ["exports:1: can't specify both network and hosts on same line"]
    nested = "/Volumes/lab -ro\n/Volumes/lab/a\n"
    assert errors_of(nested) == ["exports:2: /Volumes/lab/a conflicts with existing export /Volumes/lab"]
    assert errors_of("/Volumes/lab -frob\n") == ["exports:1: error processing options: -frob"]
    assert errors_of("-ro /Volumes/lab\n") == ["exports:1: got options with no exported directory: -ro"]


def test_a_url_is_decoded_and_shown_without_its_password() -> None:
    url = smb_url.parse("//DOM;me%40x:p%3Aw@server/My%20Share")
    assert (url.domain, url.user, url.password, url.server, url.share) == ("DOM", "me@x", "p:w", "server", "My Share")
    assert url.source == "//DOM;me%40x@server/My%20Share"
    for bad in ("server/share", "//", "//a/b@c/d@e", "nfs://x/y"):
        with pytest.raises(ValueError, match=re.escape(bad)):
            smb_url.parse(bad)


def test_preferences_choose_the_dialects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsmb, "GLOBAL", tmp_path / "nsmb.conf")
    personal = tmp_path / nsmb.PERSONAL
    personal.parent.mkdir(parents=True)
    personal.write_text("[default]\nsigning_required=yes\nprotocol_vers_map=7\n[OTHER]\nprotocol_vers_map=2\n")
    nsmb.GLOBAL.write_text("[SERVER]\nprotocol_vers_map=4\n")
    found = nsmb.Preferences("server", tmp_path)
    assert found.yes("signing_required")
    assert nsmb.dialects((15, 5), found.versions((15, 5))) == ["SMB_3.0", "SMB_3.0.2", "SMB_3.1.1"]
    assert nsmb.dialects((10, 9, 5), found.versions((10, 9, 5))) == ["SMB_2.002", "SMB_2.1"]
    assert nsmb.dialects((10, 6, 8), found.versions((10, 6, 8))) == []
    assert "max protocol = NT1" in nsmb.samba_conf([], signed=False)
    assert smb.dialects((10, 6, 8)) == ("NT1", "NT1")
    assert smb.dialects((10, 9, 5)) == ("NT1", "SMB2_10")
    assert smb.dialects((10, 13, 6)) == ("SMB2_02", "SMB3_02")


def test_flags_of_a_mount() -> None:
    standard, own = mount_options.parse("nobrowse,soft,ro", {"soft": False})
    assert (mount_options.flags(standard, 501), own) == (["nodev", "nosuid", "read-only", "nobrowse"], {"soft": ""})
    assert mount_options.flags(standard, 0) == ["read-only", "nobrowse"]
    with pytest.raises(Refused, match="-o sync: option not supported"):
        mount_options.parse("sync", {})


def test_mount_smbfs_by_version(mac: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "//u:p@127.0.0.1/s"
    mac(mount_smbfs, "10.15")
    assert mount_smbfs.main(["-s", url, str(tmp_path)]) == 64
    verbatim = (
        "usage: mount_smbfs [-Nh] [-d mode] [-f mode]\n"
        "                   //[domain;][user[:password]@]server[/share] path\n"
    )
    assert capsys.readouterr().err == f"mount_smbfs: illegal option -- s\n{verbatim}"
    assert mount_smbfs.main(["-o", "forcenewsession", url, str(tmp_path)]) == 1
    assert mount_smbfs.main(["-N", "-d", "9", url, str(tmp_path)]) == 65
    assert mount_smbfs.main(["-N", url, str(tmp_path / "none")]) == 71
    capsys.readouterr()
    (tmp_path / "a%b").mkdir()
    mac(mount_smbfs, "15")
    assert mount_smbfs.main(["-N", "//", f"{tmp_path}/a%25b"]) == 64
    refused = "mount_smbfs: URL parsing failed, please correct the URL and try again: Invalid argument\n"
    assert capsys.readouterr().err == refused
    assert mount_smbfs.main(["-N", url, f"{tmp_path}/a%25b"]) == 68  # nothing serves SMB here
    assert capsys.readouterr().err == "mount_smbfs: server connection failed: Connection refused\n"


def test_faults_of_mount_smbfs_say_what_macs_said(
    mac: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mount_smbfs, "_negotiate", lambda *_: dict(mount_smbfs.SMB1))
    url = "//admin:pw@server.local/Data"
    mac(mount_smbfs, "15", fault=lambda name: name == "smb-file-exists")
    assert mount_smbfs.main(["-N", url, str(tmp_path)]) == 64
    assert capsys.readouterr().err == "mount_smbfs: mount error: //admin:pw@server.local/Data: File exists\n"
    mac(mount_smbfs, "15", fault=lambda name: name == "smb-ntstatus")
    assert mount_smbfs.main(["-N", url, str(tmp_path)]) == 64
    assert capsys.readouterr().err == f"mount_smbfs: mount error: {tmp_path}: unknown error: -1073741275\n"


def test_mount_nfs_ends_with_the_error_number(mac: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mac(mount_nfs, "15")
    assert mount_nfs.main(["-o", "retrycnt=0,unheard-of", "127.0.0.1:/x", str(tmp_path)]) == 61
    said = f"mount_nfs: can't mount /x from 127.0.0.1 onto {tmp_path}: Connection refused\n"
    assert capsys.readouterr().err == said
    assert mount_nfs.main(["only"]) == 22
    assert capsys.readouterr().err == "usage: mount_nfs [-o options] server:/path directory\n"
    assert mount_nfs.main(["nocolon", str(tmp_path)]) == 22
    assert mount_nfs.main(["h:/x", str(tmp_path / "none")]) == 2
    mount_nfs.main(["-o", "vers=4.1,retrycnt=0", "127.0.0.1:/x", str(tmp_path)])
    assert "mount_nfs: illegal NFS version value -- 4.1\n" in capsys.readouterr().err
    mac(mount_nfs, "26")
    mount_nfs.main(["-o", "vers=4.1,retrycnt=0", "127.0.0.1:/x", str(tmp_path)])
    assert "illegal" not in capsys.readouterr().err


def test_afp_is_gone_where_apple_took_it_out(mac: Say, tmp_path: Path) -> None:
    assert [place("mount_afp", profiles.PROFILES[version]) for version in ("26.0", "27.0")] == ["/sbin", None]
    labels = {version: {one.label for one in services.of(profiles.PROFILES[version])} for version in profiles.PROFILES}
    with_afp = {version for version, found in labels.items() if "com.apple.AppleFileServer" in found}
    assert with_afp == {"10.6.8", "10.9.5", "10.13.6", "10.15.7"}
    assert {version for version, found in labels.items() if "org.samba.smbd" in found} == {"10.6.8"}
    mac(mount_afp, "15")
    assert mount_afp.main(["-x"]) == 64
    assert mount_afp.main(["afp://u:p@127.0.0.1/v", str(tmp_path)]) == 61


def test_property_lists_are_ones() -> None:
    for service in services.SERVICES:
        text = plistlib.dumps(services.property_list(service))
        assert plistlib.loads(text)["Label"] == service.label
