"""Whether a tree has room: on the RAM disks before a run, by its bytes and its files, and on a store that ran out."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.pairs import hosts_model
from support.sweeps import cases_of

from lab.base.errors import BadInput, HostLost, TransferError
from lab.design.sweep_file import Sweep
from lab.hosts import Role
from lab.hosts.hosts_file import Hosts
from lab.run.begin.compatibility import check_fit
from lab.run.transfer import one_client
from lab.run.transfer.places import Endpoints, Place

FILE = Path("hosts.ini")
FULL = TransferError("cp: cannot create regular file '/m/x': Input/output error", host="client")


def mail(size: str = "16 MiB", profile: str = "mail", **factors: Any) -> Sweep:
    """Of mail a thousand files, which take more than 1.05 times their bytes in whole blocks."""
    workload = {"kind": "tree", "profile": profile, "size": size}
    content = {"protocol": ["smb"], "tool": ["cp"]} | factors
    return Sweep.model_validate({"name": "try", "workload": workload, "factors": content})


def hosts_of(**changes: dict[str, str]) -> Hosts:
    """Hosts with large RAM disks, where a section has no other one, and a share that the lab serves."""
    roles = {role: {"ram_disk": "1 GiB"} | changes.get(role, {}) for role in ("client", "server")}
    return hosts_model(share={"serve": "lab"}, **roles)


@pytest.mark.parametrize("role", ["client", "server"])
def test_a_tree_that_is_larger_than_a_ram_disk_in_whole_blocks_is_refused_before_a_run(role: str) -> None:
    check_fit(hosts_of(), mail())
    too_small = {"ram_disk": "18 MiB"}  # as large as its bytes and 5 % more, and too small for its last blocks
    with pytest.raises(BadInput) as caught:
        check_fit(hosts_of(**{role: too_small}), mail())
    assert f"[{role}] ram_disk: 18874368 bytes cannot hold a payload of 16777216 bytes in " in str(caught.value)
    assert "files, which take " in str(caught.value)
    assert caught.value.remedy == "a larger ram_disk, or a smaller size in the sweep"


def test_a_tree_of_more_files_than_ext4_has_inodes_is_refused_and_fits_another_format() -> None:
    many = mail("16 MiB", profile="source-tree")
    disk = {"ram_disk": "24 MiB", "ram_disk_format": "ext4"}
    with pytest.raises(BadInput) as caught:
        check_fit(hosts_of(client=disk), many)
    assert "have an inode for each 16384 bytes, too few for" in str(caught.value)
    assert caught.value.remedy.endswith("or ram_disk_format = tmpfs")
    check_fit(hosts_of(client=disk | {"ram_disk_format": "tmpfs"}), many)


def failed_transfer(free_bytes: Callable[[str], int], free_files: Callable[[str], int | None]) -> TransferError:
    """What a tree's failed copy into a share says whose server tells these numbers of its folder."""

    def fail(*_: object) -> None:
        raise FULL

    files = SimpleNamespace(free_bytes=free_bytes, free_files=free_files)
    clock = SimpleNamespace(time_transfer=fail)
    platforms = {Role.CLIENT: SimpleNamespace(clock=clock), Role.SERVER: SimpleNamespace(files=files)}
    sides = {Role.SERVER: SimpleNamespace(address="192.0.2.2")}
    pair: Any = SimpleNamespace(platforms=platforms, sides=sides, interface=lambda _: "eth0")
    setup: Any = SimpleNamespace(attached=SimpleNamespace(remote_shell=""), store=None)
    ends = Endpoints("/c/x", "/m/x", "", Place(Role.CLIENT, "/c/x"), Place(Role.SERVER, "/srv/x"))
    (case, *_), _ = cases_of(mail(direction=["write"]))
    with pytest.raises(TransferError) as caught:
        one_client._time(pair, setup, case, ends, ("cp",), 1.0)
    return caught.value


def test_a_store_without_bytes_or_inodes_is_named_before_what_the_tool_said() -> None:
    full = failed_transfer(lambda _: 4096, lambda _: 10**6)
    assert full.message == f"no space: only 4096 bytes are left in /srv; {FULL.message}"
    assert full.host == Role.SERVER
    none_left = failed_transfer(lambda _: 1 << 40, lambda _: 3)
    assert none_left.message == f"no inodes: /srv takes only 3 more files; {FULL.message}"
    assert failed_transfer(lambda _: 1 << 40, lambda _: None) is FULL  # it makes inodes as needed
    assert failed_transfer(lambda _: 1 << 40, lambda _: 10**6) is FULL


def test_a_server_that_is_gone_hides_no_failure() -> None:
    def lost(_: str) -> int:
        raise HostLost("the connection was lost", host="server")

    assert failed_transfer(lost, lost) is FULL
