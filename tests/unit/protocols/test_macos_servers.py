"""Macs as servers: share points, exports and services that come and go byte by byte, and accounts that stay."""

import os
import re
import subprocess
import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.emulated_mac import capture
from support.emulated_shares import MOUNTED, Pair, state
from support.examples import at_most
from support.pairs import OWN_NAME

from lab import protocols
from lab.base.errors import CommandError, LabFailure, SettingRefused, Unsupported
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts.command import run_perl
from lab.protocols.afp.macos import MacAfp
from lab.protocols.nfs import macos
from lab.protocols.nfs.macos import EDIT, parse_network
from lab.protocols.servers import macos_sharing
from lab.protocols.servers.macos_sharing import SharePoint, parse_share_points
from lab.protocols.smb.macos import MacSmb
from lab.run.begin.capability import check_sync


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    made = Pair(tmp_path)
    monkeypatch.setattr(macos_sharing, "DAEMONS", str(tmp_path / "server/LaunchDaemons"))
    monkeypatch.setattr(macos, "EXPORTS", str(tmp_path / "server/exports"))
    return made


@pytest.mark.parametrize("by_another", [False, True])
@pytest.mark.parametrize("was_on", [False, True])
@pytest.mark.parametrize(("name", "label"), [("smb", "com.apple.smbd"), ("afp", "com.apple.AppleFileServer")])
def test_what_is_offered_is_taken_back(pair: Pair, name: str, label: str, was_on: bool, by_another: bool) -> None:
    (pair.server.folder / "points").write_text("theirs|/Users/me/Public|smb|Public\n")
    (pair.server.folder / "loaded").write_text(f"{label}\n" if was_on else "com.apple.other\n")
    (pair.server.folder / "table").write_text("/dev/disk1 on / (hfs, local, journaled)\n")
    before = state(pair.server)
    pair.serve(name)
    assert label in state(pair.server)["loaded"].splitlines()
    assert state(pair.server)["points"].splitlines()[-1] == f"{OWN_NAME}-{name}|{pair.share.path}|{name}|my share"
    (pair.anew() if by_another else pair.settings).unwind()
    assert state(pair.server) == before
    calls = pair.server.calls("launchctl")
    assert (bool(calls), any("unload" in call for call in calls)) == (True, not was_on)


def test_a_server_that_is_noted_to_be_off_is_noted_so_again_afterwards(pair: Pair) -> None:
    """Whether `launchctl load -F` passes over that note no source says: here it does not."""
    switches = pair.server.folder / "switches"
    switches.write_text('\t"com.apple.other" => enabled\n\t"com.apple.smbd" => disabled\n')
    before = state(pair.server), switches.read_text()
    pair.serve("smb")
    assert "com.apple.smbd" in state(pair.server)["loaded"].splitlines()
    assert '"com.apple.smbd" => enabled' in switches.read_text()
    pair.anew().unwind()
    assert (state(pair.server), switches.read_text()) == before


def test_the_name_of_a_share_of_theirs_is_not_taken(pair: Pair) -> None:
    (pair.server.folder / "points").write_text("theirs|/Users/me/Public|smb|My Share\n")
    before = state(pair.server)
    with pytest.raises(LabFailure, match="shares /Users/me/Public as my share already: give"):
        pair.serve("smb")
    assert state(pair.server) == before


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("refuse", "", f"share point {OWN_NAME}-smb: asked for 'shared', in effect is 'absent'"),
        ("renamed", "-1", r"asked sharing for .*'my share'.*, and it lists .*'my share-1'"),
    ],
)
def test_a_share_point_that_is_not_as_asked_for_is_noticed_although_sharing_exits_0(
    pair: Pair, file: str, content: str, message: str
) -> None:
    before = state(pair.server)
    (pair.server.folder / file).write_text(content)
    with pytest.raises(SettingRefused, match=message):
        pair.serve("smb")
    pair.settings.unwind()
    assert state(pair.server) == before


@pytest.mark.parametrize(
    ("kind", "advice"), [("apfs", r"store = ram"), ("zfs", r"com\.apple\.mimic_hfs=on"), ("msdos", "store = ram")]
)
def test_afp_shares_only_what_looks_like_hfs_and_no_ram_disk_of_apfs(pair: Pair, kind: str, advice: str) -> None:
    (pair.server.folder / "table").write_text(f"x on / ({kind}, local)\n")
    with pytest.raises(Unsupported, match=rf"AFP cannot share .*, which is on {kind}: .*{advice}"):
        pair.serve("afp")
    assert pair.settings.journal.open == []
    server = pair.sides["server"]
    with pytest.raises(Unsupported, match=r"server: AFP cannot share APFS: ram_disk_format = hfs in \[server\]"):
        MacAfp().check_ram_disk(server, "apfs")
    for layout in (None, "hfs-case"):
        MacAfp().check_ram_disk(server, layout)
    MacSmb().check_ram_disk(server, "apfs")


@pytest.mark.parametrize(
    ("name", "text", "remedy"),
    [
        ("hashes", "SALTED-SHA512-PBKDF2 SRP-RFC5054-4096-SHA512-PBKDF2\n", "Options > Windows File Sharing"),
        ("outsiders", "root\n", "dseditgroup -o edit -a root -t user com.apple.access_smb"),
        ("LaunchDaemons/com.apple.smbd.plist", None, "no SMB server of its own"),
    ],
)
def test_what_keeps_an_account_out_is_not_changed(pair: Pair, name: str, text: str | None, remedy: str) -> None:
    file = pair.server.folder / name
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(Unsupported, match=remedy):
        MacSmb().served_by(pair.sides["server"], "root")
    assert {call.split()[0] for call in pair.server.calls()} <= {"dscl", "dseditgroup", "pwpolicy"}


def test_an_account_that_may_log_in_is_served_if_it_and_the_server_are_there(pair: Pair) -> None:
    assert MacSmb().served_by(pair.sides["server"], "root") == "smbd"
    (pair.server.folder / "hashes").write_text("")  # pwpolicy may not tell
    assert MacSmb().served_by(pair.sides["server"], "root") == "smbd"
    (pair.server.folder / "outsiders").write_text("somebody\n")
    assert MacAfp().served_by(pair.sides["server"], "root") == "AppleFileServer"
    with pytest.raises(Unsupported, match="there is no account nobody-at-all"):
        MacSmb().served_by(pair.sides["server"], "nobody-at-all")
    (pair.server.folder / "LaunchDaemons/com.apple.AppleFileServer.plist").unlink()
    with pytest.raises(Unsupported, match="server: this macOS has no AFP server: 11 and later have none: serve"):
        MacAfp().served_by(pair.sides["server"], "root")


def test_durability_cannot_be_set_on_a_mac(pair: Pair) -> None:
    for level, refused in {"default": False, "async": True, "sync": True}.items():
        options = (("server_sync", level),)
        case = Case("smb", "cp", Direction.WRITE, 1500, "default", "ram", "file", 1, options)
        with pytest.raises(Unsupported, match="the system's own") if refused else nullcontext():
            check_sync(case, MacSmb())
    assert not any(protocols.find(name).driver("macos").own_server for name in MOUNTED)
    assert all(protocols.find(name).driver("linux").own_server for name in MOUNTED)


THEIRS = "# theirs\n/Users -ro -network 10.0.0.0 -mask 255.0.0.0\n"


@pytest.mark.parametrize("by_another", [False, True])
@pytest.mark.parametrize("nfsd", ["enabled", "disabled", "started"])
@pytest.mark.parametrize("exports", [None, "", "/Users -ro", THEIRS], ids=["none", "empty", "unended", "theirs"])
def test_exports_are_put_back_byte_by_byte(pair: Pair, exports: str | None, nfsd: str, by_another: bool) -> None:
    folder = pair.server.folder
    if exports is not None:
        (folder / "exports").write_text(exports)
    if nfsd == "enabled":
        (folder / "enabled").touch()
    if nfsd != "disabled":
        (folder / "loaded-nfsd").touch()
    pair.server.shell("nfsd status", check=False)  # launchd starts it
    before = state(pair.server)
    pair.serve("nfs")
    line = f"{pair.share.path} -fspath=/ -mapall={os.getuid()}:{os.getgid()}"
    network = "-network 10.254.0.0 -mask 255.255.0.0"
    assert (folder / "known").read_text().splitlines()[-1] == f"{line} {network}"
    assert (folder / "known").read_text().startswith(exports or "")
    (pair.anew() if by_another else pair.settings).unwind()
    assert state(pair.server) == before


def test_a_folder_of_the_data_volume_is_exported_and_asked_for_by_its_place_there(pair: Pair) -> None:
    """From 10.15 on: nfsd takes no other path, and df tells the volume."""
    volume = pair.folder / "Data"
    place = Path(f"{volume}{pair.share.path}")
    place.parent.mkdir(parents=True)
    (pair.server.folder / "volume").write_text(f"{volume}\n")
    with pytest.raises(Unsupported, match=f"is on {volume}, and not there as {place}: share another folder"):
        pair.serve("nfs")
    place.symlink_to(pair.share.path)
    pair.serve("nfs")
    assert (pair.server.folder / "known").read_text().startswith(f"{place} -fspath={volume} ")
    assert macos.exported_path(pair.sides["server"], pair.share) == str(place)
    theirs = replace(pair.share, served_by_lab=False)
    assert macos.exported_path(pair.sides["server"], theirs) == pair.share.path


def test_lines_of_theirs_that_came_meanwhile_stay(pair: Pair) -> None:
    pair.serve("nfs")
    with (pair.server.folder / "exports").open("a") as file:
        file.write(THEIRS)
    pair.anew().unwind()
    assert (pair.server.folder / "exports").read_text() == THEIRS


def test_nothing_is_exported_that_nfsd_may_not_read(pair: Pair) -> None:
    (pair.server.folder / "sandboxed").touch()
    with pytest.raises(CommandError, match="sandbox_check failed"):
        pair.serve("nfs")
    assert pair.settings.journal.open == []


@pytest.mark.parametrize("name", ["my disk", "a,b"])
def test_a_path_that_exports_cannot_say_is_refused(pair: Pair, name: str) -> None:
    folder = pair.folder / name / "ram"
    folder.mkdir(parents=True)
    pair.share = replace(pair.share, path=str(folder))
    (pair.server.folder / "volume").write_text(f"{folder.parent}\n")
    with pytest.raises(Unsupported, match="server: exports cannot say"):
        pair.serve("nfs")
    assert pair.settings.journal.open == []


def edit(file: Path, act: str, *words: str) -> None:
    subprocess.run(run_perl(EDIT, act, str(file), *words), check=True)


@at_most(25)
@given(st.lists(st.sampled_from(["/a", "# b", "", "/p -q", "/p -q 10"])), st.booleans(), st.lists(st.just("/later")))
def test_a_line_of_exports_comes_and_goes_without_a_trace(before: list[str], ended: bool, after: list[str]) -> None:
    text = "\n".join(before) + ("\n" if ended else "")
    how = "whole" if not text or text.endswith("\n") else "unended"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "exports"
        file.write_text(text)
        edit(file, "add", "/ours -x")
        with file.open("a") as more:
            more.writelines(f"{line}\n" for line in after)
        edit(file, "remove", "/ours -x", how)
        gap = "\n" if after and how == "unended" else ""
        assert file.read_text() == text + gap + "".join(f"{line}\n" for line in after)


def test_a_file_of_exports_that_was_not_there_goes_unless_others_wrote_into_it(tmp_path: Path) -> None:
    file = tmp_path / "exports"
    edit(file, "add", "/ours -x")
    edit(file, "remove", "/ours -x", "missing")
    assert list(tmp_path.iterdir()) == []
    edit(file, "add", "/ours -x")
    edit(file, "add", "/theirs")
    edit(file, "remove", "/ours -x", "missing")
    assert file.read_text() == "/theirs\n"


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
    text += "\tinet6 fd00:77::1 prefixlen 56 autoconf secured \n"
    network = parse_network(text, "fd00:77::1")
    assert (str(network), str(network.netmask)) == ("fd00:77::/56", "ffff:ffff:ffff:ff00::")
    for address in ("10.254.100", "nas.local", "10.254.100.20", "fd00:77::", "fd00:77::11"):
        with pytest.raises(Unsupported, match="is data_address of"):
            parse_network(text, address)
