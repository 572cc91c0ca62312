"""What file systems say of themselves, and the options of their mounts."""

from collections.abc import Mapping

import pytest
from support.paths import LINUX_CAPTURES

from lab import stores
from lab.base.errors import BadInput
from lab.stores.btrfs import parse_btrfs
from lab.stores.ext4 import parse_ext4
from lab.stores.image_file_system import ImageFileSystem, parse_which_disk
from lab.stores.xfs import parse_xfs

MADE = {"ext4": "ext4-facts-1.47.txt", "xfs": "xfs-info-6.1.txt", "btrfs": "btrfs-df-6.2.txt"}


def find(name: str) -> ImageFileSystem:
    store = stores.file_system(name)
    assert isinstance(store, ImageFileSystem)
    return store


def captured(name: str) -> str:
    return (LINUX_CAPTURES / MADE[name]).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "mounted_with", "description", "levels"), [
    ("ext4", {}, "ext4, blocks of 4096 bytes", {"data": "ordered"}),
    ("xfs", {}, "xfs, blocks of 4096 bytes, 4 allocation groups", {}),
    ("btrfs", {}, "btrfs, data single, metadata DUP", {"compress": "none"}),
    ("btrfs", {"compress": "zstd:3"}, "btrfs, data single, metadata DUP", {"compress": "zstd"}),
])  # fmt: skip
def test_each_says_what_it_is_and_which_levels_are_in_effect(
    name: str, mounted_with: Mapping[str, str], description: str, levels: Mapping[str, str]
) -> None:
    for disk in ("image", "named"):
        facts = find(name).read_facts(f"disk {disk}\n{captured(name)}", mounted_with)
        assert (facts.description, facts.levels) == (description, {**levels, "disk": disk})


@pytest.mark.parametrize("parse", [parse_ext4, parse_xfs, parse_btrfs])
def test_other_text_is_refused(parse: object) -> None:
    assert callable(parse)
    texts = "Block size: 4096\n", "Data, single: total=8.00MiB, used=0.00B\n", "meta-data=/dev/loop0 agcount=4,\n"
    for text in ("", *texts):
        with pytest.raises(ValueError, match=r"^no "):
            parse(text)


def test_a_compression_that_the_lab_does_not_know_is_not_taken_for_a_level() -> None:
    with pytest.raises(ValueError, match=r"is not .* one of none, lzo, zlib, zstd"):
        find("btrfs").read_own_facts(captured("btrfs"), {"compress": "\x1b[2J"})


@pytest.mark.parametrize(("name", "levels", "options"), [
    ("ext4", {}, ()),
    ("ext4", {"data": "journal"}, ("data=journal",)),
    ("xfs", {}, ()),
    ("btrfs", {}, ()),
    ("btrfs", {"compress": "none"}, ()),
    ("btrfs", {"compress": "lzo"}, ("compress=lzo",)),
])  # fmt: skip
def test_a_level_is_an_option_of_the_mount(name: str, levels: Mapping[str, str], options: tuple[str, ...]) -> None:
    assert find(name).mount_options(levels) == options


def test_making_one_forces_nothing_and_writes_to_no_more_of_a_device_than_its_part() -> None:
    by_name = {name: find(name).words_on("/dev/sdb", 1 << 30) for name in MADE}
    words = {word for name in MADE for word in (*find(name).make_words, *by_name[name])}
    assert not words & {"-f", "-F", "-ff", "--force"}
    ext4 = by_name["ext4"]
    assert ext4[-4:] == ("-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", "/dev/sdb", "1048576k")
    assert ext4.count("-E") == 1, "mkfs.ext4 takes the last one only"
    assert by_name["xfs"][-4:] == ("-K", "-d", "size=1073741824", "/dev/sdb")
    assert by_name["btrfs"][-4:] == ("-K", "-b", "1073741824", "/dev/sdb")


@pytest.mark.parametrize("text", ["", "disk unknown\n", "disk\n", "Block size: 4096\n"])
def test_what_lies_on_no_disk_that_the_lab_knows_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not told what it lies on"):
        parse_which_disk(text)


def test_stores_are_found_by_name_and_only_some_are_made_by_the_lab() -> None:
    assert set(stores.by_name()) == {"ram", "disk", "zfs", "hfs", "apfs", "o3x", *MADE}
    assert stores.file_system("ram") is stores.file_system("disk") is None
    with pytest.raises(BadInput, match=r"unknown store 'ext5'; known are apfs, .*did you mean 'ext4'"):
        stores.find("ext5")
