"""`lab restore`: whatever runs left changed is put back, and none of them keeps another from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.input_files import HOSTS
from support.memory_host import World, knob, lab_signals, untouched
from support.synthetic_runs import trial, write_run

from lab.base import durable
from lab.cli import main as cli
from lab.hosts import Host
from lab.local import state
from lab.results.run_folder import RunFolder
from lab.run import restore
from lab.settings.changes import Settings
from lab.settings.journal import Journal


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
    def reached(*_: Any) -> Iterator[tuple[Mapping[str, Host], dict[str, str]]]:
        yield made.hosts, {}

    monkeypatch.setattr(restore, "reached", reached)
    return made


def interrupted_run(world: World, key: str, hosts_file: str, instance: str | None = None) -> RunFolder:
    """A run that was killed after it had changed this key."""
    folder = write_run(Path("results"), [trial()], hosts_file=hosts_file, instance=instance)
    Settings(world.hosts, Journal(folder.journal_path)).apply(knob("server", key, "changed"))
    return folder


def test_restore_with_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    write_run(Path("results"), [trial()])
    assert lab(capsys, "restore") == (0, "nothing is left to put back\n", "")


@pytest.mark.parametrize("there", ["nothing", "a file", "a link to nothing"])
def test_restore_where_no_runs_are_is_no_all_clear(capsys: pytest.CaptureFixture[str], there: str) -> None:
    """In the wrong folder it sees nothing, which is not the same as nothing being left."""
    if there == "a file":
        Path("results").touch()
    elif there == "a link to nothing":
        Path("results").symlink_to("nowhere")
    code, out, err = lab(capsys, "restore")
    assert (code, out) == (2, "")
    assert f"{Path.cwd()}/results: holds no runs: " in err
    assert "where the runs were started" in err


@pytest.mark.parametrize(
    "damage", ["no run.json", "run.json of no hosts file", "a folder for a journal", "a torn journal"]
)
def test_a_damaged_run_is_named_and_keeps_no_other_from_being_put_back(
    capsys: pytest.CaptureFixture[str], world: World, damage: str
) -> None:
    Path("hosts.ini").write_text(HOSTS)
    fine = interrupted_run(world, "mtu", "hosts.ini")
    broken = interrupted_run(world, "space", "hosts.ini")
    if damage == "no run.json":
        (broken.path / "run.json").unlink()
    elif damage == "run.json of no hosts file":
        broken.update(hosts_file=5)
    elif damage == "a folder for a journal":
        broken.journal_path.unlink()
        broken.journal_path.mkdir()
    else:
        broken.journal_path.write_bytes(b"what is this\n" + broken.journal_path.read_bytes())
    code, out, err = lab(capsys, "restore")
    assert code == 1
    assert out == f"{fine.path}: 1 change put back\n"
    assert str(broken.path) in err


def test_restore_puts_back_what_every_run_left_and_can_be_repeated(
    capsys: pytest.CaptureFixture[str], world: World
) -> None:
    Path("hosts.ini").write_text(HOSTS)
    first, second = (interrupted_run(world, key, "hosts.ini") for key in ("mtu", "space"))
    code, out, err = lab(capsys, "restore")
    assert (code, err) == (0, "")
    assert out == f"{second.path}: 1 change put back\n{first.path}: 1 change put back\n"
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
    assert out == f"{fine.path}: 1 change put back\n"
    assert "by hand: sudo write space 131072" in err
    assert all(f"{folder.path}: " in err for folder in (lost, stuck))
    assert "gone.ini: no such file" in err
    assert world.hosts["server"].values["mtu"] == "1500"


def test_what_went_with_a_local_lab_is_forgotten(capsys: pytest.CaptureFixture[str], world: World) -> None:
    """Another local lab does not matter, not even where its state is damaged."""
    other = state.state_path("other")
    other.parent.mkdir(parents=True)
    other.write_text("{")
    folder = interrupted_run(world, "mtu", "gone.ini", instance="default/0123")
    world.hosts["server"].values["mtu"] = "of another lab"
    code, out, _ = lab(capsys, "restore")
    assert (code, out) == (0, f"{folder.path}: 1 changes went with the local lab that they were made on\n")
    assert world.hosts["server"].values["mtu"] == "of another lab"
    assert lab(capsys, "restore")[1] == "nothing is left to put back\n"


def test_a_run_that_is_still_running_is_left_alone(capsys: pytest.CaptureFixture[str], world: World) -> None:
    Path("hosts.ini").write_text(HOSTS)
    running = interrupted_run(world, "mtu", "hosts.ini")
    killed = interrupted_run(world, "space", "hosts.ini")
    with durable.claimed(running.path):
        code, out, err = lab(capsys, "restore")
        resumed = lab(capsys, "run", "--resume", str(running.path))
    assert (code, out) == (1, f"{killed.path}: 1 change put back\n")
    assert f"{running.path}: another `lab` works on this run now" in err
    assert world.hosts["server"].values["mtu"] == "changed"
    assert resumed[0] == 2
    assert "another `lab`" in resumed[2]
