"""MTU and TCP buffers of a case: on which hosts they are set, and from where the path is proven."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from support.fake_host import FakeHost

from lab.hosts import Role
from lab.platforms.linux.platform import Linux
from lab.run.case.network import set_mtu, set_tcp_buffers
from lab.settings.changes import Settings
from lab.settings.operation import Setting


class Recorder(Settings):
    """Settings that only note what would be set on which host, in order."""

    def __init__(self) -> None:
        self.applied: list[tuple[str, str]] = []

    def apply(self, setting: Setting) -> None:
        self.applied.append((setting.host, setting.name))

    @contextmanager
    def scope(self) -> Iterator[None]:
        yield


def pairs_of(recorder: Recorder, *clients: str, tuned: Sequence[Role] = (Role.SERVER, Role.CLIENT)) -> list[Any]:
    """Clients of one server; a proof of the path is recorded as its client's."""
    server = Linux(FakeHost("server"))

    def pair(name: str) -> Any:
        platforms = {Role.SERVER: server, Role.CLIENT: Linux(FakeHost(name))}
        network: Any = platforms[Role.CLIENT].network
        network.probe_settings = lambda _: ()
        network.prove_path = lambda peer, mtu: recorder.applied.append((name, f"{peer} carries {mtu}"))
        seen = SimpleNamespace(address="192.0.2.2")
        return SimpleNamespace(platforms=platforms, tuned=tuned, interface=lambda role: f"{role}0", server_seen=seen)

    return [pair(name) for name in clients]


def test_every_host_has_the_mtu_before_the_path_from_each_client_is_proven() -> None:
    recorder = Recorder()
    set_mtu(pairs_of(recorder, "client", "client-2"), recorder, 9000)
    assert [host for host, name in recorder.applied if "carries" not in name] == ["server", "client", "client-2"]
    assert recorder.applied[3:] == [("client", "192.0.2.2 carries 9000"), ("client-2", "192.0.2.2 carries 9000")]


def test_every_host_has_the_buffers_of_both_directions() -> None:
    recorder = Recorder()
    set_tcp_buffers(pairs_of(recorder, "client", "client-2"), recorder, 65536)
    each = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
    assert recorder.applied == [(host, name) for host in ("server", "client", "client-2") for name in each]


def test_a_host_that_may_not_be_tuned_is_left_alone() -> None:
    recorder = Recorder()
    set_mtu(pairs_of(recorder, "client", tuned=[Role.CLIENT]), recorder, 1500)
    set_tcp_buffers(pairs_of(recorder, "client", tuned=[]), recorder, 65536)
    set_tcp_buffers(pairs_of(recorder, "client"), recorder, "default")
    assert [host for host, _ in recorder.applied] == ["client", "client"], "its MTU, and the proof of the path"
