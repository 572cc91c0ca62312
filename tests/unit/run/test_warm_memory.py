"""Memory is warmed only where both hosts are one machine's, and only what a RAM disk will take."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.run.transfer.places import Endpoints, Place
from lab.run.transfer.preparation import MOST_WARMED, WARM_MEMORY, warm_memory

MIB = 2**20


class Shells:
    """The commands that a host was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, ...]] = []

    def shell(self, *words: str, given: str, deadline_s: float) -> None:
        assert deadline_s > 0
        assert given
        self.given.append(words)


def commands(
    direction: str, store: str = "ram", instance: str | None = "here/1", platform: str = "linux", size: int = MIB
) -> dict[Role, list[tuple[str, ...]]]:
    """What each host was told before one transfer."""
    hosts = {role: Shells() for role in Role}
    pair = SimpleNamespace(
        config=SimpleNamespace(lab=SimpleNamespace(instance=instance)), hosts=hosts,
        platforms=dict.fromkeys(Role, SimpleNamespace(name=platform)), with_ram_disk=tuple(Role),
    )  # fmt: skip
    case = Case("smb", "cp", Direction(direction), 1500, "default", store, "file", size)
    ends = [(Role.CLIENT, "/c/file"), (Role.SERVER, "/s/file")]
    (source_role, source), (target_role, target) = ends if direction == "write" else reversed(ends)
    warm_memory(cast(Any, pair), case, Endpoints("", "", "", Place(source_role, source), Place(target_role, target)))
    return {role: host.given for role, host in hosts.items()}


def test_the_host_that_the_payload_goes_to_has_its_memory_at_hand() -> None:
    command = (WARM_MEMORY, "/s", str(MIB))
    assert commands("write") == {Role.CLIENT: [], Role.SERVER: [command]}
    assert commands("read")[Role.CLIENT] == [(WARM_MEMORY, "/c", str(MIB))]
    assert commands("read", store="disk")[Role.CLIENT]  # which reads into its RAM disk all the same
    assert commands("write", size=5 * MOST_WARMED)[Role.SERVER] == [(*command[:2], str(MOST_WARMED))]


def warm(folder: Path, name: str) -> int:
    """Run the script in a folder, as a host does."""
    words = ["/bin/sh", "-c", WARM_MEMORY, "sh", str(folder), "1000"]
    return subprocess.run(words, input=name, text=True, check=False).returncode


def test_it_leaves_nothing_behind_and_takes_nothing_that_is_there(tmp_path: Path) -> None:
    assert warm(tmp_path, "new") == 0
    assert list(tmp_path.iterdir()) == []
    own = tmp_path / "own"
    own.write_text("precious")
    (tmp_path / "link").symlink_to(own)
    for name in ("own", "link"):
        assert warm(tmp_path, name) != 0
    assert own.read_text() == "precious"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("change", [{"instance": None}, {"store": "disk"}, {"platform": "macos"}])
def test_hosts_of_their_own_and_disks_are_left_alone(change: dict[str, Any]) -> None:
    assert commands("write", **change) == {Role.CLIENT: [], Role.SERVER: []}
