"""What a hosts file and a sweep cannot do together, before any host is reached; devices that a sweep writes to."""

import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest
from support.input_files import HOSTS
from support.pairs import UNSEEN, hosts_model
from support.sweeps import sweep_of, sweep_with

from lab.base.errors import BadInput
from lab.cli.main import main
from lab.design.sweep_file import Sweep
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.run.begin.compatibility import check_fit, check_write_to

TWO = "/dev/disk/by-id/ata-X-1 /dev/disk/by-id/ata-X-2"


def hosts(folder: Path, devices: str) -> Hosts:
    path = folder / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", f"[share]\ndevices = {devices}\nserve = lab"))
    return load_hosts(path)


def sweep(**stores: dict[str, list[str]]) -> Sweep:
    """A sweep of these stores, by the levels of their options."""
    return sweep_with(factors={"protocol": ["nfs"], "store": list(stores), **stores})


IMAGE, EITHER = sweep(ext4={"disk": ["image"]}), sweep(ext4={"disk": ["image", "named"]})
MIRROR = sweep(zfs={"disks": ["named"], "raid": ["mirror"]})


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
    check_fit(hosts(tmp_path, "/dev/sdb"), EITHER)
    check_fit(hosts(tmp_path, TWO), MIRROR)
    with pytest.raises(BadInput, match=r"hosts.ini: \[share\] devices: 1 named, and the sweep has stores on 2"):
        check_fit(hosts(tmp_path, "/dev/sdb"), MIRROR)


def test_just_those_that_are_written_to_are_named_at_the_command(tmp_path: Path) -> None:
    config = hosts(tmp_path, TWO)
    first, second = TWO.split()
    for wanted, named in ((EITHER, [first]), (MIRROR, [second, first]), (IMAGE, [])):
        check_write_to(config, wanted, named)
    for wanted, named, message in (
        (EITHER, [], f"the sweep writes to {first} of the server: .*; then: --write-to {first}$"),
        (EITHER, [second], f"writes to {first} of the server, and --write-to has {second}"),
        (IMAGE, [first], "--write-to: the sweep writes to no device"),
    ):
        with pytest.raises(BadInput, match=message):
            check_write_to(config, wanted, named)


def test_a_plan_says_which_it_writes_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosts(tmp_path, TWO)
    path = tmp_path / "devices.toml"
    factors = 'protocol = ["nfs"]\nstore = ["ext4"]\next4.disk = ["named"]\n'
    path.write_text(f'name = "devices"\n[workload]\nsize = "1 MiB"\n[factors]\n{factors}')
    assert main(["plan", "--hosts", str(tmp_path / "hosts.ini"), str(path)]) == 0
    printed = capsys.readouterr().err
    assert "server: /dev/disk/by-id/ata-X-1: a run writes to it, after --write-to /dev/disk/by-id/ata-X-1\n" in printed
    assert "ata-X-2" not in printed


@pytest.mark.parametrize(
    ("share", "protocols", "message"),
    [
        ({"mounted": "/mnt/nas"}, ["smb", "nfs"],
         '[share] mounted: a share that is mounted already has one protocol, the sweep wants smb, nfs: '
         'give protocol = ["smb"] in the sweep, if that is it, or let the lab mount the share'),
        ({"path": None}, ["nfs"], "[share] path: missing: NFS mounts the folder that the server exports"),
        ({"path": "~/media"}, ["smb"],
         "[share] path: ~/media: whose home that is only a login on the server would tell: give the full path"),
        ({"path": None}, ["smb"], ""),
        ({"path": None, "mounted": "/mnt/nas"}, ["nfs"], ""),
        ({}, ["smb", "nfs"], ""),
    ],
)  # fmt: skip
def test_what_an_unseen_share_cannot_do(share: Mapping[str, str | None], protocols: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=rf"^{re.escape(message)}\Z") if message else nullcontext():
        check_fit(hosts_model(server=UNSEEN, share=share), sweep_of(protocol=protocols, store=["disk"]))


def test_what_the_lab_serves_from_memory_needs_no_path() -> None:
    config = hosts_model(share={"serve": "lab", "path": None})
    check_fit(config, sweep_of(protocol=["smb", "nfs"], store=["ram"]))


def test_tools_that_would_measure_nothing_are_bad_input() -> None:
    in_memory = sweep_with(store_tools=["dd", "bonnie++"], factors={"store": ["ram"]})
    with pytest.raises(BadInput, match=r'store_tools: bonnie\+\+: .* store has no "disk"'):
        check_fit(hosts_model(share={"serve": "lab"}), in_memory)
    unseen = hosts_model(server=UNSEEN, share={"serve": "existing", "name": "data"})
    dd, fio = (sweep_with(store_tools=[tool], factors={"store": ["disk"]}) for tool in ("dd", "fio"))
    with pytest.raises(BadInput, match=r"store_tools: fio: .* nobody logs in"):
        check_fit(unseen, fio)
    with pytest.raises(BadInput, match=r"store_tools: fio: .* \[share\] has no path there"):
        check_fit(hosts_model(share={"serve": "existing", "name": "data", "path": None}), fio)
    check_fit(unseen, dd)


def mail(profile: str = "mail") -> Sweep:
    """A thousand mails, which take more than 1.05 times their bytes in whole blocks."""
    return sweep_with(workload={"kind": "tree", "profile": profile, "size": "16 MiB"}, factors={"tool": ["cp"]})


def large(**changes: dict[str, str]) -> Hosts:
    """Hosts with large RAM disks, unless changed, and a share that the lab serves."""
    roles = {role: {"ram_disk": "1 GiB"} | changes.get(role, {}) for role in ("client", "server")}
    return hosts_model(share={"serve": "lab"}, **roles)


@pytest.mark.parametrize("role", ["client", "server"])
def test_a_tree_that_is_larger_than_a_ram_disk_in_whole_blocks_is_refused(role: str) -> None:
    check_fit(large(), mail())
    too_small = {"ram_disk": "18 MiB"}  # 5 % more than its bytes, and too small for its last blocks
    with pytest.raises(BadInput) as caught:
        check_fit(large(**{role: too_small}), mail())
    message = rf"\[{role}\] ram_disk: 18874368 bytes cannot hold a payload of 16777216 bytes in .*files, which take "
    assert re.search(message, str(caught.value))
    assert caught.value.remedy == "a larger ram_disk, or a smaller size in the sweep"


def test_a_tree_of_more_files_than_ext4_has_inodes_is_refused_and_fits_another_format() -> None:
    disk = {"ram_disk": "24 MiB", "ram_disk_format": "ext4"}
    with pytest.raises(BadInput) as caught:
        check_fit(large(client=disk), mail("source-tree"))
    assert "have an inode for each 16384 bytes, too few for" in str(caught.value)
    assert caught.value.remedy.endswith("or ram_disk_format = tmpfs")
    check_fit(large(client=disk | {"ram_disk_format": "tmpfs"}), mail("source-tree"))
