"""Options of a protocol's mount and server: what each is told, what is in effect, and what it cannot be told."""

import pytest
from support.fake_host import FakeHost, RecordingHost
from support.pairs import OWN, share_of, side_of
from support.paths import LINUX_CAPTURES

from lab import protocols
from lab.base.errors import SettingRefused, Unsupported
from lab.hosts import systems
from lab.hosts.command import script
from lab.hosts.mounts import parse_mount_options, parse_signed, split_mount_options
from lab.protocols import Attached, Share
from lab.protocols.driver import options_in_effect
from lab.protocols.options import find_clash
from lab.protocols.smb.linux import HAS_FRUIT, LinuxSmb, parse_connected_addresses, parse_time_machine

SIGNED, UNSIGNED, SIGNED_BY_KSMBD, UNSIGNED_BY_KSMBD = (
    (LINUX_CAPTURES / f"cifs-debugdata-{name}.txt").read_text(encoding="utf-8")
    for name in ("signed", "unsigned", "ksmbd-signed", "ksmbd-unsigned")
)
MOUNTS = [line.split(" ") for line in (LINUX_CAPTURES / "mounts-7.2.txt").read_text(encoding="utf-8").splitlines()]
SHARE = r"\\10.99.0.2\lab"


def test_the_kernel_says_which_connection_is_signed_and_where_each_channel_goes() -> None:
    assert parse_signed(SIGNED, SHARE) == parse_signed(SIGNED_BY_KSMBD, SHARE) == "true"
    assert parse_signed(UNSIGNED, SHARE) == parse_signed(UNSIGNED_BY_KSMBD, SHARE) == "false"
    assert parse_signed(SIGNED, SHARE + "2") == ""
    assert parse_signed(SIGNED + UNSIGNED, SHARE) == ""
    assert parse_signed("", SHARE) == ""
    assert parse_signed(SIGNED, SHARE.upper() + r"\a folder") == "true", "a share has one name in any case"
    for odd in (" COMPRESS_LZNT1 signed", " signed posix"):
        assert parse_signed(SIGNED.replace(" signed", odd), SHARE) == "true"
    # The other channels of a session stand before its shares: fs/smb/client/cifs_debug.c of Linux 6.12.
    assert parse_connected_addresses(SIGNED, SHARE) == ["10.99.0.2"]
    channel = "\n\tExtra Channels: 1 \n\n\t\tChannel: 2 ConnectionId: 0x18\n"
    channel += "\t\tNumber of credits: 9,1,1 Dialect 0x300\n"
    second = "\t2)\tSpeed: 1000000000 bps\n\t\tIPv4: 10.99.1.2\n\t\t[CONNECTED]\n"
    second += "\t3)\tSpeed: Unknown\n\t\tIPv6: fe80::2\n"
    several = SIGNED.replace("\n\tShares:", f"{channel}\n\tShares:").replace("\n\n\tMIDs", f"{second}\n\n\tMIDs")
    assert parse_signed(several, SHARE) == "true"
    assert parse_connected_addresses(several, SHARE) == ["10.99.0.2", "10.99.1.2"]
    assert parse_connected_addresses(several, SHARE + "2") == []


NFS = {"client": "kernel", "server": "ganesha"}
SMB = NFS | {"signing": "true"}


def in_effect(protocol: str, fields: list[str], **more: str) -> dict[str, str]:
    options = protocols.find(protocol).options
    return {name: option.read_level(split_mount_options(fields[3]) | more) for name, option in options.items()}


def test_what_is_in_effect_stands_in_the_table_of_mounts_and_odd_words_are_no_level() -> None:
    more = NFS | {"signed": "true"}
    rows = [in_effect("nfs" if fields[2].startswith("nfs") else "smb", fields, **more) for fields in MOUNTS]
    expected = [
        NFS | {"version": "3", "nconnect": "4", "rsize": "64 KiB", "wsize": "512 KiB", "hard": "true"},
        NFS | {"version": "4.0", "nconnect": "1", "rsize": "512 KiB", "wsize": "512 KiB", "hard": "false"},
        NFS | {"version": "4.2", "nconnect": "16", "rsize": "512 KiB", "wsize": "64 KiB", "hard": "false"},
        *(SMB | {"dialect": dialect} for dialect in ("2.0.2", "2.1", "3.0.2", "3.1.1")),
    ]
    for levels, captured in zip(rows, expected, strict=True):
        assert levels.items() >= captured.items()  # an option that was added since has a level too
    assert split_mount_options("rw,vers=4.2,rsize=-1,x=\x1b[2J,hard,=,a=b=c") == {"rw": "", "vers": "4.2", "hard": ""}
    assert in_effect("nfs", ["", "", "", "rsize=x,vers=9"])["rsize"] == ""


def mount(protocol: str, share: Share) -> tuple[str, Attached]:
    """What mount(8) is told on a kernel that takes everything, and what is attached then."""
    fields = next(fields for fields in MOUNTS if fields[2].startswith({"smb": "cifs", "nfs": "nfs4"}[protocol]))
    client, server = (side_of(FakeHost(role), "linux", "10.99.0.2", OWN, "me") for role in ("client", "server"))
    assert isinstance(client.host, FakeHost)
    driver = protocols.find(protocol).driver("linux")
    vars(driver)["kernel_can"] = True
    vars(driver)["read_negotiated"] = lambda *_: {}
    vars(driver)["kernel_mount"] = lambda *_: ("source", "words")
    vars(driver)["options_outside_table"] = lambda *_: {"signed": "false"}
    client.host.on(("mkdir", "-p", f"{OWN}/mnt"))
    client.host.on(("/bin/sh", "-c", 'grep -F " $1 " /proc/self/mounts', "sh", f"{OWN}/mnt"), " ".join(fields) + "\n")
    steps = driver.attach(client, server, share)
    argv = next(steps).apply[0].argv
    with pytest.raises(StopIteration) as end:
        next(steps)
    return argv[argv.index("-o") + 1], end.value.value


def test_the_kernel_is_told_what_was_asked_for() -> None:
    assert mount("smb", share_of())[0] == mount("smb", share_of(signing="false"))[0] == "words"
    assert mount("smb", share_of(dialect="3.0.2", signing="true"))[0] == "words,vers=3.02,sign"
    words = "words,vers=4.1,nconnect=4,rsize=65536"
    assert mount("nfs", share_of(version="4.1", nconnect="4", rsize="64 KiB"))[0] == words
    assert mount("nfs", share_of(hard="true"))[0] == "words,hard"


def test_what_is_not_as_it_was_asked_for_is_refused() -> None:
    share = share_of(version="4.0", rsize="1 MiB")
    refusal = r"client: nfs\.rsize was set to 1 MiB and reads back as 512 KiB: client or"
    with pytest.raises(SettingRefused, match=refusal):
        options_in_effect("nfs", share, mount("nfs", share)[1].options)
    with pytest.raises(SettingRefused, match=r"smb\.signing was set to true and reads back as unknown"):
        options_in_effect("smb", share_of(signing="true"), {})
    levels = options_in_effect("nfs", share_of(version="4.0"), mount("nfs", share)[1].options)
    assert levels["nfs.version"] == "4.0"


def test_a_client_that_cannot_be_told_says_so() -> None:
    host = FakeHost()
    side = side_of(host, "linux", "10.99.0.1", OWN, "me")
    driver = protocols.find("nfs").driver("linux")
    vars(driver)["_kernel_can"] = lambda _: False
    vars(driver)["_check_gvfs"] = lambda _: None
    cannot = "this client mounts by GVfs, which takes no options: its kernel has no nfs"
    for options in ({"version": "3"}, {"client": "kernel"}):
        assert driver.cannot_attach(side, options) == cannot
    for options in ({}, {"client": "gvfs"}, {"server": "kernel"}):
        assert driver.cannot_attach(side, options) == ""
    vars(driver)["_kernel_can"] = lambda _: True
    assert driver.cannot_attach(side, {"version": "3", "client": "kernel"}) == ""
    assert driver.cannot_attach(side, {"readahead": "4"}) == "the nfs of Linux knows no such option"


@pytest.mark.parametrize(
    ("kernel", "options", "cannot", "is_asked"),
    [
        ("25.4.0", {"client": "gvfs"}, "the smbfs of a Mac knows no such option", False),
        ("25.4.0", {"client": "gvfs", "dialect": "2.1"}, "the smbfs of a Mac knows no such option", False),
        ("25.4.0", {"server": "samba"}, "", False),
        ("25.4.0", {"signing": "true"}, "", False),
        ("25.4.0", {"dialect": "2.1"}, "", True),
        ("20.4.0", {"multichannel": "true", "dialect": "3.1.1", "signing": "true"}, "", True),
        ("20.3.0", {"multichannel": "true", "signing": "true"}, "this macOS is too old to be told multichannel", True),
        ("14.5.0", {"dialect": "2.1"}, "this macOS is too old to be told dialect", True),
    ],
)
def test_a_mac_takes_the_options_of_its_version_and_is_asked_for_it_only_where_that_decides(
    kernel: str, options: dict[str, str], cannot: str, is_asked: bool
) -> None:
    host = FakeHost()
    host.on(("uname", "-r"), f"{kernel}\n")
    driver, side = protocols.find("smb").driver("macos"), side_of(host, "macos", "10.99.0.1", OWN, "me")
    assert driver.cannot_attach(side, options) == cannot
    assert bool(host.sent) == is_asked


# No mount at hand has these: the rows are made up after nfs(5) and mount.cifs(8)
NFS_ROW = (
    "rw,relatime,vers=4.2,rsize=1048576,wsize=524288,namlen=255,soft,proto=tcp,timeo=100,retrans=3,sec=sys,"
    "clientaddr=192.0.2.1,local_lock=none,addr=192.0.2.2"
)
CIFS_ROW = (
    "rw,relatime,vers=3.1.1,cache=strict,username=lab,uid=1000,forceuid,addr=192.0.2.2,file_mode=0755,soft,"
    "rsize=4194304,wsize=4194304,bsize=1048576"
)


def test_what_is_not_said_or_not_a_number_is_not_known() -> None:
    assert parse_mount_options(NFS_ROW, "NFSv") == {"rsize": 1048576, "wsize": 524288, "dialect": "NFSv4.2"}
    assert parse_mount_options(CIFS_ROW, "SMB ") == {"rsize": 4194304, "wsize": 4194304, "dialect": "SMB 3.1.1"}
    assert parse_mount_options("rw,relatime", "NFSv") == {}
    assert parse_mount_options("rsize=\x1b[2J,wsize=-1,vers=$(id)", "NFSv") == {}


FRUIT = "vfs objects = catia fruit streams_xattr\nfruit:time machine = "


@pytest.mark.parametrize(("level", "lines"), [("", ""), ("false", f"{FRUIT}no\n"), ("true", f"{FRUIT}yes\n")])
def test_samba_is_told_of_macs_where_a_sweep_says_so_alone(level: str, lines: str) -> None:
    options = {"time_machine": level} if level else {}
    host = RecordingHost("server", ())
    list(protocols.find("smb").driver("linux").serve(side_of(host), share_of(**options)))
    text = "".join(given for argv, given in host.told if "umask" in argv[2])
    assert lines in text
    assert ("fruit" in text) == bool(lines)


def test_a_samba_without_the_module_for_macs_is_an_error_that_names_its_package() -> None:
    host = FakeHost("server")
    side = side_of(host)
    assert LinuxSmb().cannot_serve(side, share_of()) == ""
    host.on(script(HAS_FRUIT))
    assert LinuxSmb().cannot_serve(side, share_of(time_machine="true")) == ""
    host.on(script(HAS_FRUIT), exit_code=1)
    host.on(systems.ask(), "apt-get\n")
    with pytest.raises(Unsupported, match="no vfs_fruit there: `apt-get install samba-vfs-modules`"):
        LinuxSmb().cannot_serve(side, share_of(time_machine="true"))


def test_only_samba_has_a_level_for_macs_which_testparm_tells() -> None:
    assert "only Samba" in find_clash({"server": "ksmbd", "time_machine": "false"})
    assert find_clash({"server": "samba", "time_machine": "true", "client": "gvfs"}) == ""
    side = side_of(FakeHost("server"), "macos", "192.0.2.2", OWN, "me")
    refusal = protocols.find("smb").driver("macos").cannot_serve(side, share_of(time_machine="true"))
    assert refusal == "the lab does not choose what serves there"
    for text, level in {"yes\n": "true", "No\n": "false", "": "", "maybe\n": ""}.items():
        assert parse_time_machine(text) == level
