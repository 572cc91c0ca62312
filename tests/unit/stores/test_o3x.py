"""Pools of OpenZFS on OS X in disk images: made and put back, whatever happens in between; what is others' stays."""

from pathlib import Path

import pytest
from support.mac_store_hosts import ANNS_POOL, MacPoolHost
from support.store_hosts import StoreLab

from lab import stores
from lab.base.errors import Absent, CommandError, RestoreError
from lab.base.present import present
from lab.platforms.macos.platform import MacOS
from lab.run.case import made_store
from lab.stores.o3x import create_options, parse_o3x

NAME = "file-share-lab-01234567"


class Lab(StoreLab):
    """A run that makes such a pool."""

    host: MacPoolHost
    platform = MacOS

    def __init__(self, folder: Path):
        store = stores.file_system("o3x")
        assert store is not None
        super().__init__(MacPoolHost(folder), store, {})


def pools(lab: Lab) -> str:
    return (lab.host.folder / "pools").read_text()


def test_a_pool_with_the_name_of_the_folder_is_made_on_the_image_without_force_and_removed(lab: Lab) -> None:
    made = lab.make()
    path = lab.host.own / "store"
    (create,) = [call for call in lab.host.calls("zpool") if " create " in call]
    assert create.endswith(f" -O com.apple.mimic=hfs -O com.apple.devdisk=off -m {path} {NAME} /dev/disk4")
    assert "-o cachefile=none -o failmode=continue -o ashift=12 " in create
    assert "-f" not in create.split()
    assert pools(lab) == f"{ANNS_POOL}{NAME} /dev/disk4s1\n"
    assert path.stat().st_mode & 0o7777 == 0o1777
    assert made.levels == {
        "o3x.image": "sparseimage", "o3x.case": "insensitive", "o3x.mimic": "on", "o3x.ashift": "12",
        "o3x.compression": "on",
    }  # fmt: skip
    words = "o3x 2.2.3-1, case-insensitive, sparseimage, ashift 12, shown as hfs, local,journaled,noatime; in an image"
    assert made.description.startswith(words)
    present(made.forget).run(lab.host)
    assert f"zpool import -d /dev -o cachefile=none {NAME}" in lab.host.calls("zpool")
    assert present(made.find_fault).run(lab.host) == ""
    lab.restore()
    assert not {"-f", "-F"} & set(create_options({"compression": "zstd"}))


def test_levels_of_a_sweep_are_those_of_the_pool_which_is_on_the_disk_itself_with_o3x_1(lab: Lab) -> None:
    levels = {"image": "dmg", "case": "sensitive", "ashift": "13", "compression": "lz4", "mimic": "off"}
    assert lab.make(levels).levels == {f"o3x.{name}": level for name, level in levels.items()}
    lab.restore()
    lab.put("partition", "")
    lab.make()
    assert pools(lab) == f"{ANNS_POOL}{NAME} /dev/disk4\n"
    lab.restore()


@pytest.mark.parametrize(("version", "known", "option"), [
    ("10.13.6", "com.apple.mimic_hfs", " -O com.apple.mimic_hfs=on "),
    ("10.15.7", "com.apple.mimic", " -O com.apple.mimic=hfs "),
    ("15.5", "com.apple.mimic", ""),
])  # fmt: skip
def test_it_is_shown_as_hfs_only_where_macos_has_an_afp_server(lab: Lab, version: str, known: str, option: str) -> None:
    lab.put("version", version)
    lab.put("mimic", known)
    made = lab.make()
    (create,) = [call for call in lab.host.calls("zpool") if " create " in call]
    assert option in create
    assert (" -O com.apple.mimic" in create) == bool(option)
    assert made.levels["o3x.mimic"] == ("on" if option else "off")
    lab.restore()


@pytest.mark.parametrize("devices", [["/dev/disk7"], ["/dev/disk4s2"], ["/dev/disk4s1", "/dev/disk9"], []])
def test_a_pool_of_that_name_over_other_devices_and_its_image_are_left_alone(lab: Lab, devices: list[str]) -> None:
    lab.make()
    rows = "".join(f"{NAME} {device}\n" for device in devices) or f"{NAME} none\n"
    lab.put("pools", rows)
    with pytest.raises(RestoreError, match=rf"pool {NAME} in .* should be 'absent' and is 'pool over "):
        lab.settings.unwind()
    assert [call for call in lab.host.calls("zpool") if " destroy " in call] == []
    assert [call for call in lab.host.calls("hdiutil") if "detach" in call] == []
    assert pools(lab) == rows


def test_a_pool_that_cannot_be_made_leaves_no_image(lab: Lab) -> None:
    lab.put("pool.fails")
    with pytest.raises(CommandError, match="cannot create: invalid argument"):
        lab.make()
    lab.restore(lab.begin())


def test_a_mac_whose_zfs_cannot_be_told_keeps_its_pool_and_image(lab: Lab) -> None:
    lab.make()
    lab.put("unloaded")
    with pytest.raises(RestoreError, match="is 'pools unknown'"):
        lab.settings.unwind()
    assert [call for call in lab.host.calls("hdiutil") if "detach" in call] == []


@pytest.mark.parametrize("lack", ["programs", "kernel"])
def test_a_mac_without_o3x_is_left_out(lab: Lab, lack: str) -> None:
    if lack == "programs":
        (lab.host.folder / "bin" / "zfs").unlink()
    else:
        lab.put("unloaded")
    with pytest.raises(Absent, match="server: store o3x: its kernel has no OpenZFS on OS X"):
        made_store.check(MacOS(lab.host), lab.store, {}, lab.share)


@pytest.mark.parametrize("text", ["", "mimic on\nimage dmg\n", "p\tashift\t12\tlocal\nmimic on\nimage dmg\n"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no ashift"):
        parse_o3x(text)
