"""Which share a folder lies on, by tables of mounts: captured, or after the formats of kernels and of GVfs."""

import itertools
import os
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_host import EmulatedHost, FakeHost
from support.paths import LINUX_CAPTURES, MACOS_CAPTURES

from lab.base.errors import BadInput, LabFailure, Unsupported
from lab.base.untrusted import one_line
from lab.hosts.command import script
from lab.hosts.mounts import from_table, in_table, parse_encrypted
from lab.platforms.linux.mounts import DEBUG_DATA, LinuxMounts, parse_mount_table
from lab.platforms.macos.mounts import MacMounts, parse_table
from lab.platforms.mounts import ENTER, MountedShare, Mounts, innermost

LINUX = r"""/dev/sda2 / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw,nosuid 0 0
//nas.local/media\040two /mnt/my\040nas cifs rw,vers=3.1.1,sec=ntlmsspi,cache=strict,username=ann,domain=HOME,addr=192.0.2.7,hard,rsize=4194304,wsize=4194304 0 0
systemd-1 /mnt/auto autofs rw,fd=44,pgrp=1,timeout=60,direct 0 0
//192.0.2.8/films/new /mnt/auto cifs rw,vers=2.1,username=bob,seal,multichannel,addr=192.0.2.8 0 0
[2001:db8::9]:/export/home /net/home nfs4 rw,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp6,nconnect=4,sync,clientaddr=2001:db8::1,addr=2001:db8::9 0 0
ann@nas:/srv/x /mnt/sshfs fuse.sshfs rw,nosuid,user_id=1000 0 0
ann@Old\040NAS:Media /mnt/afp fuse.afpfs rw,nosuid,user_id=1000 0 0
gvfsd-fuse /run/user/1000/gvfs fuse.gvfsd-fuse rw,nosuid,user_id=1000 0 0
remote:bucket /mnt/cloud fuse.rclone rw,nosuid 0 0
"""  # noqa: E501
GVFS = "/run/user/1000/gvfs"
ODD_ON_A_MAC = """\
//;AUTH=No%20User%20Authent@nas/Media on /Volumes/a (afpfs, nodev)
//WORK;ann@[fe80::1%25en0]:1445/a%20b on /Volumes/b (smbfs, nodev)
afp_0TQ2ZM0MJgtJ0rPT7W0000Zx-1.2d000004 on /Volumes/c (afpfs, nodev)
"""


def fields_of(mounted: MountedShare) -> list[str]:
    return [mounted.kind, mounted.protocol, mounted.server, mounted.share, mounted.account]


def linux(path: str, table: str = LINUX) -> MountedShare:
    host = FakeHost()
    host.on(("cat", "/proc/self/mounts"), table)
    return LinuxMounts(host).share_at(path)


@pytest.mark.parametrize(
    "row",
    [
        ("/mnt/my nas/films", "cifs", "smb", "nas.local", "media two", "HOME;ann", "192.0.2.7"),
        ("/mnt/my nas", "cifs", "smb", "nas.local", "media two", "HOME;ann", "192.0.2.7"),
        ("/mnt/my nasty", "ext4", "", "", "", "", ""),
        ("/mnt/auto/x", "cifs", "smb", "192.0.2.8", "films/new", "bob", "192.0.2.8"),
        ("/net/home/ann", "nfs4", "nfs", "2001:db8::9", "/export/home", "", "2001:db8::9"),
        ("/mnt/sshfs", "fuse.sshfs", "ssh", "nas", "/srv/x", "ann", "nas"),
        ("/mnt/afp/x", "fuse.afpfs", "afp", "Old NAS", "Media", "ann", "Old NAS"),
        ("/mnt/cloud/x", "fuse.rclone", "", "", "", "", ""),
        ("/tmp/x", "tmpfs", "", "", "", "", ""),
        ("/", "ext4", "", "", "", "", ""),
        (GVFS, "fuse.gvfsd-fuse", "", "", "", "", ""),
        (f"{GVFS}/smb-share:server=nas.local,share=media%20two,user=ann/x", "fuse.gvfsd-fuse", "smb", "nas.local",
         "media two", "ann", "nas.local"),
        (f"{GVFS}/smb-share:domain=WORK,server=nas,share=a,user=ann", "fuse.gvfsd-fuse", "smb", "nas", "a", "WORK;ann",
         "nas"),
        (f"{GVFS}/afp-volume:host=nas,user=ann,volume=Media/x", "fuse.gvfsd-fuse", "afp", "nas", "Media", "ann", "nas"),
        (f"{GVFS}/nfs:host=192.0.2.9,prefix=%2Fexport%2Fhome/x", "fuse.gvfsd-fuse", "nfs", "192.0.2.9", "/export/home",
         "", "192.0.2.9"),
        (f"{GVFS}/sftp:host=nas,user=ann/home", "fuse.gvfsd-fuse", "ssh", "nas", "", "ann", "nas"),
        (f"{GVFS}/dav:host=nas,ssl=true/x", "fuse.gvfsd-fuse", "", "", "", "", ""),
    ],
    ids=itemgetter(0),
)  # fmt: skip
def test_a_folder_of_linux_lies_on_the_share_whose_mount_point_is_nearest_above_it(row: tuple[str, ...]) -> None:
    path, *expected = row
    mounted = linux(path)
    assert [*fields_of(mounted), mounted.address] == expected
    assert f"{path}/".startswith(f"{mounted.path.rstrip('/')}/")


def test_of_mounts_on_one_another_the_last_one_counts() -> None:
    table = (LINUX_CAPTURES / "mounts-7.2.txt").read_text()
    mounted = linux("/x/mnt/file", table)
    assert (mounted.protocol, mounted.share, mounted.options["vers"]) == ("smb", "lab", "3.1.1")
    assert mounted.option_text == table.splitlines()[-1].split(" ")[3]
    assert [row.protocol for row in parse_mount_table(table)] == ["nfs"] * 3 + ["smb"] * 4
    assert parse_mount_table(table)[1].share == "/x/ram"


def mac(path: str, table: str) -> MountedShare:
    host = FakeHost()
    host.on(("mount",), table)
    return MacMounts(host).share_at(path)


@pytest.mark.parametrize(
    "row",
    [
        ("/Volumes/share/x", "smbfs", "smb", "server", "share", "user"),
        ("/Volumes/share-1", "smbfs", "smb", "192.168.0.1", "share", "GUEST"),
        ("/Volumes/homes", "smbfs", "smb", "NAS._smb._tcp.local", "homes", "user"),
        ("/Volumes/video", "afpfs", "afp", "1.0.1.10", "video", "riccardo"),
        ("/Volumes/JSS REPO/x", "afpfs", "afp", "pretendco.com", "JSS REPO", "username"),
        ("/Volumes/JellyfinMovies", "nfs", "nfs", "192.168.1.244", "/data", ""),
        ("/System/Volumes/Data/home/x", "autofs", "", "", "", ""),
        ("/Users/ann", "apfs", "", "", "", ""),
        # an account has its domain, and not the way of its login; what the last one is mounted from cannot be told
        ("/Volumes/a", "afpfs", "afp", "nas", "Media", ""),
        ("/Volumes/b", "smbfs", "smb", "fe80::1%en0", "a b", "WORK;ann"),
        ("/Volumes/c", "afpfs", "afp", "", "", ""),
    ],
    ids=itemgetter(0),
)
def test_a_folder_of_a_mac_lies_on_the_share_whose_mount_point_is_nearest_above_it(row: tuple[str, ...]) -> None:
    path, *expected = row
    assert fields_of(mac(path, (MACOS_CAPTURES / "mount.txt").read_text() + ODD_ON_A_MAC)) == expected


@given(st.text())
def test_a_field_of_the_table_is_read_as_it_was(text: str) -> None:
    assert from_table(in_table(text)) == text


@given(st.lists(st.sampled_from(["/", "/a", "/a/b", "/ab", "/a/b/c"]), min_size=1), st.sampled_from(["/a/b/x", "/ab"]))
def test_the_nearest_of_any_mounts_is_above_the_path(points: list[str], path: str) -> None:
    table = [MountedShare(point, str(number)) for number, point in enumerate(points)]
    above = [row for row in table if f"{path}/".startswith(f"{row.path.rstrip('/')}/")]
    row = innermost(table, path)
    assert len(row.path) == max((len(other.path) for other in above), default=1)
    assert not [other for other in above if other.path == row.path and int(other.kind) > int(row.kind)]


def emulated(folder: Path, table: str, **programs: str) -> LinuxMounts:
    cat = f"cat_table() {{ while IFS= read -r line; do echo \"$line\"; done; }}\ncat_table <<'END'\n{table}\nEND\n"
    return LinuxMounts(EmulatedHost(folder, {"cat": cat, **programs}, ("sh",)))


def test_links_are_followed_before_the_table_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "nas" / "films").mkdir(parents=True)
    (tmp_path / "short").symlink_to(tmp_path / "nas" / "films")
    table = f"/dev/sda2 / ext4 rw 0 0\n//nas/media {tmp_path}/nas cifs rw,addr=192.0.2.7 0 0"
    mounted = emulated(tmp_path, table).find(f"{tmp_path}/short")
    assert (mounted.path, mounted.protocol, mounted.share) == (f"{tmp_path}/nas", "smb", "media")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "nowhere",
            "there is no folder {path}, as far as this account can see: is the share mounted, and its",
        ),
        ("file", "{path} is a file: give the folder that it lies in"),
        ("nowhere/below", "there is no folder {path}"),
        ("stale", "{path} cannot be entered: nas: media is gone, or has ended the session: unmount the share"),
    ],
)
def test_a_folder_that_cannot_be_gone_into_is_bad_input(tmp_path: Path, name: str, complaint: str) -> None:
    (tmp_path / "file").touch()
    table = f"/dev/sda2 / ext4 rw 0 0\n//nas/media {tmp_path}/stale cifs rw,addr=192.0.2.7 0 0"
    with pytest.raises(BadInput) as error:
        emulated(tmp_path, table).find(f"{tmp_path}/{name}")
    assert complaint.format(path=one_line(f"{tmp_path}/{name}", 80)) in str(error.value)


def test_a_folder_of_another_account_is_bad_input() -> None:
    host = FakeHost()
    host.on(("cat", "/proc/self/mounts"), LINUX)
    host.on(script(ENTER, "/mnt/my nas/x"), "closed\n")
    with pytest.raises(BadInput, match=r"/mnt/my nas/x is closed to this account: `ls -ld"):
        LinuxMounts(host).find("/mnt/my nas/x")


def test_a_server_that_is_dead_is_named_after_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.platforms.mounts.ENTER", "sleep 5")
    monkeypatch.setattr("lab.platforms.mounts.ENTER_S", 0.2)
    mounts = LinuxMounts(EmulatedHost(tmp_path, {"cat": f"echo '//nas/media {tmp_path} cifs rw 0 0'"}, ("sh", "sleep")))
    with pytest.raises(BadInput, match=rf"{tmp_path}/x: nas: media does not answer: nothing came of it in 0\.2 s: is"):
        mounts.find(f"{tmp_path}/x")


@pytest.mark.parametrize(
    ("script", "answer", "message"),
    [
        ("sleep 5", "yes", "nothing came of nas: media, though its server answers: macOS may keep {} out of it"),
        ("sleep 5", "no", "nas: media does not answer: nothing came of it in 0.2 s, or macOS keeps {} out of it"),
        ("echo refused; echo 'sh: .: Operation not permitted'", "yes", "macOS keeps {} out of nas: media"),
    ],
)
def test_macos_is_named_where_it_may_keep_a_job_out_of_a_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, answer: str, message: str
) -> None:
    """``answer``: whether the share's server takes connections."""
    monkeypatch.setattr(os, "environ", {"XPC_SERVICE_NAME": "share-speed"})
    monkeypatch.setattr(os, "geteuid", lambda: 501)
    monkeypatch.setattr("lab.platforms.mounts.ENTER_S", 0.2)
    monkeypatch.setattr("lab.platforms.mounts.ENTER", script)
    row = f"echo '//ann@nas/media on {tmp_path} (smbfs, nodev)'"
    host = EmulatedHost(tmp_path, {"mount": row, "perl": f"echo {answer}"}, ("sh", "sleep"))
    host.is_here = True
    with pytest.raises(BadInput) as raised:
        MacMounts(host).find(str(tmp_path))
    assert raised.value.message.endswith(f": {message.format('the launchd job share-speed')}")
    assert "Leave the share mounted" in raised.value.remedy


def test_an_automounter_mounts_when_its_folder_is_gone_into(tmp_path: Path) -> None:
    """The table is read anew afterwards: what it had before is the automounter's own row."""
    before = f"systemd-1 {tmp_path} autofs rw 0 0\n"
    host = FakeHost()
    host.on(("cat", "/proc/self/mounts"), before)
    host.on(script(ENTER, str(tmp_path)), f"folder\n{tmp_path}\n")
    host.on(("cat", "/proc/self/mounts"), f"{before}nas:/x {tmp_path} nfs4 rw,addr=192.0.2.7 0 0\n")
    assert LinuxMounts(host).find(str(tmp_path)).protocol == "nfs"


def test_what_is_no_table_is_refused_and_a_system_without_a_reader_says_so() -> None:
    for parser, text in itertools.product((parse_mount_table, parse_table), ("", "nonsense\n", "a b\n")):
        with pytest.raises(ValueError, match="no mount"):
            parser(text)
    with pytest.raises(Unsupported, match="client: the lab cannot read the table of mounts of this system yet"):
        Mounts(FakeHost()).find("/mnt/x")
    assert Mounts(FakeHost()).negotiated(MountedShare("/", "ufs")) == {}


def negotiated(path: str, debug_data: str = "") -> dict[str, object]:
    host = FakeHost()
    mounted = linux(path)
    host.on(("cat", DEBUG_DATA), debug_data, exit_code=0 if debug_data else 1)
    return dict(LinuxMounts(host).negotiated(mounted))


def test_what_is_in_effect_on_linux_is_told_by_the_kernel_and_else_by_the_options() -> None:
    captured = (LINUX_CAPTURES / "cifs-debugdata-signed.txt").read_text()
    signed = captured.replace(r"\\10.99.0.2\lab", r"\\192.0.2.8\films")
    effective = negotiated("/mnt/auto", signed)
    assert (effective["dialect"], effective["signing"], effective["encryption"]) == ("SMB 2.1", "on", "off")
    assert effective["multichannel"] == "on"
    assert str(effective["mount_options"]).startswith("rw,vers=2.1,username=bob,seal,")
    encrypted = signed.replace("Serial Number: 0xbfcf91b1", "Serial Number: 0xbfcf91b1 Encrypted")
    assert negotiated("/mnt/auto", encrypted)["encryption"] == "on"
    of_today = (LINUX_CAPTURES / "cifs-debugdata-encrypted-7.2.txt").read_text()
    told = {share: parse_encrypted(of_today, rf"\\10.0.0.2\{share}") for share in ("sealed", "plain", "gone")}
    assert told == {"sealed": "true", "plain": "false", "gone": ""}
    assert parse_encrypted(encrypted + signed, r"\\192.0.2.8\films") == "", "two sessions that disagree tell nothing"
    # a mount by DFS is a share of another server, of which old and new kernels say so in different places
    origin = r"\\ad.example.com\dfsroot\Films"
    old = of_today.replace("\n\n\tSessions:", f"\nDFS origin full path: {origin}\n\n\tSessions:")
    new = of_today.replace("encrypted\n", f"encrypted\n\tDFS origin fullpath: {origin}\n")
    assert parse_encrypted(new, origin.lower()) == "true"
    assert parse_encrypted(old, origin.lower()) == "", "two shares of that connection disagree"
    assert parse_encrypted(old.replace("601c307\n", "601c307 encrypted\n"), origin) == "true"
    effective = negotiated("/mnt/my nas")
    assert (effective["dialect"], effective["rsize"], effective["signing"]) == ("SMB 3.1.1", 4194304, "on")
    assert "encryption" not in effective
    assert negotiated("/mnt/auto")["encryption"] == "on"
    assert "signing" not in negotiated("/mnt/auto")
    nfs = negotiated("/net/home")
    assert (nfs["dialect"], nfs["wsize"], nfs["mount"]) == ("NFSv4.2", 1048576, "kernel")
    assert "nconnect=4,sync" in str(nfs["mount_options"])
    assert negotiated("/mnt/sshfs") == {"mount": "sshfs"}
    assert negotiated("/mnt/afp") == {"mount": "mount_afpfs"}
    assert negotiated(f"{GVFS}/smb-share:server=nas,share=a") == {"mount": "gvfs"}


def test_what_is_in_effect_on_a_mac_is_told_by_smbutil_and_nfsstat_where_it_has_them() -> None:
    host, table = FakeHost(), (MACOS_CAPTURES / "mount.txt").read_text()
    statshares = (MACOS_CAPTURES / "smbutil-statshares-15.txt").read_text()
    host.on(("smbutil", "statshares", "-m", "/Volumes/share"), statshares)
    host.on(("smbutil", "multichannel", "-m", "/Volumes/share"), "Multichannel ON: yes\n")
    assert MacMounts(host).negotiated(mac("/Volumes/share", table)) == {
        "mount": "kernel", "dialect": "SMB 3.1.1", "signing": "off", "encryption": "off", "multichannel": "on",
        "mount_options": "nodev,nosuid",
    }  # fmt: skip
    host.on(("nfsstat", "-m", "/Volumes/JellyfinMovies"), (MACOS_CAPTURES / "nfsstat-m.txt").read_text())
    nfs = MacMounts(host).negotiated(mac("/Volumes/JellyfinMovies", table))
    assert (nfs["dialect"], nfs["rsize"]) == ("NFSv3", 131072)
    afp = {"mount": "kernel", "mount_options": "nodev,nosuid"}
    assert MacMounts(host).negotiated(mac("/Volumes/video", table)) == afp
    host = FakeHost()
    for subcommand in ("statshares", "multichannel"):
        host.on(("smbutil", subcommand, "-m", "/Volumes/share"), "smbutil: unknown command\n", exit_code=64)
    assert MacMounts(host).negotiated(mac("/Volumes/share", table)).keys() == {"mount", "mount_options"}
    host.on(("smbutil", "statshares", "-m", "/Volumes/share"), "  SMB_VERSION  SMB_9;rm\n")
    host.on(("smbutil", "multichannel", "-m", "/Volumes/share"))
    with pytest.raises(LabFailure, match="smbutil statshares"):
        MacMounts(host).negotiated(mac("/Volumes/share", table))
