"""What programs of mounts and file servers print on an emulated Mac, against what real ones printed."""

import pwd
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.emulated_programs import JOBS, Choose, Run, capture

from emulated_mac import launchd_services, profiles
from emulated_mac.programs import launchctl, mount_afp, mount_nfs, mount_smbfs, nfsd, nfsstat, place, sharing, smbutil
from lab.base.present import present


@pytest.mark.parametrize("line", capture("mount-lines.txt").splitlines())
def test_mount_prints_lines_as_macs_did(mac: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    match = present(re.fullmatch(r"(.+) on (/.*) \((\w+), (.*?)(?:, mounted by (\w+))?\)", line))
    source, target, kind, listed, user = match.groups()
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name=user))
    flags = sorted(listed.split(", "), reverse=True)
    row = {"source": source, "target": target, "type": kind, "flags": flags, "uid": 501 if user else 0}
    assert mac("15.5", "mount", answers={"mounts": [row]}) == (0, f"{line}\n", "")


def test_afp_is_gone_where_apple_took_it_out(choose: Choose, tmp_path: Path) -> None:
    assert [place("mount_afp", profiles.PROFILES[version]) for version in ("26.0", "27.0")] == ["/sbin", None]
    having: dict[str, set[str]] = {}
    for version, profile in profiles.PROFILES.items():
        for service in launchd_services.services_of(profile):
            having.setdefault(service.label, set()).add(version)
    assert having["com.apple.AppleFileServer"] == {"10.6.8", "10.9.5", "10.13.6", "10.15.7"}
    assert having["org.samba.smbd"] == {"10.6.8"}
    choose(mount_afp, "15")
    assert mount_afp.main(["-x"]) == 64
    assert mount_afp.main(["afp://u:p@127.0.0.1/v", str(tmp_path)]) == 61
    assert mount_afp.main(["afp://u:p@[::1]/v", str(tmp_path)]) == 61
    assert mount_afp.main(["afp://u:p@::1/v", str(tmp_path)]) == 22


def test_mount_nfs_exits_with_an_errno(choose: Choose, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choose(mount_nfs, "15")
    assert mount_nfs.main(["-o", "retrycnt=0,unheard-of", "127.0.0.1:/x", str(tmp_path)]) == 61
    printed = f"mount_nfs: can't mount /x from 127.0.0.1 onto {tmp_path}: Connection refused\n"
    assert capsys.readouterr().err == printed
    assert mount_nfs.main(["only"]) == 22
    assert capsys.readouterr().err == "usage: mount_nfs [-o options] server:/path directory\n"
    assert mount_nfs.main(["nocolon", str(tmp_path)]) == 22
    assert mount_nfs.main(["h:/x", str(tmp_path / "none")]) == 2
    mount_nfs.main(["-o", "vers=4.1,retrycnt=0", "127.0.0.1:/x", str(tmp_path)])
    assert "mount_nfs: illegal NFS version value -- 4.1\n" in capsys.readouterr().err
    assert mount_nfs.main(["-o", "retrycnt=0", "[::1]:/x", str(tmp_path)]) == 61
    assert f"can't mount /x from [::1] onto {tmp_path}: Connection refused\n" in capsys.readouterr().err
    choose(mount_nfs, "10.6")
    assert mount_nfs.main(["[::1]:/x", str(tmp_path)]) == 22
    choose(mount_nfs, "26")
    mount_nfs.main(["-o", "vers=4.1,retrycnt=0", "127.0.0.1:/x", str(tmp_path)])
    assert "illegal" not in capsys.readouterr().err


def test_mount_smbfs_by_version(choose: Choose, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "//u:p@127.0.0.1/s"
    choose(mount_smbfs, "10.15")
    assert mount_smbfs.main(["-s", url, str(tmp_path)]) == 64
    usage = "usage: mount_smbfs [-Nh] [-d mode] [-f mode]\n"
    usage += "                   //[domain;][user[:password]@]server[/share] path\n"
    assert capsys.readouterr().err == f"mount_smbfs: illegal option -- s\n{usage}"
    assert mount_smbfs.main(["-o", "forcenewsession", url, str(tmp_path)]) == 1
    assert mount_smbfs.main(["-N", "-d", "9", url, str(tmp_path)]) == 65
    assert mount_smbfs.main(["-N", url, str(tmp_path / "none")]) == 71
    capsys.readouterr()
    (tmp_path / "a%b").mkdir()
    choose(mount_smbfs, "15")
    assert mount_smbfs.main(["-N", "//", f"{tmp_path}/a%25b"]) == 64
    refused = "mount_smbfs: URL parsing failed, please correct the URL and try again: Invalid argument\n"
    assert capsys.readouterr().err == refused
    assert mount_smbfs.main(["-N", url, f"{tmp_path}/a%25b"]) == 68  # nothing serves SMB here
    assert capsys.readouterr().err == "mount_smbfs: server connection failed: Connection refused\n"


def test_faults_of_mount_smbfs_say_what_macs_said(
    choose: Choose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mount_smbfs, "_negotiate", lambda *_: dict(mount_smbfs.SMB1))
    url = "//admin:pw@server.local/Data"
    choose(mount_smbfs, "15", fault=lambda name: name == "smb-file-exists")
    assert mount_smbfs.main(["-N", url, str(tmp_path)]) == 64
    assert capsys.readouterr().err == "mount_smbfs: mount error: //admin:pw@server.local/Data: File exists\n"
    choose(mount_smbfs, "15", fault=lambda name: name == "smb-ntstatus")
    assert mount_smbfs.main(["-N", url, str(tmp_path)]) == 64
    assert capsys.readouterr().err == f"mount_smbfs: mount error: {tmp_path}: unknown error: -1073741275\n"


def test_nfsd_status_by_version(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(nfsd, "10.9", services=JOBS)
    assert nfsd.main(["status"]) == 1  # not enabled, though it runs
    assert capsys.readouterr().out == "nfsd service is disabled\nnfsd is running (pid 2140, 8 threads)\n"
    choose(nfsd, "14.5", services=JOBS)
    assert nfsd.main(["status"]) == 0
    assert nfsd.main(["frobnicate"]) == 1
    assert "nfsd: unknown command: frobnicate\nusage: nfsd [-NRrtuv]" in capsys.readouterr().err


def test_nfsstat_prints_mounts_as_a_mac_does_and_nothing_else(
    choose: Choose, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = "tcp,port=53771,mountport=53771,soft,intr,locallocks,rsize=131072,wsize=131072,timeo=600,retrans=2,nfc"
    own = dict(word.partition("=")[::2] for word in f"{asked},rdirplus".split(","))
    current = {"port": 53771, "mountport": 53771, "rsize": 131072, "wsize": 131072, "dsize": 8192}
    mount = {
        "target": "/Users/x/Cloud", "source": "localhost:/", "type": "nfs", "flags": ["nodev", "nosuid"],
        "host": "localhost", "address": "::1,127.0.0.1", "path": "/", "asked": own, "current": current,
        "standard_shown": [],
    }  # fmt: skip
    choose(nfsstat, "12", mounts=[mount], share_facts={"/Users/x/Cloud": {}})
    assert nfsstat.main(["-m"]) == 0
    printed = capsys.readouterr().out.replace(",rdirplus,timeo=600", ",timeo=600").replace("sec=sys", "sec=none:sys")
    sample = capture("nfsstat-m-12.txt").replace("/ @", "/ @")
    assert printed.replace("     Status flags: 0x0\n\n", "") == sample
    choose(nfsstat, "10.9", mounts=[], share_facts={})
    assert nfsstat.main(["-f", "JSON", "-m"]) == 1
    assert nfsstat.main(["-s"]) == 1
    assert nfsstat.main(["-m"]) == 0


STATSHARES = {
    "target": "/private/tmp/m", "source": "//u@20.50.1.20/SharedDir", "type": "smbfs", "share": "SharedDir",
    "server": "20.50.1.20", "user_id": 501, "dialect": "SMB_3.1.1", "capabilities": 0b101111, "signing": 1,
    "cipher": 1, "required": False, "signed": False, "options": [],
}  # fmt: skip


def test_statshares_prints_what_a_mac_prints(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(smbutil, "15", mounts=[STATSHARES], share_facts={})
    assert smbutil.main(["statshares", "-a"]) == 0
    printed, sample = capsys.readouterr().out.splitlines(), capture("smbutil-statshares-15.txt").splitlines()
    # whether a server has file ids is not in what it negotiates; and that client knew one cipher alone
    assert [line for line in sample if line not in printed] == [f"{'':30}{'FILE_IDS_SUPPORTED':30}TRUE"]
    known = [line for line in printed if line in sample]
    assert known[: len(sample) - 1] == [line for line in sample if "FILE_IDS" not in line]


def test_statshares_by_version_refuses_what_is_no_share(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(smbutil, "10.13", mounts=[STATSHARES | {"dialect": "SMB_3.0.2"}], share_facts={})
    smbutil.main(["statshares", "-a"])
    text = capsys.readouterr().out
    assert re.search(r" SMB_VERSION +SMB_3\.02\n", text)
    assert "ALGORITHM" not in text
    assert smbutil.main(["statshares", "-a", "-f", "Json"]) == 1
    choose(smbutil, "10.6", mounts=[], share_facts={})
    assert smbutil.main(["statshares", "-a"]) == 64
    choose(smbutil, "15", mounts=[], share_facts={})
    assert smbutil.main(["statshares", "-m", "/nowhere"]) == 22
    assert smbutil.main(["statshares"]) == 1
    assert smbutil.main(["statshares", "-a", "-m", "/"]) == 1
    assert "usage : smbutil statshares [-m <mount_path> | -a] [-f <format>]" in capsys.readouterr().err


POINT = {
    "name": "Backups", "path": "/Users/kknott/Backups", "afp_name": "Backups", "ftp_name": "Backups",
    "smb_name": "Backups", "afp_shared": False, "ftp_shared": False, "smb_shared": True, "afp_guest": False,
    "ftp_guest": False, "smb_guest": False, "afp_inherit": False, "smb_inherit": False, "smb_read_only": False,
    "smb_sealed": False,
}  # fmt: skip


def test_sharing_lists_as_a_mac_does(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(sharing, "10.6", share_points=[POINT])
    assert sharing.main(["-l"]) == 0
    printed = capsys.readouterr().out
    assert set(capture("sharing-l-10.8.txt").splitlines()) <= set(printed.splitlines())
    choose(sharing, "15", share_points=[POINT])
    sharing.main(["-l"])
    printed = capsys.readouterr().out
    head = "\t\t\tList of Share Points\nname:\t\tBackups\npath:\t\t/Users/kknott/Backups\n\tsmb:\t{\n"
    assert printed.startswith(head)
    assert "afp" not in printed
    sharing.main(["-l", "-f", "json"])
    assert '"smb_guest_access": 0' in capsys.readouterr().out


@pytest.mark.parametrize("words", ["", "-a / -s 11", "-a / -s 002", "-l -f xml", "-l -r x", "-x", "-l y"])
def test_sharing_refuses(choose: Choose, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    choose(sharing, "15", share_points=[])
    assert sharing.main(words.split()) == 64
    assert capsys.readouterr().err.startswith("usage: sharing -a <path>")
    choose(sharing, "10.15", share_points=[])  # JSON came with 11
    assert sharing.main(["-l", "-f", "json"]) == 64


def test_a_share_point_has_the_flags_that_were_asked_for(choose: Choose, tmp_path: Path) -> None:
    written: list[dict[str, Any]] = []
    choose(sharing, "10.9", share_points=[], share_point_write=lambda record: written.append(record))
    assert sharing.main(["-a", str(tmp_path), "-n", "labram", "-S", "Lab", "-s", "101", "-g", "000"]) == 0
    (point,) = written
    assert (point["name"], point["smb_name"], point["afp_name"]) == ("labram", "Lab", "labram")
    assert (point["afp_shared"], point["ftp_shared"], point["smb_shared"]) == (True, False, True)


def test_print_disabled_by_version(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(launchctl, "14", services=JOBS)
    assert launchctl.main(["print-disabled", "system"]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    sample = [line.strip() for line in capture("launchctl-print-disabled.txt").splitlines()]
    assert set(printed) <= set(sample)
    choose(launchctl, "12", services=JOBS)
    launchctl.main(["print-disabled", "system"])
    assert '"com.apple.smbd" => true' in capsys.readouterr().out  # APPL-12-002001 of DISA looks for that


def test_verbs_of_launchd_2_are_unknown_to_the_first(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(launchctl, "10.9", services=JOBS)
    for verb in ("enable", "bootstrap", "print", "kickstart"):
        assert launchctl.main([verb, "system/com.apple.smbd"]) == 1
    assert 'launchctl: unknown subcommand "enable"' in capsys.readouterr().err
    assert launchctl.main(["list", "com.apple.smbd"]) == 1
    assert "launchctl list returned unknown response" in capsys.readouterr().err


def test_a_job_that_is_not_loaded_is_not_found(choose: Choose, capsys: pytest.CaptureFixture[str]) -> None:
    choose(launchctl, "12", services=JOBS)
    assert launchctl.main(["print", "system/com.apple.smbd"]) == 113
    assert capsys.readouterr().err == 'Could not find service "com.apple.smbd" in domain for system\n'
    assert launchctl.main(["print", "system/com.apple.nfsd"]) == 0
    assert "\tpid = 2140\n" in capsys.readouterr().out
