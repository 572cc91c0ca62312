"""Who makes what a client reads, the proof that it went through the share, and the removal of both ends."""

import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pairs import hosts_model, pair_of
from support.parts import ENDPOINTS, case_of, part_of, setup_of

from lab import platforms, workloads
from lab.base.errors import HostLost, TransferError
from lab.design.case import Case
from lab.design.sweep_file import parse_sweep
from lab.hosts import Role
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.run.transfer.part import Endpoints, Part, Place, place_in_mount
from lab.run.transfer.payload import describe_writer, make_by_client, payload_files, writer_of

SIZE = 32 * 2**20  # more than others send over this machine's own interface meanwhile
TREE = 'name = "t"\n[workload]\nkind = "tree"\nmanifest = "tree.txt"\n[factors]\nprotocol = ["smb"]\n'
LOCAL = HostConfig(transport="local", sudo="none", data_address="127.0.0.1")
BOTH = [(Role.CLIENT, "/c/file"), (Role.SERVER, "/s/file")]


def read_of(read_from: str, clients: int = 2, direction: str = "read") -> Case:
    return case_of(direction, read_from=read_from, clients=str(clients), store="disk", size_bytes=SIZE)


@given(st.integers(2, 16))
def test_each_reads_what_another_one_wrote_and_each_writes_once(clients: int) -> None:
    writers = [writer_of(number, read_of("other", clients)) for number in range(clients)]
    assert (sorted(writers), writers[0]) == (list(range(clients)), 1)
    assert all(writer != number for number, writer in enumerate(writers))
    assert [writer_of(number, read_of("own", clients)) for number in range(clients)] == list(range(clients))


@pytest.mark.parametrize(
    ("case", "in_mount", "writer"),
    [
        (read_of("default"), False, {"written_by": "server"}),
        (read_of("default"), True, {"written_by": "own"}),
        (read_of("own"), False, {"written_by": "own"}),
        (read_of("other"), True, {"written_by": "other"}),
        (read_of("default", direction="write"), False, {}),
    ],
)
def test_a_trial_says_who_wrote_what_it_read(case: Case, in_mount: bool, writer: dict[str, str]) -> None:
    source = Place(Role.CLIENT if in_mount else Role.SERVER, "/a", in_mount)
    assert describe_writer(part_of(None, case, endpoints=Endpoints("", "", "", source, source))) == writer


@pytest.mark.parametrize("kind", ["file", "tree"])
def test_what_did_not_cross_the_share_is_an_error(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    """A folder of this machine in the place of a mount: everything is there, and nothing crossed a wire.

    The account's files are for nobody else, unless told otherwise.
    """
    request.addfinalizer(partial(os.umask, os.umask(0o077)))
    host = SshHost("client", LOCAL)
    platform = platforms.detect(host)
    lab, mount = tmp_path / "lab", tmp_path / "mount"
    (lab / "ram").mkdir(parents=True)
    mount.mkdir()
    interface = "lo" if platform.name == "linux" else "lo0"
    platform.clock.install(str(lab), interface, "127.0.0.1")
    pair = pair_of(
        hosts_model(client={"interface": interface}), hosts={Role.CLIENT: host}, platforms={Role.CLIENT: platform},
        sides={Role.CLIENT: SimpleNamespace(directory=str(lab), host=host)},
    )  # fmt: skip
    (tmp_path / "tree.txt").write_text(f"d a\nf {SIZE - 7} a/most\nf 7 rest\n")
    payload = workloads.payload(kind)
    if kind == "tree":
        payload = payload.of(parse_sweep(TREE, tmp_path / "s.toml").workload)
    setup = setup_of(str(mount))
    part = part_of(pair, read_of("own"), setup, session=SimpleNamespace(payload=payload))
    with pytest.raises(TransferError, match="what is to be read was not written through the share: only") as refused:
        make_by_client(part, "new")
    assert refused.value.host == "client"
    payload.check(host, place_in_mount(setup, "new").path, SIZE, "new")  # as a reader would have found it
    modes = {path.name: path.stat().st_mode & 0o777 for path in mount.rglob("*")}
    assert modes == ({"new": 0o644} if kind == "file" else {"new": 0o755, "a": 0o755, "most": 0o644, "rest": 0o644})
    assert list((lab / "ram").iterdir()) == []


class Removals:
    """What was removed on which host; the host ``lost`` is out of reach."""

    def __init__(self, lost: Role | None = None, kind: str = "file", endpoints: Endpoints = ENDPOINTS):
        self.lost = lost
        self.removed: list[tuple[Role, str]] = []
        self.deadlines_s: list[float] = []
        pair = SimpleNamespace(platforms={role: SimpleNamespace(files=self._files(role)) for role in Role})
        session = SimpleNamespace(payload=workloads.payload(kind))
        self.part: Part = part_of(pair, case_of(files=10_000), session=session, endpoints=endpoints)

    def _files(self, role: Role) -> SimpleNamespace:
        return SimpleNamespace(remove=partial(self._remove, role), remove_folder=partial(self._remove_folder, role))

    def _remove(self, role: Role, path: str, root: bool) -> None:
        assert root
        if role is self.lost:
            raise HostLost("the connection was lost", host=role)
        self.removed.append((role, path))

    def _remove_folder(self, role: Role, path: str, deadline_s: float, root: bool) -> None:
        self.deadlines_s.append(deadline_s)
        self._remove(role, path, root)


@pytest.mark.parametrize("error", [None, TransferError("broken")])
def test_both_ends_are_removed_however_a_transfer_ends(error: TransferError | None) -> None:
    hosts = Removals()
    with pytest.raises(TransferError) if error else nullcontext(), payload_files(hosts.part):
        assert hosts.removed == []
        if error:
            raise error
    assert sorted(hosts.removed) == BOTH


def test_what_was_removed_already_is_not_removed_again() -> None:
    hosts = Removals()
    with payload_files(hosts.part) as files:
        files.remove(ENDPOINTS.source_place)
        assert hosts.removed == BOTH[:1]
    assert hosts.removed == BOTH


def test_a_payload_to_be_read_again_stays_in_the_share_and_nowhere_else() -> None:
    in_share = Place(Role.SERVER, "/share/name", in_mount=True)
    hosts = Removals(endpoints=Endpoints("", "", "", in_share, Place(Role.CLIENT, "/c/name")))
    hosts.part.setup.mount.payloads["file", 1] = "name"
    with payload_files(hosts.part):
        pass
    assert hosts.removed == [(Role.CLIENT, "/c/name")]


@pytest.mark.parametrize("lost", list(Role))
def test_a_host_out_of_reach_keeps_its_payload_and_the_other_one_does_not(lost: Role) -> None:
    hosts = Removals(lost)
    with payload_files(hosts.part) as files:
        files.remove(ENDPOINTS.source_place)
    assert hosts.removed == [pair for pair in BOTH if pair[0] is not lost]


def test_a_tree_is_removed_with_all_in_it_and_given_time_for_that() -> None:
    hosts = Removals(kind="tree")
    with payload_files(hosts.part):
        pass
    assert (sorted(hosts.removed), {round(deadline_s) for deadline_s in hosts.deadlines_s}) == (BOTH, {560})
