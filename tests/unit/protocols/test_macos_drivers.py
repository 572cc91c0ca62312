"""Macs as clients: emulated commands that mount, what they refuse and print, and what is put back afterwards."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.emulated_mac import capture
from support.emulated_shares import MOUNTED, PASSWORD, Pair, state
from support.fake_host import EmulatedHost
from support.pairs import OWN_NAME

from lab import protocols, workloads
from lab.base.errors import CommandError, LabFailure, Unsupported
from lab.hosts import Role
from lab.hosts.command import run_perl
from lab.hosts.mounts import parse_mounts, parse_multichannel, parse_nfsstat, parse_statshares, read_parameters
from lab.platforms.macos.files import MacPrograms
from lab.platforms.macos.mounts import parse_table
from lab.protocols.afp.macos import MacAfp
from lab.protocols.mounts.macos import PROMPT
from lab.protocols.nfs.macos import MacNfs
from lab.protocols.nfs.options import MACOS_OPTIONS
from lab.protocols.smb.macos import MacSmb, parse_channels
from lab.run.case.sharing import explained
from lab.workloads.rsync import parse_version


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


SMB = {"dialect": "SMB 3.1.1", "signing": "off", "encryption": "off", "multichannel": "on", "session": "own"}


@pytest.mark.parametrize(
    ("name", "source", "effective"),
    [
        ("smb", "//lab@10.254.100.2/my%20share", SMB),
        ("nfs", "10.254.100.2:/", {"dialect": "NFSv3", "rsize": 131072, "wsize": 131072}),
        ("afp", "//lab@10.254.100.2/my%20share", {}),
    ],
)
def test_a_share_comes_and_goes(pair: Pair, name: str, source: str, effective: dict[str, Any]) -> None:
    before = state(pair.client)
    attached = pair.attach(name)
    path = f"{pair.folder}/client/{OWN_NAME}/mnt"
    line = state(pair.client)["table"].splitlines()[-1]
    assert line.startswith(source)
    assert f" on {path} (" in line
    assert attached.path == path
    assert attached.effective == {"mount": "kernel", "mount_options": "nodev,nosuid,nobrowse", **effective}
    pair.settings.unwind()
    assert state(pair.client) == before


@pytest.mark.parametrize("name", MOUNTED)
def test_a_fresh_mount_is_the_same_one_and_the_journal_alone_takes_it_off_if_it_is_busy(pair: Pair, name: str) -> None:
    before = state(pair.client)
    pair.attach(name)
    mounted = state(pair.client)
    pair.settings.renew(pair.settings.journal.open[-1])
    assert state(pair.client) == mounted
    assert len(pair.client.calls("umount")) == 1
    (pair.client.folder / "busy").touch()
    pair.anew().unwind()
    assert state(pair.client) == before
    assert pair.client.calls("umount")[-1].startswith("umount -f ")


@pytest.mark.parametrize("name", MOUNTED)
def test_no_password_is_in_an_argument_a_file_or_a_message(pair: Pair, name: str) -> None:
    pair.attach(name)
    (pair.client.folder / "password").write_text("another")
    words = [*pair.client.calls(), *pair.server.calls(), (pair.folder / "journal.jsonl").read_text()]
    words += [file.read_text() for file in (pair.folder / "client" / OWN_NAME).glob("*") if file.is_file()]
    if name != "nfs":
        with pytest.raises(CommandError) as caught:
            pair.settings.renew(pair.settings.journal.open[-1])
        words.append(str(caught.value))
    for form in (PASSWORD, "hunter2%20%25%26%2F", "hunter2%20%25%26%2f"):
        assert form not in "\n".join(words)


def test_sessions_are_of_their_own_where_mount_smbfs_knows_them(tmp_path: Path) -> None:
    pair = Pair(tmp_path, usage="")
    assert "session" not in pair.attach("smb").effective
    assert [call for call in pair.client.calls("mount_smbfs") if "-s" in call.split()] == []


@pytest.mark.parametrize(("darwin", "alone"), [("10.8.0", True), ("12.6.0", True), ("13.4.0", False), ("25", False)])
def test_macs_that_know_smb_1_alone_have_it_offered(tmp_path: Path, darwin: str, alone: bool) -> None:
    pair = Pair(tmp_path, usage="")
    (pair.client.folder / "darwin").write_text(f"{darwin}\n")
    (pair.client.folder / "bin/smbutil").write_text("#!/bin/sh\nexit 64\n")
    smb = MacSmb()
    assert smb.old_dialect(pair.sides["client"]) == ("SMB 1" if alone else "")
    assert smb.mount_method(pair.sides["client"]) == "kernel smbfs" + (", SMB 1 alone" if alone else "")
    assert pair.attach("smb").effective.get("dialect") == ("SMB 1" if alone else None)


@pytest.mark.parametrize(("darwin", "knows_it"), [("10.8.0", False), ("11.4.2", True), ("25.0.0", True)])
def test_nfs_over_ipv6_is_refused_before_10_7(pair: Pair, darwin: str, knows_it: bool) -> None:
    (pair.client.folder / "darwin").write_text(f"{darwin}\n")
    mac = replace(pair.sides["client"], address="fd00:77::1")
    if knows_it:
        assert (MacNfs().mount_method(mac), MacNfs().served_by(mac, "lab")) == ("kernel nfs", "nfsd")
        with pytest.raises(Unsupported, match="nfsd cannot serve at fe80::1%en0, an address of one link"):
            MacNfs().served_by(replace(mac, address="fe80::1%en0"), "lab")
        return
    message = "NFS of Macs before 10.7 knows IPv4 alone, and data_address is fd00:77::1: give both hosts"
    for ask in (MacNfs().mount_method, lambda side: MacNfs().served_by(side, "lab")):
        with pytest.raises(Unsupported, match=message):
            ask(mac)
    assert MacNfs().mount_method(pair.sides["client"]) == "kernel nfs"


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("smb", "//lab@[fd00:77::2]/my%20share on "),
        ("afp", "//lab@[fd00:77::2]/my%20share on "),
        ("nfs", "[fd00:77::2]:/"),
    ],
)
def test_a_share_at_an_address_of_ipv6_is_named_with_brackets(pair: Pair, name: str, source: str) -> None:
    for role, address in (("client", "fd00:77::1"), ("server", "fd00:77::2")):
        pair.sides[role] = replace(pair.sides[role], address=address)
    pair.attach(name)
    mounted = parse_table(state(pair.client)["table"])[-1]
    assert state(pair.client)["table"].splitlines()[-1].startswith(source)
    assert (mounted.server, mounted.protocol) == ("fd00:77::2", name)


def test_another_version_of_nfs_than_was_asked_for_or_another_kind_of_mount_is_an_error(pair: Pair) -> None:
    (pair.client.folder / "vers").write_text("4")
    with pytest.raises(LabFailure, match="client: asked for NFSv3, and nfsstat -m says NFSv4"):
        pair.attach("nfs")
    pair.settings.unwind()
    place = pair.folder / "client" / OWN_NAME / "mnt"
    with (pair.client.folder / "table").open("a") as table:
        table.write(f"//x@y/z on {place} (smbfs, nodev)\n")
    with pytest.raises(LabFailure, match="is a mount of smbfs, not of nfs"):
        pair.attach("nfs")


def test_a_share_that_macos_keeps_ssh_sessions_out_of_is_taken_off_again(pair: Pair) -> None:
    before = state(pair.client)
    (pair.client.folder / "private").touch()
    with pytest.raises(CommandError, match="Operation not permitted"):
        pair.attach("smb")
    pair.settings.unwind()
    assert state(pair.client) == before


def test_a_client_that_is_gone_is_said_with_what_to_do(pair: Pair) -> None:
    methods = [protocols.find(name).driver("macos").mount_method(pair.sides["client"]) for name in MOUNTED]
    assert methods == ["kernel smbfs", "kernel nfs", "kernel afpfs"]
    (pair.client.folder / "bin/mount_afp").unlink()
    with pytest.raises(Unsupported, match="client: no mount_afp: macOS 27 has removed its AFP client: leave afp out"):
        MacAfp().mount_method(pair.sides["client"])


@pytest.mark.parametrize(
    ("driver", "code", "output", "advice"),
    [
        (MacSmb, 77, "mount_smbfs: server rejected the connection: Authentication error", "Windows File Sharing"),
        (MacSmb, 68, "mount_smbfs: server connection failed: Connection refused", "no SMB server answers"),
        (MacSmb, 68, "mount_smbfs: server connection failed: Operation timed out", "firewall open for port 445"),
        (MacSmb, 64, "mount_smbfs: mount error: /Volumes/Data: File exists", "mounted already, Finder perhaps"),
        (MacSmb, 64, "mount_smbfs: mount error: /x: No such file or directory", "no such share"),
        (MacSmb, 64, "mount_smbfs: mount error: /x: unknown error: -1073741275", "no such share"),
        (MacSmb, 71, "mount_smbfs: unknown status -1073741260: Unknown error", "locked the account out"),
        (MacSmb, 64, "mount_smbfs: URL parsing failed, please correct the URL and try again: x", r"choose others"),
        (MacNfs, 13, "mount_nfs: can't mount /a from h onto /b: Permission denied", "does not export that folder"),
        (MacNfs, 1, "mount_nfs: can't mount /a from h onto /b: Operation not permitted", "port below 1024"),
        (MacNfs, 60, "mount_nfs: can't mount /a from h onto /b: Operation timed out", "firewall"),
        (MacNfs, 61, "mount_nfs: can't mount /a from h onto /b: Connection refused", "no NFS server answers"),
        (MacNfs, 2, "mount_nfs: can't mount /a from h onto /b: No such file or directory", "no such folder"),
        (MacNfs, 1, 'exports:1: sandbox_check failed. nfsd has no read access to "/x"', "add /sbin/nfsd"),
        (MacAfp, 1, "mount_afp: AFPMountURL returned error -5023, errno is -5023", "refused account or password"),
        (MacAfp, 1, "mount_afp: AFPMountURL returned error -5002, errno is -5002", "uams_dhx2"),
        (MacAfp, 3, "something that nobody has seen", ""),
    ],
)
def test_failures_come_with_what_to_do(driver: type[MacSmb], code: int, output: str, advice: str) -> None:
    with pytest.raises(CommandError) as caught, explained({Role.CLIENT: driver()}):
        raise CommandError("client", ("mount",), code, output)
    message = str(caught.value)
    assert output in message
    assert f"exit code {code}" in message
    assert advice in message.splitlines()[-1]


def test_a_refused_password_ends_a_mount_at_the_second_question(pair: Pair) -> None:
    (pair.client.folder / "password").write_text("another")
    with pytest.raises(CommandError, match="asked for the password again: the password was refused") as caught:
        pair.attach("afp")
    assert caught.value.exit_code == 77
    assert PASSWORD not in str(caught.value)


def prompted(command: str, password: str = PASSWORD) -> subprocess.CompletedProcess[str]:
    argv = run_perl(PROMPT, "sh", "-c", command)
    return subprocess.run(argv, input=f"{password}\n", capture_output=True, text=True, timeout=30)


def test_a_command_has_its_own_terminal_and_what_it_prints_has_no_password() -> None:
    process = prompted("echo out; echo err >&2; [ -t 0 ] && [ -t 1 ] && echo tty > /dev/tty; exit 9")
    assert (process.returncode, process.stdout, process.stderr) == (9, "", "out\nerr\ntty\n")
    assert prompted("kill -TERM $$").returncode == 128 + 15
    say = "printf 'Password for x: '; IFS= read -r p; echo \"//lab:$p@x\"; echo //lab:hunter2%20%25%26%2f%C3%B6@x"
    printed = prompted(say).stderr
    assert (printed.count("***") >= 2, "hunter2" in printed) == (True, False)
    unasked = subprocess.run(run_perl(PROMPT, "true"), stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    assert (unasked.returncode, unasked.stderr) != (0, b"")


def test_the_table_of_mounts() -> None:
    mounts = parse_mounts(capture("mount.txt"))
    assert mounts["/Volumes/share"] == ("smbfs", "nodev,nosuid")
    assert mounts["/Volumes/share-1"] == ("smbfs", "nodev,nosuid,noowners")
    assert mounts["/Volumes/JSS REPO"] == ("afpfs", "nodev,nosuid")
    assert mounts["/Volumes/JellyfinMovies"] == ("nfs", "nodev,nosuid")
    assert mounts["/System/Volumes/Data/home"] == ("autofs", "automounted,nobrowse")
    assert len(mounts) == 8


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


def test_which_rsync_it_is_and_an_unknown_one_is_an_error(tmp_path: Path) -> None:
    assert parse_version(capture("rsync-version-2.6.9.txt")) == "rsync 2.6.9, protocol 29"
    assert parse_version(capture("rsync-version-15.4.txt")) == "openrsync, protocol 29"
    assert parse_version(capture("rsync-version-homebrew.txt")) == "rsync 3.4.1, protocol 32"
    for version in ("3.5.0-g471e17dc", "3.2.7-28-g0123abc", "3.4.1+ds1-5", "3.4.0~pre1"):  # as distributions write it
        assert parse_version(f"rsync  version {version}  protocol version 32\n") == f"rsync {version}, protocol 32"
    host = EmulatedHost(tmp_path, {"rsync": "echo rclone v1.60"}, ("sh", "env"))
    with pytest.raises(
        Unsupported, match="client: rsync --version: it is neither rsync nor the openrsync of macOS: 'rclone"
    ):
        workloads.tool("rsync").version(host, MacPrograms.calls["rsync"])
