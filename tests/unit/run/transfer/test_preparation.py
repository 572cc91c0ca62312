"""What is done before a transfer, and in which order; the memory of a RAM disk is warmed only where that helps."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from support.parts import case_of, part_of

from lab.design.case import Case
from lab.hosts import Role
from lab.run.transfer import preparation
from lab.run.transfer.part import Endpoints, Part, Place
from lab.run.transfer.preparation import MOST_WARMED, WARM_MEMORY, prepare_all, warm_memory

MIB = 2**20


class Steps:
    """What preparing a read of several clients does, step by step."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self.steps: list[str] = []
        by_client, at_source = "writes {0.client.name} {1}", "server makes {0.endpoints.seed}"
        patch.setattr(preparation, "make_by_client", lambda *parts: self._note(by_client.format(*parts)))
        patch.setattr(preparation, "make_at_source", lambda part: self._note(at_source.format(part)))
        self.session = SimpleNamespace(
            set_up=lambda _: pytest.fail("it is set up already"),
            forget_store=lambda _: self._note("store forgets"),
            mount_anew=self._mount_anew,
        )

    def _note(self, step: str) -> bool:
        self.steps.append(step)
        return True

    def _mount_anew(self, setup: Any, always: bool) -> bool:
        return self._note(f"{setup} mounts{' always' if always else ''}")

    def _platform(self, name: str) -> Any:
        files = SimpleNamespace(drop_caches=lambda: self._note(f"{name} forgets"))
        return SimpleNamespace(files=files, name="linux")

    def shell(self, _: str, path: str, **how: object) -> None:
        self._note(f"server reads {path}")

    def part(self, number: int, case: Case) -> Part:
        name = f"c{number}"
        pair = SimpleNamespace(
            hosts={Role.CLIENT: SimpleNamespace(lacks_root=False, name=name), Role.SERVER: self},
            platforms={Role.CLIENT: self._platform(name), Role.SERVER: self._platform("server")},
            config=SimpleNamespace(lab=SimpleNamespace(instance=None)),
            with_ram_disk=(Role.CLIENT,),
        )
        ends = Endpoints("", "", "", Place(Role.SERVER, f"/s/of-{name}"), Place(Role.CLIENT, f"/c/of-{name}"))
        return part_of(pair, case, name, ends, self.session)

    def of(self, read_from: str, clients: int, server_cache: str) -> list[str]:
        case = case_of("read", store="disk", read_from=read_from, clients=str(clients), server_cache=server_cache)
        prepare_all([self.part(number, case) for number in range(clients)])
        return self.steps


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
    steps = Steps(monkeypatch).of(read_from, 3, "cold")
    assert set(steps[:3]) == written
    assert steps[3:] == [
        *(f"c{number} {mounts}" for number in range(3)), "store forgets", "server forgets",
        *(f"c{number} forgets" for number in range(3)),
    ]  # fmt: skip


def test_a_warm_server_reads_last_as_local_hosts_share_one_page_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(monkeypatch).of("other", 2, "warm")
    assert steps[-4:] == ["c0 forgets", "c1 forgets", "server reads /s/of-c0", "server reads /s/of-c1"]


def commands(
    direction: str, store: str = "ram", instance: str | None = "here/1", platform: str = "linux", size: int = MIB
) -> dict[Role, list[tuple[str, ...]]]:
    """The commands on each host before one transfer."""
    hosts = {role: Mock() for role in Role}
    pair = SimpleNamespace(
        config=SimpleNamespace(lab=SimpleNamespace(instance=instance)), hosts=hosts,
        platforms=dict.fromkeys(Role, SimpleNamespace(name=platform)), with_ram_disk=tuple(Role),
    )  # fmt: skip
    ends = [Place(Role.CLIENT, "/c/file"), Place(Role.SERVER, "/s/file")]
    source, target = ends if direction == "write" else reversed(ends)
    case = case_of(direction, store=store, size_bytes=size)
    warm_memory(part_of(pair, case, endpoints=Endpoints("", "", "", source, target)))
    calls = {role: host.shell.call_args_list for role, host in hosts.items()}
    assert all(call.kwargs["given"] and call.kwargs["deadline_s"] > 0 for of_host in calls.values() for call in of_host)
    return {role: [call.args for call in of_host] for role, of_host in calls.items()}


def test_the_host_that_receives_the_payload_has_its_memory_warmed() -> None:
    command = (WARM_MEMORY, "/s", str(MIB))
    assert commands("write") == {Role.CLIENT: [], Role.SERVER: [command]}
    assert commands("read")[Role.CLIENT] == [(WARM_MEMORY, "/c", str(MIB))]
    assert commands("read", store="disk")[Role.CLIENT]  # the client reads into its RAM disk all the same
    assert commands("write", size=5 * MOST_WARMED)[Role.SERVER] == [(*command[:2], str(MOST_WARMED))]


@pytest.mark.parametrize("change", [{"instance": None}, {"store": "disk"}, {"platform": "macos"}])
def test_hosts_of_their_own_and_disks_are_left_alone(change: dict[str, Any]) -> None:
    assert commands("write", **change) == {Role.CLIENT: [], Role.SERVER: []}


def test_warming_leaves_nothing_behind_and_overwrites_nothing(tmp_path: Path) -> None:
    def warm(name: str) -> int:
        words = ["/bin/sh", "-c", WARM_MEMORY, "sh", str(tmp_path), "1000"]
        return subprocess.run(words, input=name, text=True, check=False).returncode

    assert (warm("new"), list(tmp_path.iterdir())) == (0, [])
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("precious")
    link.symlink_to(file)
    assert 0 not in (warm("file"), warm("link"))
    assert (file.read_text(), link.is_symlink()) == ("precious", True)
