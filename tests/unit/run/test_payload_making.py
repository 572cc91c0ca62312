"""Who makes what a client reads: who writes for whom, in which order, and the proof that it went through the share."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pairs import STORE_NAME, UNSEEN, hosts_model, pair_of

from lab import platforms, workloads
from lab.base.errors import TransferError
from lab.design.case import Case
from lab.design.factors import OPTIONS, Direction
from lab.design.sweep_file import parse_sweep
from lab.hosts import Role
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.protocols import Attached, Driver, Share
from lab.run.case.setup import Setup
from lab.run.case.sharing import Mount, Served
from lab.run.transfer import preparation
from lab.run.transfer.payload import describe_writer, make_by_client, writer_of
from lab.run.transfer.places import Endpoints, Place, endpoints_of, place_in_mount
from lab.run.transfer.preparation import prepare_all

SIZE = 32 * 2**20  # more than others send over this machine's own interface meanwhile
TREE = 'name = "t"\n[workload]\nkind = "tree"\nmanifest = "tree.txt"\n[factors]\nprotocol = ["smb"]\n'
LOCAL = HostConfig(transport="local", sudo="none", data_address="127.0.0.1")


def case(read_from: str, clients: int = 2, direction: str = "read", store: str = "disk", **more: str) -> Case:
    options = OPTIONS | {"read_from": read_from, "clients": str(clients)} | more
    return Case("smb", "cp", Direction(direction), 1500, "default", store, "file", SIZE, options=tuple(options.items()))


def setup(path: str, folder: str = "") -> Setup:
    share = cast(Share, SimpleNamespace(path="/srv/share"))
    served = Served({Role.CLIENT: Driver(), Role.SERVER: Driver()}, {})
    return Setup(share, f"/srv/share{folder}", served, Mount(Attached(path), None), False, {})


# --- who writes for whom


@given(st.integers(2, 16))
def test_each_reads_what_another_one_wrote_and_each_writes_once(clients: int) -> None:
    writers = [writer_of(number, case("other", clients)) for number in range(clients)]
    assert sorted(writers) == list(range(clients))
    assert all(writer != number for number, writer in enumerate(writers))
    assert writers[0] == 1
    assert [writer_of(number, case("own", clients)) for number in range(clients)] == list(range(clients))


@pytest.mark.parametrize(
    ("asked", "in_mount", "writer"),
    [
        (case("default"), False, {"written_by": "server"}),
        (case("default"), True, {"written_by": "own"}),
        (case("own"), False, {"written_by": "own"}),
        (case("other"), True, {"written_by": "other"}),
        (case("default", direction="write"), False, {}),
    ],
)
def test_a_trial_says_who_had_written_what_it_read(asked: Case, in_mount: bool, writer: dict[str, str]) -> None:
    source = Place(Role.CLIENT if in_mount else Role.SERVER, "/a", in_mount)
    assert describe_writer(asked, Endpoints("", "", "", source, Place(Role.CLIENT, "/b"))) == writer


def test_what_one_client_keeps_to_read_again_is_not_written_over_by_another() -> None:
    pair = pair_of(hosts_model(server=UNSEEN), sides=cast(Any, {Role.CLIENT: SimpleNamespace(directory="/lab")}))
    stands = setup("/mnt/nas", f"/{STORE_NAME}")
    stands.mount.payloads["file", SIZE] = "kept"
    assert endpoints_of(pair, stands, case("own", clients=1), "b1").seed == "kept"
    assert endpoints_of(pair, stands, case("other", clients=2), "b1").seed.startswith("b1-")


# --- in which order


class Steps:
    """What preparing a read of several clients does, step by step."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self.seen: list[str] = []
        patch.setattr(preparation, "make_by_client", self._noting("writes", lambda seat, *rest: (seat.name, rest[-1])))
        patch.setattr(preparation, "make_at_source", self._noting("server makes", lambda *rest: (rest[-1].seed,)))
        drop = SimpleNamespace(drop_caches=lambda: self.seen.append("server forgets"))
        self.session = SimpleNamespace(set_up=self.fail, forget_store=lambda _: self.seen.append("store forgets"))
        self.platforms = {Role.SERVER: SimpleNamespace(files=drop, name="linux")}

    def _noting(self, what: str, words: Callable[..., tuple[str, ...]]) -> Callable[..., None]:
        return lambda *given: self.seen.append(" ".join([what, *words(*given)]))

    def shell(self, _: str, path: str, **how: object) -> None:
        self.seen.append(f"server reads {path}")

    def fail(self, _: object) -> None:
        raise AssertionError("it stands already")

    def seat(self, number: int) -> Any:
        name = f"c{number}"
        files = SimpleNamespace(drop_caches=lambda: self.seen.append(f"{name} forgets"))
        pair = SimpleNamespace(
            hosts={Role.CLIENT: SimpleNamespace(lacks_root=False), Role.SERVER: self},
            platforms=self.platforms | {Role.CLIENT: SimpleNamespace(files=files, name="linux")},
            config=SimpleNamespace(lab=SimpleNamespace(instance=None)),
            with_ram_disk=(Role.CLIENT,),
        )

        def mount_anew(_: object, always: bool) -> bool:
            self.seen.append(f"{name} mounts{' always' if always else ''}")
            return True

        ends = Endpoints("", "", "", Place(Role.SERVER, f"/s/of-{name}"), Place(Role.CLIENT, f"/c/of-{name}"))
        return SimpleNamespace(session=self.session, pair=pair, name=name, mount_anew=mount_anew), None, ends

    def of(self, asked: Case) -> list[str]:
        prepare_all([self.seat(number) for number in range(asked.clients)], asked)
        return self.seen


@pytest.mark.parametrize(
    ("read_from", "written", "mounts"),
    [
        ("own", {"writes c0 of-c0", "writes c1 of-c1", "writes c2 of-c2"}, "mounts always"),
        ("other", {"writes c1 of-c0", "writes c2 of-c1", "writes c0 of-c2"}, "mounts always"),
        ("default", {"server makes of-c0", "server makes of-c1", "server makes of-c2"}, "mounts"),
    ],
)
def test_all_have_written_before_any_client_forgets(
    monkeypatch: pytest.MonkeyPatch, read_from: str, written: set[str], mounts: str
) -> None:
    steps = Steps(monkeypatch).of(case(read_from, 3, server_cache="cold"))
    assert set(steps[:3]) == written
    assert steps[3:] == [
        *(f"c{number} {mounts}" for number in range(3)), "store forgets", "server forgets",
        *(f"c{number} forgets" for number in range(3)),
    ]  # fmt: skip


def test_a_warm_server_reads_last_for_hosts_of_a_local_lab_share_one_page_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = Steps(monkeypatch).of(case("other", server_cache="warm"))
    assert steps[-4:] == ["c0 forgets", "c1 forgets", "server reads /s/of-c0", "server reads /s/of-c1"]


# --- the proof


@pytest.fixture
def strict_umask() -> Iterator[None]:
    """An account whose files nobody else may read, where nothing else is said."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("strict_umask")
@pytest.mark.parametrize("kind", ["file", "tree"])
def test_what_did_not_go_through_the_share_is_an_error(tmp_path: Path, kind: str) -> None:
    """A folder of this machine in the place of a mount: everything is there, and nothing crossed a wire."""
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
    session: Any = SimpleNamespace(pair=pair, payload=payload)
    with pytest.raises(TransferError, match="what is to be read was not written through the share: only") as refused:
        make_by_client(session, setup(str(mount)), case("own"), "new")
    assert refused.value.host == "client"
    payload.check(host, place_in_mount(setup(str(mount)), "new").path, SIZE, "new")  # as a reader would have found it
    modes = {path.name: path.stat().st_mode & 0o777 for path in mount.rglob("*")}
    assert modes == ({"new": 0o644} if kind == "file" else {"new": 0o755, "a": 0o755, "most": 0o644, "rest": 0o644})
    assert list((lab / "ram").iterdir()) == []
