"""One client's part in a transfer: where its payload lies, the tool's command, and a disk that is full."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from support.pairs import STORE_NAME, UNSEEN, hosts_model, pair_of
from support.parts import case_of, part_of, setup_of

from lab import workloads
from lab.base.errors import HostLost, LabFailure, TransferError
from lab.design.case import Case
from lab.design.workload import Workload
from lab.hosts import Role
from lab.platforms.network import BlackHole
from lab.run.transfer.part import Endpoints, NoSpace, Place, call_for, endpoints_of
from lab.run.transfer.transfer import time_tool
from lab.workloads import Move, Payload

SOURCE, TARGET = "/ram/name", "me@nas:/srv/name"
SHELL = "ssh -p 2"
FULL = TransferError("cp: cannot create regular file '/m/x': Input/output error", host="client")


def endpoints(case: Case, server: Mapping[str, str | None] = UNSEEN) -> Endpoints:
    """The ends over a share in whose mount a payload named ``kept`` lies."""
    pair = pair_of(hosts_model(server=server), sides={Role.CLIENT: SimpleNamespace(directory="/lab")})
    setup = setup_of("/mnt/nas", f"/srv/share/{STORE_NAME}")
    setup.mount.payloads["file", 7] = "kept"
    return endpoints_of(pair, setup, case, "b001-0001")


def test_without_a_login_both_ends_are_on_the_client_and_one_of_them_in_the_mount() -> None:
    write, read = (endpoints(case_of(direction, client_sync="fsync")) for direction in ("write", "read"))
    for path, place in ((write.target, write.target_place), (read.source, read.source_place)):
        assert place == Place(Role.CLIENT, path, in_mount=True)
        assert path.startswith(f"/mnt/nas/{STORE_NAME}/b001-0001")
    for path, place in ((write.source, write.source_place), (read.target, read.target_place)):
        assert place == Place(Role.CLIENT, path)
        assert path.startswith("/lab/ram/b001-0001")
    assert (write.flush, read.flush) == (write.target, read.target)


def test_with_a_login_the_end_in_the_share_is_the_servers() -> None:
    write = endpoints(case_of(), {})
    assert write.target_place == Place(Role.SERVER, f"/srv/share/{STORE_NAME}/{write.seed}")
    assert write.target == f"/mnt/nas/{STORE_NAME}/{write.seed}"


def test_a_payload_that_one_client_keeps_is_not_overwritten_by_another() -> None:
    own, other = (case_of("read", size_bytes=7, read_from=by, clients=n) for by, n in (("own", "1"), ("other", "2")))
    assert endpoints(own).seed == "kept"
    assert endpoints(other).seed.startswith("b001-0001-")


def words_of(payload: Payload, name: str, shell: str) -> tuple[str, ...]:
    tool = workloads.tool(name)
    call, source = call_for(payload, tool, (name,), SOURCE)
    return tool.argv(call, "", Move(source=source, target=TARGET, size_bytes=1 << 20, remote_shell=shell))


RSYNC = ("-W", "--inplace", "-e", SHELL, "--", "/ram/name/", TARGET)


@pytest.mark.parametrize(
    ("tool", "first", "second"),
    [
        ("cp", ("cp", "-R", "--", "/ram/name/.", TARGET), ("cp", "-R", "--", "/ram/name/.", TARGET)),
        ("rsync", ("rsync", "-r", *RSYNC), ("rsync", "-r", "-t", *RSYNC)),
        ("ditto", ("ditto", "/ram/name/", TARGET), ("ditto", "/ram/name/", TARGET)),
    ],
)
def test_a_folder_goes_into_one_of_the_same_name(tool: str, first: tuple[str, ...], second: tuple[str, ...]) -> None:
    for changed, words in ((None, first), (0.01, second)):
        workload = Workload.model_validate({"kind": "tree", "profile": "mail", "size": "1 MiB", "changed": changed})
        assert words_of(workloads.payload("tree").of(workload), tool, SHELL) == words


def test_a_single_file_is_named_as_it_was() -> None:
    assert words_of(workloads.payload("file"), "cp", "") == ("cp", "--", SOURCE, TARGET)


ON_SERVER, RAM_DISK = Place(Role.SERVER, "/srv/x"), Place(Role.CLIENT, "/c/ram/x")
IN_MOUNT = Place(Role.CLIENT, "/m/x", in_mount=True)


def failed_transfer(
    free_bytes: Callable[[str], int],
    free_files: Callable[[str], int | None],
    target: Place = ON_SERVER,
    hole: BlackHole | None = None,
    told: Callable[[str], None] = print,
) -> LabFailure:
    """The error of a tree's failed copy to a place that has so much room."""
    clock = SimpleNamespace(time_transfer=Mock(side_effect=FULL))
    files = SimpleNamespace(free_bytes=free_bytes, free_files=free_files)
    network = SimpleNamespace(pings=lambda *_: {}, find_black_hole=lambda *_: hole)
    client, server = SimpleNamespace(clock=clock, files=files, network=network), SimpleNamespace(files=files)
    session = SimpleNamespace(settings=SimpleNamespace(connections=SimpleNamespace(tell=told)))
    pair: Any = SimpleNamespace(
        platforms={Role.CLIENT: client, Role.SERVER: server},
        server_seen=SimpleNamespace(address="192.0.2.2"),
        interface=lambda _: "eth0",
    )
    ends = Endpoints("/c/x", "/m/x", "", Place(Role.CLIENT, "/c/x"), target)
    with pytest.raises(LabFailure) as caught:
        time_tool(part_of(pair, case_of(size_bytes=1 << 24, files=1000), endpoints=ends, session=session), 1.0)
    return caught.value


def test_a_store_without_bytes_or_inodes_is_named_before_the_tools_message() -> None:
    full = failed_transfer(lambda _: 4096, lambda _: 10**6)
    assert str(full) == f"server: no space: only 4096 bytes are left in /srv; {FULL.message}"
    none_left = failed_transfer(lambda _: 1 << 40, lambda _: 3)
    assert none_left.message == f"no inodes: /srv takes only 3 more files; {FULL.message}"
    assert failed_transfer(lambda _: 1 << 40, lambda _: None) is FULL  # a file system without inodes
    assert failed_transfer(lambda _: 1 << 40, lambda _: 10**6) is FULL


def test_a_quota_of_which_nobody_tells_is_known_by_what_the_tool_says(monkeypatch: pytest.MonkeyPatch) -> None:
    quota = TransferError("rsync: write failed on '/m/x': Disk quota exceeded (122)", host="client")
    monkeypatch.setitem(globals(), "FULL", quota)
    reached = failed_transfer(lambda _: 1 << 40, lambda _: None, IN_MOUNT)
    assert (type(reached), reached.message) == (NoSpace, quota.message)


def test_only_a_share_behind_a_mount_is_called_full() -> None:
    failures = [failed_transfer(lambda _: 0, lambda _: None, target) for target in (IN_MOUNT, RAM_DISK)]
    assert [type(failure) for failure in failures] == [NoSpace, TransferError]
    assert failures[1].message.startswith("no space: only 0 bytes are left in /c/ram")


def test_a_server_that_is_gone_hides_no_failure() -> None:
    lost = Mock(side_effect=HostLost("the connection was lost", host="server"))
    assert failed_transfer(lost, lost) is FULL


def test_large_packets_that_vanish_come_before_a_full_disk_and_are_told_at_once() -> None:
    hole, told = BlackHole("packets of 9000 bytes do not arrive", "set MTU 1500", host="client"), list[str]()
    assert failed_transfer(lambda _: 0, lambda _: None, hole=hole, told=told.append) is hole
    assert told[0].startswith("client: packets of 9000 bytes do not arrive: set MTU 1500. The transfer is ended")
