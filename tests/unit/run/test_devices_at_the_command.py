"""Devices that a sweep writes to: named in the hosts file, and again at the command, before any host is reached."""

from pathlib import Path

import pytest
from support.input_files import HOSTS

from lab.base.errors import BadInput
from lab.cli.main import main
from lab.design.sweep_file import Sweep, parse_sweep
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.run.begin.compatibility import check_fit, check_write_to

SWEEP = """
name = "devices"
[workload]
size = "1 MiB"
[factors]
protocol = ["nfs"]
store = ["{store}"]
{store}.{option}
"""
TWO = "/dev/disk/by-id/ata-X-1 /dev/disk/by-id/ata-X-2"
MIRROR = 'disks = ["named"]\nzfs.raid = ["mirror"]'


def hosts(folder: Path, devices: str, share: str = "serve = lab") -> Hosts:
    path = folder / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", f"[share]\ndevices = {devices}\n{share}"))
    return load_hosts(path)


def sweep(store: str = "ext4", option: str = 'disk = ["image", "named"]') -> Sweep:
    return parse_sweep(SWEEP.format(store=store, option=option), Path("devices.toml"))


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        ("/etc/passwd", r"hosts.ini: \[share\] devices: has '/etc/passwd', which is not the path of a device such as"),
        ("/dev/../etc/passwd", r"devices: has '/dev/../etc/passwd'"),
        ("/dev/sdb /dev/sdb", r"devices: names a device twice"),
        ("sdb", r"devices: has 'sdb'"),
        ("/dev/sdb;reboot", r"devices: has '/dev/sdb;reboot'"),
    ],
)
def test_what_is_no_device_is_refused(tmp_path: Path, devices: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        hosts(tmp_path, devices)


def test_a_sweep_takes_as_many_as_its_stores_have(tmp_path: Path) -> None:
    check_fit(hosts(tmp_path, "/dev/sdb"), sweep())
    check_fit(hosts(tmp_path, TWO), sweep("zfs", MIRROR))
    with pytest.raises(BadInput, match=r"hosts.ini: \[share\] devices: 1 named, and the sweep has stores on 2"):
        check_fit(hosts(tmp_path, "/dev/sdb"), sweep("zfs", MIRROR))


def test_just_those_that_are_written_to_are_named_at_the_command(tmp_path: Path) -> None:
    config = hosts(tmp_path, TWO)
    first, second = TWO.split()
    check_write_to(config, sweep(), [first])
    check_write_to(config, sweep("zfs", MIRROR), [second, first])
    check_write_to(config, sweep(option='disk = ["image"]'), [])
    with pytest.raises(BadInput, match=f"the sweep writes to {first} of the server: .*; then: --write-to {first}$"):
        check_write_to(config, sweep(), [])
    with pytest.raises(BadInput, match=f"writes to {first} of the server, and --write-to has {second}"):
        check_write_to(config, sweep(), [second])
    with pytest.raises(BadInput, match="--write-to: the sweep writes to no device"):
        check_write_to(config, sweep(option='disk = ["image"]'), [first])


def test_a_plan_says_which_it_writes_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts(tmp_path, TWO)
    path = tmp_path / "devices.toml"
    path.write_text(SWEEP.format(store="ext4", option='disk = ["named"]'))
    assert main(["plan", "--hosts", str(tmp_path / "hosts.ini"), str(path)]) == 0
    said = capsys.readouterr().err
    assert "server: /dev/disk/by-id/ata-X-1: a run writes to it, after --write-to /dev/disk/by-id/ata-X-1\n" in said
    assert "ata-X-2" not in said
