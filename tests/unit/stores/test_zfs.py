"""The levels of a pool's options: what they become, what they leave for files, and what reads back."""

from collections.abc import Mapping

import pytest
from support.paths import LINUX_CAPTURES

from lab.design.option_levels import FILL
from lab.stores import DeviceBytes, parse_device_bytes
from lab.stores.store import Room
from lab.stores.zfs import STORE, compression, create_words, data_share, parse_zfs, recordsize

MIB = 1 << 20


def captured(name: str) -> str:
    return (LINUX_CAPTURES / f"zfs-facts-{name}-2.3.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "levels"), [
    ("stripe", {"ashift": "9", "raid": "stripe", "vdevs": "1", "compression": "on", "recordsize": "128 KiB"}),
    ("mirror", {"ashift": "12", "raid": "mirror", "vdevs": "2", "compression": "off", "recordsize": "1 MiB"}),
    ("raidz2", {"ashift": "13", "raid": "raidz2", "vdevs": "4", "compression": "zstd", "recordsize": "16 KiB"}),
    ("512e", {"ashift": "9", "raid": "raidz2", "vdevs": "4", "disks": "512e", "recordsize": "8 KiB"}),
])  # fmt: skip
def test_a_pool_says_which_levels_are_in_effect(name: str, levels: Mapping[str, str]) -> None:
    facts = STORE.read_facts(captured(name), {})
    assert facts.levels.items() >= levels.items()
    assert facts.levels.keys() == set(STORE.options) - {FILL}
    assert facts.description.startswith("zfs 2.3.")
    assert facts.levels["disks"] == levels.get("disks", "files")
    devices = f"{levels['raid']} of {levels['vdevs']} {'512e disks' if name == '512e' else 'files'}"
    assert f", {devices}, ashift {levels['ashift']}, sync " in facts.description


def test_other_text_is_refused() -> None:
    raidz2 = captured("raidz2")
    for text in ("", raidz2.replace("raidz2-0", "mirror-0", 1) + "\traidz1-1\t1G\n", raidz2.replace("sync", "synk")):
        with pytest.raises(ValueError, match=r"^no "):
            parse_zfs(text)


def test_the_sectors_of_a_pool_are_those_of_its_disks_if_all_have_the_same() -> None:
    pool = "\t/x/vdev-1\t1G\n\t/x/vdev-2\t1G\n/x/vdev-1\tashift\t9\n/x/vdev-2\tashift\t12\n"
    values = "".join(f"p\t{name}\t1\n" for name in ("sync", "compression", "recordsize", "atime"))
    with pytest.raises(ValueError, match="no ashift, or several"):
        parse_zfs(pool + values)
    # zpool get names disks without /dev/
    pool = "p\t1G\n\t/dev/lab/vdev-1\t1G\n/dev/lab/vdev-1\tsectors\t512 4096\n"
    levels = parse_zfs(f"{pool}root-0\tashift\t0\nlab/vdev-1\tashift\t9\n{values}")
    assert (levels["ashift"], levels["disks"]) == ("9", "512e")


@pytest.mark.parametrize("sectors", ["4096 4096", "512 512", "512 "])
def test_disks_that_do_not_lie_or_not_all_of_them_are_no_level(sectors: str) -> None:
    lying = captured("512e")
    for wrong in (lying.replace("512 4096", sectors), lying.replace("512 4096", sectors, 1)):
        with pytest.raises(ValueError, match="devices of no kind that the lab makes pools of, or of several kinds"):
            parse_zfs(wrong)
    with pytest.raises(ValueError, match="or of several kinds"):
        parse_zfs("".join(line for line in lying.splitlines(True) if "vdev-1\tsectors" not in line))


def test_levels_become_words_of_zpool_and_only_those_that_were_given() -> None:
    usual = create_words("pool", "/own/store.vdevs", "/own/store", {})
    assert usual[-2:] == ("pool", "/own/store.vdevs/vdev-1")
    assert not [word for word in usual if word.startswith(("ashift", "sync", "compression", "recordsize"))]
    levels = {"raid": "raidz3", "ashift": "12", "recordsize": "1 MiB", "atime": "on"}
    words = create_words("pool", "/f", "/own/store", levels)
    assert words[words.index("pool") + 1 :] == ("raidz3", *(f"/f/vdev-{number}" for number in range(1, 6)))
    assert {"ashift=12", "recordsize=1048576", "atime=on"} <= set(words)
    assert "atime=off" not in words


@pytest.mark.parametrize(("levels", "share"), [
    ({}, 1.0),
    ({"vdevs": "4"}, 1.0),
    ({"raid": "mirror", "vdevs": "4"}, 0.25),
    ({"raid": "raidz"}, 256 / 384),  # 256 sectors of 512 bytes in rows of 2, a parity each
    ({"raid": "raidz", "ashift": "12"}, 32 / 48),
    ({"raid": "raidz2", "vdevs": "5", "ashift": "12"}, 32 / 54),  # 11 rows of 3: 22 parities, 54 sectors in all
    ({"raid": "raidz2", "vdevs": "8", "ashift": "12", "recordsize": "4 KiB"}, 1 / 3),  # one sector, two parities
])  # fmt: skip
def test_what_redundancy_leaves_for_data(levels: Mapping[str, str], share: float) -> None:
    assert data_share(levels) == pytest.approx(share)


def test_a_size_that_holds_some_files_holds_them() -> None:
    room = Room(0.6, 160 * MIB)
    assert room.most_in(room.size_for(100 * MIB)) == pytest.approx(100 * MIB, abs=2)
    assert room.most_in(MIB) == 0


def test_a_level_is_a_way_of_compressing_or_a_size_of_blocks_that_is_a_power_of_two() -> None:
    for level in ("off", "lz4", "gzip-9", "zstd", "zstd-1", "zstd-10", "zstd-19"):
        assert compression(level) == level
    for other in ("zstd-0", "zstd-20", "gzip-10", "LZ4", 1, "lz4\n"):
        with pytest.raises(ValueError, match="zstd-1 to zstd-19"):
            compression(other)
    assert [recordsize(size) for size in (512, "128K", "16 MiB")] == ["512 B", "128 KiB", "16 MiB"]
    for size in (256, "96 KiB", "32 MiB"):
        with pytest.raises(ValueError, match="a power of two from 512 B to 16 MiB"):
            recordsize(size)


def test_what_devices_moved_is_their_sum() -> None:
    text = "read_bytes\t1\nwrite_bytes\t20\nread_bytes\t300\nwrite_bytes\t4000\n"
    assert parse_device_bytes(text) == DeviceBytes(301, 4020)
    assert parse_device_bytes("") is None
    for wrong in ("read_bytes\n", "read_bytes\t-\n", "read_bytes\t-1\n"):
        with pytest.raises(ValueError, match=r"."):
            parse_device_bytes(wrong)
