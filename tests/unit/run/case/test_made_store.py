"""File systems of the lab's own on the server: what they need, what they hold, and how they are filled."""

import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from support.fake_host import FakeHost
from support.pairs import hosts_model
from support.store_hosts import GIB, LoopHost, StoreLab
from support.sweeps import sweep_with

from lab import stores
from lab.base.errors import Absent, BadInput, SettingRefused, Unsupported
from lab.base.present import present
from lab.design.plan import USUAL_IMAGE_BYTES, plan
from lab.design.sweep_file import Sweep
from lab.hosts import systems
from lab.hosts.command import script
from lab.hosts.hosts_file import ShareConfig
from lab.platforms.linux.platform import Linux
from lab.platforms.macos.platform import MacOS
from lab.run.begin.compatibility import check_fit
from lab.run.case import made_store
from lab.run.case.catalogue import CATALOGUE
from lab.stores.store import LACKS, FileSystem, Room, parse_mounted
from lab.stores.xfs import STORE as XFS
from lab.stores.zfs import STORE as ZFS

SHARE = ShareConfig(serve="lab", account="lab")
LAB = {"serve": "lab"}
NO_XFS, NO_ZFS = (f"server: store {name}: its kernel has no {name}" for name in ("xfs", "zfs"))


def sweep_on(*stores: str, size: str = "1 MiB", **options: object) -> Sweep:
    return sweep_with(workload={"size": size}, factors={"protocol": ["nfs"], "store": list(stores), **options})


# --- what they need


@pytest.mark.parametrize(
    ("store", "levels", "asked", "lacking", "error", "message"),
    [
        (XFS, {}, "xfs loop", "", None, ""),
        (XFS, {}, "xfs loop", "xfs", Absent, NO_XFS),
        (XFS, {}, "xfs loop", "loop", Absent, "server: store xfs: its kernel has no loop"),
        (ZFS, {}, "zfs zfs", "zfs", Unsupported, f"{NO_ZFS}: `apt-get install zfs-dkms` there, "),
        # loops, which nobody installs
        (ZFS, {"disks": "512e"}, "zfs zfs loop", "loop", Absent, "server: store zfs: its kernel has no loop"),
    ],
)
def test_a_store_that_the_kernel_lacks_is_left_out_or_can_be_installed(
    store: FileSystem, levels: dict[str, str], asked: str, lacking: str, error: type[Exception] | None, message: str
) -> None:
    host = FakeHost("server")
    host.on(script(LACKS, *asked.split()), f"{lacking}\n" if lacking else "")
    if error is Unsupported:
        host.on(systems.ask(), "apt-get\n")
    with pytest.raises(error, match=message) if error else nullcontext():
        made_store.check(Linux(host), store, levels, SHARE)


def test_a_mac_and_an_account_without_root_make_none_of_them() -> None:
    host = FakeHost("server")
    with pytest.raises(Absent, match="server: store xfs is made on linux, and the server runs macos"):
        made_store.check(MacOS(host), XFS, {}, SHARE)
    host.lacks_root = True
    message = "only root makes and mounts it: log in as root, or with sudo, or leave it out"
    with pytest.raises(Unsupported, match=message):
        made_store.check(Linux(host), XFS, {}, SHARE)


# --- what they hold


LINUX = ("ram", "ext4", "xfs")


def pools(**levels: object) -> Sweep:
    return sweep_on("zfs", size="96 MiB", zfs=levels)


@pytest.mark.parametrize(
    ("share", "sweep", "message"),
    [
        ({"image_size": "2 GiB"}, sweep_on(*LINUX, size="1 GiB"), ""),
        ({"image_size": "200 MiB"}, sweep_on(*LINUX),
         "209715200 bytes are too few for xfs with a payload of 1048576 bytes: give 300 MiB or more"),
        ({"image_size": "1 GiB"}, sweep_on(*LINUX, size="1 GiB"),
         "1073741824 bytes are too few for ext4 with a payload of 1073741824 bytes: give 1265 MiB or"),
        ({}, pools(raid=["raidz2"]), ""),
        ({}, pools(vdevs=[8, 9]),
         "2147483648 bytes are too few for zfs, zfs.vdevs 9 with a payload of 100663296 bytes: give 2304 MiB or more"),
        ({}, pools(raid=["mirror"], vdevs=[8]),
         "2147483648 bytes are too few for zfs, zfs.raid mirror, zfs.vdevs 8 with a payload of 100663296 bytes"),
    ],
)  # fmt: skip
def test_an_image_must_be_large_enough_for_store_and_payload(share: dict[str, str], sweep: Sweep, message: str) -> None:
    config = hosts_model(share=LAB | share)
    config._file = Path("hosts.ini")
    refused = pytest.raises(BadInput, match=re.escape(f"hosts.ini: [share] image_size: {message}"))
    with refused if message else nullcontext():
        check_fit(config, sweep)


def test_in_a_share_that_was_there_the_lab_makes_no_store() -> None:
    with pytest.raises(BadInput, match="serve = existing: the lab cannot choose where that share's files are"):
        check_fit(hosts_model(), sweep_on(*LINUX))


def test_only_a_line_of_a_mounted_device_is_accepted() -> None:
    assert parse_mounted("/dev/loop3 /x/store xfs rw,noatime 0 0\n") == ("/dev/loop3", "rw,noatime")
    pool = "file-share-lab-0123456789abcdef"
    assert parse_mounted(f"{pool} /x/store zfs rw,noatime 0 0\n") == (pool, "rw,noatime")
    for text in ("tank /x/store zfs rw 0 0\n", "", "lab /x/store tmpfs rw 0 0\n", "/dev/loop3 /x/store"):
        with pytest.raises(ValueError, match="no device"):
            parse_mounted(text)


@pytest.mark.parametrize(
    ("factors", "caveats"),
    [
        ({"store": ["disk", "ext4", "zfs"], "zfs": {"raid": ["mirror", "raidz"], "disks": ["files", "512e"]}},
         {"zfs": "ZFS in files of one disk: bytes and processor time, not what several disks gain"}),
        ({"store": ["ram", "disk", "xfs"]}, {}),
    ],
)  # fmt: skip
def test_a_pool_in_files_of_one_disk_has_one_caveat(factors: dict[str, object], caveats: dict[str, str]) -> None:
    assert made_store.caveats_of(sweep_with(factors={"protocol": ["nfs"], **factors})) == caveats


# --- how they are filled


def full(blocks: int = 6, fill: Sequence[int] = (), **factors: object) -> Sweep:
    """A sweep of ext4 that is filled to these levels."""
    options = {"ext4": {"fill": list(fill)}} if fill else {}
    content = {"protocol": ["nfs"], "direction": ["write"], "store": ["ext4"], **options, **factors}
    return sweep_with(blocks=blocks, workload={"size": "128 MiB"}, factors=content)


class Lab(StoreLab):
    """A run that makes ext4 and fills it."""

    host: LoopHost

    def __init__(self, folder: Path, percent: str = "80"):
        super().__init__(LoopHost(folder), present(stores.file_system("ext4")), {"fill": percent})


def test_noise_fills_it_up_to_the_level_and_is_written_out(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    made = lab.make()
    (noise,) = (path for path in (lab.host.own / "store").iterdir())
    assert f" make {noise} {4 * GIB * 80 // 100} {noise.name}\n" in (tmp_path / "calls").read_text()
    assert lab.host.calls("sync") == [f"sync -f {noise}"]
    assert (made.levels["ext4.fill"], made.capacity_bytes) == ("80", 4 * GIB)
    assert made.description.endswith("; filled to 80.0 %")
    lab.settings.unwind()
    assert lab.host.calls("umount")


def test_an_empty_one_says_so(tmp_path: Path) -> None:
    lab = Lab(tmp_path, "0")
    assert (lab.make().levels["ext4.fill"], lab.host.calls("perl", "sync")) == ("0", [])


def test_one_that_does_not_fill_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fill.takes_no_room").touch()
    with pytest.raises(SettingRefused, match="was to be filled to 80 %, and 0 % of it are in use"):
        Lab(tmp_path).make()


def test_what_is_filled_leaves_no_room() -> None:
    assert Room(0.8, 100).left(75).most_in(10_000) == pytest.approx(0.25 * Room(0.8, 100).most_in(10_000), abs=1)
    for percent in (0, 90):
        check_fit(hosts_model(share=LAB), full(fill=[percent]))
    with pytest.raises(BadInput, match=r"too few for ext4, ext4.fill 95 with a payload of 134217728 bytes: give"):
        check_fit(hosts_model(share=LAB), full(fill=[0, 95]))


@pytest.mark.parametrize(
    ("factors", "fills"),
    [
        ({"direction": ["write", "read"], "ext4": {"fill": [50, 90]}}, 2 * 2 + 2),
        ({"ext4": {"fill": [50], "data": ["ordered", "journal"]}}, 2 + 2),
        ({"ext4": {"fill": [0]}}, 0),
    ],
)
def test_a_store_by_itself_is_filled_once_a_block_for_each_of_its_levels(factors: dict[str, Any], fills: int) -> None:
    assert plan(full(3, **factors), CATALOGUE).changes.get("fill", 0) == 3 * fills


def test_a_sweep_of_stores_alone_fills_each_once_a_block_whatever_measures_it() -> None:
    factors = {"protocol": ["local"], "store": ["ext4"], "ext4": {"fill": [0, 50, 90]}}
    alone = sweep_with(blocks=6, workload={"size": "128 MiB"}, store_tools=["dd", "fio"], factors=factors)
    assert plan(alone, CATALOGUE).changes["fill"] == 6 * 2


def test_a_plan_says_how_many_are_filled_and_counts_the_time() -> None:
    plans = [plan(full(fill=fill), CATALOGUE) for fill in ([], [0, 5], [0, 90])]
    # in each block one for the trial, and one where the store is measured by itself
    assert [planned.changes.get("fill") for planned in plans] == [None, 12, 12]
    assert plans[2].estimated_s - plans[1].estimated_s == pytest.approx(12 * 0.85 * 2**31 / 60e6)
    assert hosts_model().share.image_size == USUAL_IMAGE_BYTES
