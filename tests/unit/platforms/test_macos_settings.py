from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from support.emulated_mac import capture, mac, state
from support.fake_host import EmulatedHost, FakeHost
from support.paths import MACOS_CAPTURES

from lab.base.errors import CommandError, LabFailure, RestoreError, SettingRefused, Unsupported
from lab.hosts import Host
from lab.hosts.command import script
from lab.hosts.mounts import is_mounted_on_mac
from lab.platforms.linux.platform import Linux
from lab.platforms.macos import parsers as output
from lab.platforms.macos import ram_disk as macos_ram_disk
from lab.platforms.macos.network import RAW_SOCKET
from lab.platforms.macos.platform import MacOS
from lab.platforms.macos.settings import READ_MTU
from lab.platforms.network import AWAIT
from lab.settings.changes import Settings
from lab.settings.journal import Journal

MIB = 2**20
SIZE = 64 * MIB
SPACES = {"tcp.sendspace": "65536", "tcp.recvspace": "65536"}
BUSY_TWICE, ALWAYS_BUSY = "2\n", "99\n"


def settings(host: Host, folder: Path) -> Settings:
    return Settings({host.role: host}, Journal(folder / "journal.jsonl"))


# MTU


def test_mtu_is_set_and_put_back_and_the_link_is_awaited(tmp_path: Path) -> None:
    host = mac(tmp_path)
    changes = settings(host, tmp_path)
    with changes.scope():
        changes.apply(MacOS(host).settings.mtu("en0", 9000))
        assert state(host)["mtu"] == "9000\n"
        assert len(host.calls("sleep")) == 3  # the link was down twice
    assert state(host)["mtu"] == "1500\n"
    assert changes.journal.open == []


def test_a_refused_mtu_is_noticed_although_ifconfig_exits_0(tmp_path: Path) -> None:
    host = mac(tmp_path)
    changes = settings(host, tmp_path)
    refused = "MTU of en0: asked for '16000', in effect is '1500': the interface or its driver does not take it: give"
    with pytest.raises(SettingRefused, match=refused), changes.scope():
        changes.apply(MacOS(host).settings.mtu("en0", 16000))
    assert state(host)["mtu"] == "1500\n"
    assert changes.journal.open == []


def test_an_mtu_that_cannot_be_read_is_an_error() -> None:
    host = FakeHost()
    host.on(script(READ_MTU, "en9"), stderr="ifconfig: interface en9 does not exist", exit_code=1)
    with pytest.raises(CommandError, match="interface en9 does not exist"):
        MacOS(host).settings.mtu("en9", 9000).read.run(host)


# TCP buffers


@pytest.mark.parametrize(
    ("era", "pins", "wanted"),
    [
        ("10.6", {"sockthreshold": "64"}, {"sockthreshold": "0"}),
        ("10.6", {"doautorcvbuf": "1", "doautosndbuf": "1"}, {"doautorcvbuf": "0", "doautosndbuf": "0"}),
        (
            "10.10",
            {"sockthreshold": "0", "doautorcvbuf": "1", "doautosndbuf": "1", "autosndbufmax": "2097152"},
            {"sockthreshold": "0", "doautorcvbuf": "0", "doautosndbuf": "0", "autosndbufmax": "2097152"},
        ),
        ("26", {"doautorcvbuf": "1", "autosndbufmax": "4194304"}, {"doautorcvbuf": "0", "autosndbufmax": "1048576"}),
    ],
    ids=["10.6", "10.8", "10.14", "26"],
)
def test_tcp_space_pins_what_each_version_has(
    tmp_path: Path, era: str, pins: dict[str, str], wanted: dict[str, str]
) -> None:
    host = mac(tmp_path, era, SPACES | {f"tcp.{name}": value for name, value in pins.items()})
    before = state(host)
    changes = settings(host, tmp_path)
    with changes.scope():
        changes.apply_all(MacOS(host).settings.tcp_buffers(MIB))
        lines = sorted(state(host)["values"].splitlines())
        expected = {"sendspace": str(MIB), "recvspace": str(MIB), **wanted}
        assert lines == sorted(f"net.inet.tcp.{name} {value}" for name, value in expected.items())
    assert sorted(state(host)["values"].splitlines()) == sorted(before["values"].splitlines())


@pytest.mark.parametrize(("era", "error"), [("10.6", SettingRefused), ("10.10", CommandError), ("26", CommandError)])
def test_a_buffer_that_is_too_large_is_refused_and_undone(tmp_path: Path, era: str, error: type[LabFailure]) -> None:
    host = mac(tmp_path, era, SPACES | {"tcp.sockthreshold": "64"})
    changes = settings(host, tmp_path)
    with pytest.raises(error, match=r"(?s)sendspace.*: give another tcp_space in the sweep"), changes.scope():
        changes.apply_all(MacOS(host).settings.tcp_buffers(2**30))
    assert sorted(state(host)["values"].splitlines()) == [
        "net.inet.tcp.recvspace 65536",
        "net.inet.tcp.sendspace 65536",
        "net.inet.tcp.sockthreshold 64",
    ]


@pytest.mark.parametrize("era", ["10.6", "10.10", "26"])
def test_buffers_that_cannot_be_pinned_are_an_error(tmp_path: Path, era: str) -> None:
    host = mac(tmp_path, era, SPACES)
    with pytest.raises(LabFailure, match=r"client: TCP buffers cannot be pinned.*knows only \{\}"):
        MacOS(host).settings.tcp_buffers(MIB)


@pytest.mark.parametrize("era", ["10.6", "10.10", "26"])
def test_an_unknown_sysctl_has_no_old_value(tmp_path: Path, era: str) -> None:
    host = mac(tmp_path, era, {"tcp.sockthreshold": "64"})
    setting = MacOS(host).settings.tcp_buffers(MIB)[1]
    with pytest.raises(CommandError, match=setting.name):
        settings(host, tmp_path).apply(setting)
    assert not [call for call in host.calls("sysctl") if "-w" in call]


# RAM disk


def ram_disk(host: EmulatedHost, folder: Path, layout: str | None = None) -> tuple[Settings, Path]:
    place = folder / "ram & disk"
    place.mkdir(exist_ok=True)
    changes = settings(host, folder)
    changes.follow(MacOS(host).ram_disks.make(str(place), SIZE, layout))
    return changes, place


def test_a_ram_disk_comes_and_goes(tmp_path: Path) -> None:
    host = mac(tmp_path)
    before = state(host)
    (tmp_path / "busy").write_text(BUSY_TWICE)
    changes, place = ram_disk(host, tmp_path)
    assert state(host)["mounts"].endswith(f"/dev/disk4 {place}\n")
    assert host.calls("newfs_hfs") == ["newfs_hfs -v lab /dev/rdisk4"]
    assert (place / ".metadata_never_index").exists()
    assert (place / ".fseventsd" / "no_log").exists()
    assert (tmp_path / "indexing").read_text() == "disabled\n"
    assert place.stat().st_mode & 0o7777 == 0o1777
    changes.unwind()
    assert state(host) == before
    assert [call for call in host.calls("hdiutil") if "-force" in call] == []


def test_a_case_sensitive_ram_disk(tmp_path: Path) -> None:
    host = mac(tmp_path)
    ram_disk(host, tmp_path, "hfs-case")
    assert host.calls("newfs_hfs") == ["newfs_hfs -s -v lab /dev/rdisk4"]


def test_of_apfs_the_image_is_detached_and_not_the_disk_that_is_made_up(tmp_path: Path) -> None:
    host = mac(tmp_path)
    before = state(host)
    changes, place = ram_disk(host, tmp_path, "apfs")
    assert f"mount -t apfs -o noatime /dev/disk9s1 {place}" in host.calls("mount")
    assert host.calls("newfs_hfs") == []
    (tmp_path / "busy").write_text(BUSY_TWICE)
    changes.unwind()
    assert state(host) | {"values": ""} == before | {"values": ""}
    assert {call for call in host.calls("hdiutil") if "detach" in call} == {"hdiutil detach /dev/disk4"}


def test_apfs_that_cannot_be_made_is_an_error_and_leaves_no_image(tmp_path: Path) -> None:
    host = mac(tmp_path, more={"diskutil": 'echo "Error: -69461: Unable to delete the APFS Container"; exit 1'})
    changes = settings(host, tmp_path)
    (tmp_path / "ram & disk").mkdir()
    with pytest.raises(CommandError, match="-69461"), changes.scope():
        changes.follow(MacOS(host).ram_disks.make(str(tmp_path / "ram & disk"), SIZE, "apfs"))
    assert state(host)["images"] == ""


def test_a_ram_disk_that_spotlight_goes_on_indexing_is_refused(tmp_path: Path) -> None:
    host = mac(tmp_path)
    (tmp_path / "indexing").write_text("stubborn\n")
    with pytest.raises(CommandError, match="Spotlight still indexes"):
        ram_disk(host, tmp_path)


def test_formats_that_cannot_be_are_refused_before_anything_is_changed(tmp_path: Path) -> None:
    linux, macos_host = Linux(FakeHost("server")), MacOS(FakeHost("server"))
    with pytest.raises(Unsupported, match=r"server: ram_disk_format = apfs: that host can have tmpfs, ext4:"):
        linux.ram_disks.check("apfs")
    with pytest.raises(Unsupported, match=r"ram_disk_format = zfs: that host can have hfs, hfs-case, apfs"):
        macos_host.ram_disks.check("zfs")
    for layout in (None, "hfs-case", "apfs"):
        macos_host.ram_disks.check(layout)


def test_the_journal_alone_removes_a_ram_disk_that_stays_busy(tmp_path: Path) -> None:
    host = mac(tmp_path)
    before = state(host)
    ram_disk(host, tmp_path)
    (tmp_path / "busy").write_text(ALWAYS_BUSY)
    settings(host, tmp_path).unwind()
    assert state(host) == before
    assert host.calls("hdiutil")[-2:] == ["hdiutil detach /dev/disk4 -force", "hdiutil info -plist"]


def test_only_our_own_image_is_removed(tmp_path: Path) -> None:
    """Another user's image of the same length, and one of our user with another, are left alone."""
    host = mac(tmp_path)
    changes, place = ram_disk(host, tmp_path)
    sectors = output.image_sectors(SIZE, str(place), set())
    others = f"{sectors} 12345 /dev/disk7\n{sectors + 8} 501 /dev/disk8\n"
    with (tmp_path / "images").open("a") as images:
        images.write(others)
    changes.unwind()
    assert state(host)["images"] == others
    assert [call for call in host.calls("hdiutil") if "detach" in call] == ["hdiutil detach /dev/disk4"]


def test_an_image_of_ours_that_somebody_mounted_elsewhere_is_left_alone(tmp_path: Path) -> None:
    host = mac(tmp_path)
    changes, _ = ram_disk(host, tmp_path)
    (tmp_path / "mounts").write_text("/dev/disk1s1 /\n/dev/disk4 /Volumes/theirs\n")
    with pytest.raises(RestoreError, match=r"RAM image ram://\d+ should be 'absent' and is 'attached'"):
        changes.unwind()
    assert not [call for call in host.calls("hdiutil") if "detach" in call]


def test_an_image_that_belongs_to_somebody_else_is_neither_erased_nor_removed(tmp_path: Path) -> None:
    host = mac(tmp_path, owner=12345)
    with pytest.raises(SettingRefused, match="asked for 'attached', in effect is 'absent'"):
        ram_disk(host, tmp_path)
    settings(host, tmp_path).unwind()
    assert not [call for call in host.calls() if "newfs" in call or "detach" in call or "mount -t" in call]


@pytest.mark.parametrize(
    ("name", "owner", "said"),
    [
        ("hdiutil-info-10.13.plist", os.getuid(), "attached"),
        ("hdiutil-info-10.13.plist", 12345, "absent"),
        ("hdiutil-info-15.plist", os.getuid(), "absent"),
        ("hdiutil-info-none-10.13.plist", os.getuid(), "absent"),
        ("vm_stat-16k-pages.txt", os.getuid(), "cannot read hdiutil info -plist"),
    ],
)
def test_the_image_is_found_in_what_hdiutil_prints(tmp_path: Path, name: str, owner: int, said: str) -> None:
    host = EmulatedHost(
        tmp_path, {"hdiutil": f"sed 's/>501</>{owner}</' '{MACOS_CAPTURES}/{name}'"}, ("sh", "sed", "perl")
    )
    result = host.run("perl", "-e", macos_ram_disk.RAM_IMAGE, "state", "4194304", "/work", check=False)
    assert result.output == said


@pytest.mark.parametrize(
    ("images", "complaint"),
    [
        ([(501, 0, "/dev/disk4", "")] * 2, "2 images"),
        ([], "0 images"),
        ([(0, 0, "/dev/disk4", "")], "belongs to user 0"),
        ([(501, 8, "/dev/disk4", "")], "sectors: not ours"),
        ([(501, 0, "/dev/disk4", "/Volumes/x")], "in use already"),
        ([(501, 0, "/dev/disk0s2", "")], "in use already"),
    ],
)
def test_a_device_that_does_not_prove_to_be_ours_is_never_erased(
    tmp_path: Path, images: Sequence[tuple[int, int, str, str]], complaint: str
) -> None:
    host = FakeHost()
    sectors = output.image_sectors(SIZE, "/work", set())
    find = ("perl", "-e", macos_ram_disk.RAM_IMAGE, "state", str(sectors), "/work")
    host.on(script('cd "$1" && pwd -P', "/work"), "/work\n")
    host.on(is_mounted_on_mac("/work"), "absent\n")
    host.on(("id", "-u"), "501\n")
    host.on(macos_ram_disk.IMAGES, capture("hdiutil-info-none-10.13.plist"))
    host.on(("vm_stat",), capture("vm_stat-16k-pages.txt"))
    host.on(find, "absent\n")
    host.on(
        script(macos_ram_disk.ATTACH, f"ram://{sectors}"), "/dev/disk4          \t                               \t\n"
    )
    host.on(find, "attached\n", times=2)
    host.on(macos_ram_disk.IMAGES, plist(sectors, images))
    host.on((*find[:3], "detach", *find[4:]))
    host.on(find, "absent\n")
    changes = settings(host, tmp_path)
    with pytest.raises(LabFailure, match=f"client: hdiutil info -plist: .*{complaint}"), changes.scope():
        changes.follow(MacOS(host).ram_disks.make("/work", SIZE))
    assert host.unused() == []
    assert not [argv for argv in host.sent if argv[0] in ("newfs_hfs", "diskutil", "mount")]


def plist(sectors: int, images: Sequence[tuple[int, int, str, str]]) -> str:
    text = ""
    for owner, more, device, place in images:
        mounted = f"<key>mount-point</key><string>{place}</string>" if place else ""
        text += (
            f"<dict><key>blockcount</key><integer>{sectors + more}</integer><key>image-path</key><string>ram://{sectors}"
            f"</string><key>owner-uid</key><integer>{owner}</integer><key>system-entities</key><array><dict>"
            f"<key>dev-entry</key><string>{device}</string>{mounted}</dict></array></dict>"
        )
    head = '<?xml version="1.0"?><plist version="1.0"><dict><key>framework</key><string>1</string><key>images</key>'
    return f"{head}<array>{text}</array></dict></plist>"


def test_a_ram_disk_goes_neither_over_a_mount_nor_beyond_free_memory(tmp_path: Path) -> None:
    host = mac(tmp_path)
    with pytest.raises(LabFailure, match="something is mounted at / already"):
        settings(host, tmp_path).follow(MacOS(host).ram_disks.make("/", SIZE))
    with pytest.raises(LabFailure, match=r"RAM disk of 102400 MiB does not fit: 11791 MiB of memory are free"):
        settings(host, tmp_path).follow(MacOS(host).ram_disks.make(str(tmp_path), 100 * 2**30))
    assert not [call for call in host.calls("hdiutil") if "attach" in call]


# Around a transfer


def test_ping_gets_the_space_that_a_jumbo_packet_needs(tmp_path: Path) -> None:
    host = mac(tmp_path, "26", {"raw.maxdgram": "8192", "raw.recvspace": "8192"})
    network = MacOS(host).network
    assert network.probe_settings(1500) == []
    with pytest.raises(LabFailure, match=r"9000 bytes at once: net\.inet\.raw\.maxdgram and net\.inet\.raw\.recvspace"):
        network.prove_path("192.0.2.2", 9000)
    changes = settings(host, tmp_path)
    with changes.scope():
        changes.apply_all(network.probe_settings(9000))
        assert network.probe_settings(9000) == []
    assert state(host)["values"] == "net.inet.raw.recvspace 8192\nnet.inet.raw.maxdgram 8192\n"


def test_a_path_that_does_not_carry_the_packet_is_an_error() -> None:
    host = FakeHost()
    host.on(("sysctl", *RAW_SOCKET), "net.inet.raw.maxdgram: 16384\nnet.inet.raw.recvspace: 16384\n")
    host.on(script(AWAIT, "ping", "-n", "-D", "-s", "56", "-c", "1", "-W", "2000", "192.0.2.2"))
    ping = ("ping", "-n", "-D", "-s", "8972", "-c", "1", "-W", "2000", "192.0.2.2")
    host.on(ping, stderr="ping: sendto: Message too long", exit_code=2, times=3)
    with pytest.raises(LabFailure, match=r"MTU 9000 do not reach 192\.0\.2\.2 in one piece .*Message too long"):
        MacOS(host).network.prove_path("192.0.2.2", 9000)


def test_a_link_that_is_down_for_a_while_is_waited_for(tmp_path: Path) -> None:
    """The third ping is the first that is answered, and only then a long one is sent."""
    ping = 'n=$(cat pings); echo $((n + 1)) > pings; [ "$n" -ge 2 ]'
    sizes = {"raw.maxdgram": "16384", "raw.recvspace": "16384"}
    host = mac(tmp_path, "26", sizes, more={"ping": ping})
    (tmp_path / "pings").write_text("0\n")
    MacOS(host).network.prove_path("192.0.2.2", 9000)
    assert [call.split()[4] for call in host.calls("ping")] == ["56", "56", "56", "8972"]


@pytest.mark.parametrize(("more", "called"), [({"purge": "", "sync": ""}, "purge"), ({"sync": ""}, "sync")])
def test_caches_are_purged_where_a_mac_has_purge(tmp_path: Path, more: dict[str, str], called: str) -> None:
    host = mac(tmp_path, more=more)
    MacOS(host).files.drop_caches()
    assert [call.strip() for call in host.calls("purge", "sync")] == [called]
    with nullcontext() if "purge" in more else pytest.raises(Unsupported, match="it has no purge"):
        MacOS(host).files.check_cold_reads()
