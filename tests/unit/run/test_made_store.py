"""What a server needs for a file system of the lab's own: said before anything is changed."""

from pathlib import Path

import pytest
from support.fake_host import FakeHost
from support.input_files import HOSTS

from lab.base.errors import Absent, BadInput, Unsupported
from lab.design.sweep_file import parse_sweep
from lab.hosts.command import script
from lab.hosts.hosts_file import ShareConfig, load_hosts
from lab.platforms.linux.platform import Linux
from lab.platforms.linux.programs import MANAGERS
from lab.platforms.macos.platform import MacOS
from lab.run.begin.compatibility import check_fit
from lab.run.case import made_store
from lab.stores.store import LACKS, parse_mounted
from lab.stores.xfs import STORE as XFS
from lab.stores.zfs import STORE as ZFS

SHARE = ShareConfig(serve="lab", account="lab")
SWEEP = """
name = "stores"
[workload]
size = "{size}"
[factors]
protocol = ["nfs"]
store = ["ram", "ext4", "xfs"]
"""


def test_a_kernel_with_all_of_it_is_good_enough() -> None:
    host = FakeHost("server")
    host.on(script(LACKS, "xfs", "loop"))
    made_store.check(Linux(host), XFS, {}, SHARE)


@pytest.mark.parametrize("lacking", ["xfs", "loop"])
def test_a_store_that_the_kernel_lacks_is_left_out_with_what_it_lacks(lacking: str) -> None:
    host = FakeHost("server")
    host.on(script(LACKS, "xfs", "loop"), f"{lacking}\n")
    with pytest.raises(Absent, match=f"server: store xfs: its kernel has no {lacking}"):
        made_store.check(Linux(host), XFS, {}, SHARE)


def test_zfs_is_a_module_that_somebody_can_install() -> None:
    host = FakeHost("server")
    host.on(script(LACKS, "zfs", "zfs"), "zfs\n")
    host.on(script(MANAGERS), "apt-get\n")
    with pytest.raises(
        Unsupported, match="server: store zfs: its kernel has no zfs: `apt-get install zfs-dkms` there, "
    ):
        made_store.check(Linux(host), ZFS, {}, SHARE)


def test_zfs_on_disks_takes_loops_too_which_nobody_installs() -> None:
    host = FakeHost("server")
    host.on(script(LACKS, "zfs", "zfs", "loop"), "loop\n")
    with pytest.raises(Absent, match="server: store zfs: its kernel has no loop"):
        made_store.check(Linux(host), ZFS, {"disks": "512e"}, SHARE)


def test_a_mac_makes_none_of_them() -> None:
    with pytest.raises(Absent, match="server: store xfs is made on linux, and the server runs macos"):
        made_store.check(MacOS(FakeHost("server")), XFS, {}, SHARE)


def test_without_root_there_is_none() -> None:
    host = FakeHost("server")
    host.lacks_root = True
    with pytest.raises(
        Unsupported, match="only root makes and mounts it: log in as root, or with sudo, or leave it out"
    ):
        made_store.check(Linux(host), XFS, {}, SHARE)


@pytest.mark.parametrize(
    ("image_size", "size", "message"),
    [
        ("2 GiB", "1 GiB", ""),
        (
            "200 MiB",
            "1 MiB",
            "209715200 bytes are too few for xfs with a payload of 1048576 bytes: give 300 MiB or more",
        ),
        (
            "1 GiB",
            "1 GiB",
            "1073741824 bytes are too few for ext4 with a payload of 1073741824 bytes: give 1265 MiB or",
        ),
    ],
)
def test_an_image_must_hold_the_payload_and_be_large_enough_to_be_made(
    tmp_path: Path, image_size: str, size: str, message: str
) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", f"[share]\nserve = lab\nimage_size = {image_size}"))
    sweep = parse_sweep(SWEEP.format(size=size), Path("stores.toml"))
    if not message:
        check_fit(load_hosts(path), sweep)
        return
    with pytest.raises(BadInput) as refused:
        check_fit(load_hosts(path), sweep)
    assert f"hosts.ini: [share] image_size: {message}" in str(refused.value)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ('zfs.raid = ["raidz2"]', ""),
        ("zfs.vdevs = [8, 9]", "zfs, zfs.vdevs 9 with a payload of 100663296 bytes: give 2304 MiB or more"),
        (
            'zfs.raid = ["mirror"]\nzfs.vdevs = [8]',
            "zfs, zfs.raid mirror, zfs.vdevs 8 with a payload of 100663296 bytes",
        ),
    ],
)
def test_every_pool_of_a_sweep_must_hold_the_payload_and_have_files_large_enough(
    tmp_path: Path, levels: str, message: str
) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", "[share]\nserve = lab"))
    text = SWEEP.format(size="96 MiB").replace('"ram", "ext4", "xfs"]', f'"zfs"]\n{levels}')
    sweep = parse_sweep(text, Path("stores.toml"))
    if not message:
        check_fit(load_hosts(path), sweep)
        return
    with pytest.raises(BadInput) as refused:
        check_fit(load_hosts(path), sweep)
    assert f"hosts.ini: [share] image_size: 2147483648 bytes are too few for {message}" in str(refused.value)


def test_in_a_share_that_was_there_the_lab_makes_no_store(tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(HOSTS)
    with pytest.raises(BadInput, match="serve = existing: the lab cannot choose where that share's files are"):
        check_fit(load_hosts(path), parse_sweep(SWEEP.format(size="1 MiB"), Path("stores.toml")))


def test_what_is_no_line_of_a_mounted_device_is_refused() -> None:
    assert parse_mounted("/dev/loop3 /x/store xfs rw,noatime 0 0\n") == ("/dev/loop3", "rw,noatime")
    pool = "file-share-lab-0123456789abcdef"
    assert parse_mounted(f"{pool} /x/store zfs rw,noatime 0 0\n") == (pool, "rw,noatime")
    for text in ("tank /x/store zfs rw 0 0\n", "", "lab /x/store tmpfs rw 0 0\n", "/dev/loop3 /x/store"):
        with pytest.raises(ValueError, match="no device"):
            parse_mounted(text)
