"""RAM disks of a Mac: they come and go, and no image or device but the lab's own is touched."""

import os
import plistlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.changed_scripts import changed
from support.emulated_mac import capture, mac, settings_of, state
from support.fake_host import EmulatedHost, FakeHost
from support.pairs import OWN, OWN_NAME
from support.paths import MACOS_CAPTURES

from lab.base.errors import CommandError, LabFailure, RestoreError, SettingRefused, Unsupported
from lab.hosts.command import run_perl, script
from lab.hosts.mounts import is_mounted_on_mac
from lab.platforms.linux.platform import Linux
from lab.platforms.macos import disk_images
from lab.platforms.macos import parsers as output
from lab.platforms.macos.platform import MacOS
from lab.settings.changes import Settings

MIB = 2**20
SIZE = 64 * MIB
BUSY_TWICE, ALWAYS_BUSY = "2\n", "99\n"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is busy is asked again at once."""
    monkeypatch.setattr(disk_images, "ATTACHED_IMAGE", changed(disk_images.ATTACHED_IMAGE, ("or sleep 1;", ";")))


@pytest.fixture
def host(tmp_path: Path) -> EmulatedHost:
    return mac(tmp_path)


def ram_disk(host: EmulatedHost, folder: Path, layout: str | None = None) -> tuple[Settings, Path]:
    place = folder / OWN_NAME / "ram & disk"
    place.mkdir(exist_ok=True, parents=True)
    changes = settings_of(host, folder)
    changes.follow(MacOS(host).ram_disks.make(str(place), SIZE, layout))
    return changes, place


@pytest.mark.usefixtures("impatient")
def test_a_ram_disk_comes_and_goes(host: EmulatedHost, tmp_path: Path) -> None:
    before = state(host)
    (tmp_path / "busy").write_text(BUSY_TWICE)
    changes, place = ram_disk(host, tmp_path)
    assert state(host)["mounts"].endswith(f"/dev/disk4 {place}\n")
    assert host.calls("newfs_hfs") == ["newfs_hfs -v lab /dev/rdisk4"]
    assert all((place / name).exists() for name in (".metadata_never_index", ".fseventsd/no_log"))
    assert (tmp_path / "indexing").read_text() == "disabled\n"
    assert place.stat().st_mode & 0o7777 == 0o1777
    changes.unwind()
    assert state(host) == before
    assert [call for call in host.calls("hdiutil") if "-force" in call] == []
    ram_disk(host, tmp_path, "hfs-case")
    assert host.calls("newfs_hfs")[1:] == ["newfs_hfs -s -v lab /dev/rdisk4"]


@pytest.mark.usefixtures("impatient")
def test_of_apfs_the_image_is_detached_and_not_the_disk_that_is_made_up(host: EmulatedHost, tmp_path: Path) -> None:
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
    changes = settings_of(host, tmp_path)
    place = tmp_path / OWN_NAME / "ram & disk"
    place.mkdir(parents=True)
    with pytest.raises(CommandError, match="-69461"), changes.scope():
        changes.follow(MacOS(host).ram_disks.make(str(place), SIZE, "apfs"))
    assert state(host)["images"] == ""


def test_formats_that_cannot_be_are_refused_before_anything_is_changed(tmp_path: Path) -> None:
    linux, macos = Linux(FakeHost("server")).ram_disks, MacOS(FakeHost("server")).ram_disks
    with pytest.raises(Unsupported, match=r"server: ram_disk_format = apfs: that host can have tmpfs, ext4, shm, fol"):
        linux.check("apfs")
    with pytest.raises(Unsupported, match=r"ram_disk_format = zfs: that host can have hfs, hfs-case, apfs"):
        macos.check("zfs")
    for layout in (None, "hfs-case", "apfs"):
        macos.check(layout)


@pytest.mark.usefixtures("impatient")
def test_the_journal_alone_removes_a_ram_disk_that_stays_busy(host: EmulatedHost, tmp_path: Path) -> None:
    before = state(host)
    ram_disk(host, tmp_path)
    (tmp_path / "busy").write_text(ALWAYS_BUSY)
    settings_of(host, tmp_path).unwind()
    assert state(host) == before
    assert host.calls("hdiutil")[-2:] == ["hdiutil detach /dev/disk4 -force", "hdiutil info -plist"]


def test_only_our_own_image_is_removed(host: EmulatedHost, tmp_path: Path) -> None:
    """Another user's image of the same length, and one of our user with another, are left alone."""
    changes, place = ram_disk(host, tmp_path)
    sectors = output.image_sectors(SIZE, str(place), set())
    others = f"{sectors} 12345 /dev/disk7\n{sectors + 8} 501 /dev/disk8\n"
    with (tmp_path / "images").open("a") as images:
        images.write(others)
    changes.unwind()
    assert state(host)["images"] == others
    assert [call for call in host.calls("hdiutil") if "detach" in call] == ["hdiutil detach /dev/disk4"]


def test_an_image_of_ours_that_somebody_mounted_elsewhere_is_left_alone(host: EmulatedHost, tmp_path: Path) -> None:
    changes, _ = ram_disk(host, tmp_path)
    (tmp_path / "mounts").write_text("/dev/disk1s1 /\n/dev/disk4 /Volumes/theirs\n")
    with pytest.raises(RestoreError, match=r"RAM image ram://\d+ should be 'absent' and is 'attached'"):
        changes.unwind()
    assert not [call for call in host.calls("hdiutil") if "detach" in call]


def test_an_image_that_belongs_to_somebody_else_is_neither_erased_nor_removed(tmp_path: Path) -> None:
    host = mac(tmp_path, owner=12345)
    with pytest.raises(SettingRefused, match="asked for 'attached', in effect is 'absent'"):
        ram_disk(host, tmp_path)
    settings_of(host, tmp_path).unwind()
    assert not [call for call in host.calls() if "newfs" in call or "detach" in call or "mount -t" in call]


@pytest.mark.parametrize(
    ("name", "owner", "printed"),
    [
        ("hdiutil-info-10.13.plist", os.getuid(), "attached"), ("hdiutil-info-10.13.plist", 12345, "absent"),
        ("hdiutil-info-15.plist", os.getuid(), "absent"), ("hdiutil-info-none-10.13.plist", os.getuid(), "absent"),
        ("vm_stat-16k-pages.txt", os.getuid(), "cannot read hdiutil info -plist"),
    ],
)  # fmt: skip
def test_the_image_is_found_in_what_hdiutil_prints(tmp_path: Path, name: str, owner: int, printed: str) -> None:
    commands = {"hdiutil": f"sed 's/>501</>{owner}</' '{MACOS_CAPTURES}/{name}'"}
    host = EmulatedHost(tmp_path, commands, ("sh", "sed", "perl"))
    result = host.run(*run_perl(disk_images.ATTACHED_IMAGE, "state", "ram://4194304", f"{OWN}/ram"), check=False)
    assert result.output == printed


@pytest.mark.parametrize(
    ("images", "complaint"),
    [
        ([(501, 0, "/dev/disk4", "")] * 2, "2 images"), ([], "0 images"),
        ([(0, 0, "/dev/disk4", "")], "belongs to user 0"), ([(501, 8, "/dev/disk4", "")], "sectors: not ours"),
        ([(501, 0, "/dev/disk4", "/Volumes/x")], "in use already"), ([(501, 0, "/dev/disk0s2", "")], "in use already"),
    ],
)  # fmt: skip
def test_a_device_that_does_not_prove_to_be_ours_is_never_erased(
    tmp_path: Path, images: Sequence[tuple[int, int, str, str]], complaint: str
) -> None:
    host = FakeHost()
    sectors = output.image_sectors(SIZE, f"{OWN}/ram", set())
    find = ("perl", "-e", disk_images.ATTACHED_IMAGE, "--", "state", f"ram://{sectors}", f"{OWN}/ram")
    host.on(script('cd "$1" && pwd -P', f"{OWN}/ram"), f"{OWN}/ram\n")
    host.on(is_mounted_on_mac(f"{OWN}/ram"), "absent\n")
    host.on(("id", "-u"), "501\n")
    host.on(disk_images.IMAGES, capture("hdiutil-info-none-10.13.plist"))
    host.on(("vm_stat",), capture("vm_stat-16k-pages.txt"))
    host.on(find, "absent\n")
    host.on(script(disk_images.ATTACH, f"ram://{sectors}"), "/dev/disk4          \t                               \t\n")
    host.on(find, "attached\n", times=2)
    host.on(disk_images.IMAGES, plist(sectors, images))
    host.on((*find[:4], "detach", *find[5:]))
    host.on(find, "absent\n")
    changes = settings_of(host, tmp_path)
    with pytest.raises(LabFailure, match=f"client: hdiutil info -plist: .*{complaint}"), changes.scope():
        changes.follow(MacOS(host).ram_disks.make(f"{OWN}/ram", SIZE))
    assert host.unused() == []
    assert not [argv for argv in host.sent if argv[0] in ("newfs_hfs", "diskutil", "mount")]


def plist(sectors: int, images: Sequence[tuple[int, int, str, str]]) -> str:
    entries = [
        {"blockcount": sectors + more, "image-path": f"ram://{sectors}", "owner-uid": owner,
         "system-entities": [{"dev-entry": device, **({"mount-point": place} if place else {})}]}
        for owner, more, device, place in images
    ]  # fmt: skip
    return plistlib.dumps({"framework": "1", "images": entries}).decode()


def test_a_ram_disk_goes_not_over_a_mount_fits_into_memory_and_is_not_indexed(
    host: EmulatedHost, tmp_path: Path
) -> None:
    with pytest.raises(LabFailure, match="something is mounted at / already"):
        settings_of(host, tmp_path).follow(MacOS(host).ram_disks.make("/", SIZE))
    with pytest.raises(LabFailure, match=r"RAM disk of 102400 MiB does not fit: 11791 MiB of memory are free"):
        settings_of(host, tmp_path).follow(MacOS(host).ram_disks.make(str(tmp_path), 100 * 2**30))
    assert not [call for call in host.calls("hdiutil") if "attach" in call]
    (tmp_path / "indexing").write_text("stubborn\n")
    with pytest.raises(CommandError, match="Spotlight still indexes"):
        ram_disk(host, tmp_path)
