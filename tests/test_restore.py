"""`lab restore`: whatever runs left changed is put back, and none of them keeps another from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from memory_host import World, knob, lab_signals, untouched
from synthetic import trial, write_run
from test_config import HOSTS

from lab import cli, run
from lab.hosts import Host
from lab.local import state
from lab.results import RunFolder
from lab.settings import Journal, Settings


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder to work in, no local lab, and the signals as they were."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state, "RUN", tmp_path / "no-local-lab")
    with lab_signals():
        yield


def lab(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = cli.main(argv)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """Two hosts in memory, which is what `lab restore` connects to."""
    made = World(tmp_path)

    @contextmanager
    def connected(*_: Any) -> Iterator[Mapping[str, Host]]:
        yield made.hosts

    monkeypatch.setattr(run, "connected", connected)
    return made


def interrupted_run(world: World, key: str, hosts_file: str, instance: str | None = None) -> RunFolder:
    """A run that was killed after it had changed this key."""
    folder = write_run(Path("results"), [trial()], hosts_file=hosts_file, instance=instance)
    Settings(world.hosts, Journal(folder.journal_path)).apply(knob("server", key, "changed"))
    return folder


def test_restore_with_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    write_run(Path("results"), [trial()])
    assert lab(capsys, "restore") == (0, "nothing is left to put back\n", "")


def test_restore_without_any_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab(capsys, "restore") == (0, "nothing is left to put back\n", "")


def test_restore_puts_back_what_every_run_left_and_can_be_repeated(
    capsys: pytest.CaptureFixture[str], world: World
) -> None:
    Path("hosts.ini").write_text(HOSTS)
    first, second = (interrupted_run(world, key, "hosts.ini") for key in ("mtu", "space"))
    code, out, err = lab(capsys, "restore")
    assert (code, err) == (0, "")
    assert out == f"{second.path}: 1 changes put back\n{first.path}: 1 changes put back\n"
    assert world.state() == untouched()
    assert lab(capsys, "restore") == (0, "nothing is left to put back\n", "")


def test_a_run_that_cannot_be_restored_does_not_keep_the_others_from_it(
    capsys: pytest.CaptureFixture[str], world: World
) -> None:
    Path("hosts.ini").write_text(HOSTS)
    fine = interrupted_run(world, "mtu", "hosts.ini")
    stuck = interrupted_run(world, "space", "hosts.ini")
    lost = interrupted_run(world, "mount", "gone.ini")
    world.hosts["server"].stuck_keys.add("space")
    code, out, err = lab(capsys, "restore")
    assert code == 1
    assert out == f"{fine.path}: 1 changes put back\n"
    assert "by hand: sudo write space 131072" in err
    assert all(f"{folder.path}: " in err for folder in (lost, stuck))
    assert "gone.ini: no such file" in err
    assert world.hosts["server"].values["mtu"] == "1500"


def test_what_went_with_a_local_lab_is_forgotten(capsys: pytest.CaptureFixture[str], world: World) -> None:
    folder = interrupted_run(world, "mtu", "gone.ini", instance="default/0123")
    world.hosts["server"].values["mtu"] = "of another lab"
    code, out, _ = lab(capsys, "restore")
    assert (code, out) == (0, f"{folder.path}: 1 changes put back; their local lab is gone, and they with it\n")
    assert world.hosts["server"].values["mtu"] == "of another lab"
    assert lab(capsys, "restore")[1] == "nothing is left to put back\n"
