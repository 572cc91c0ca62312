"""`lab restore`: whatever runs left changed is put back, and none of them keeps another from it."""

from pathlib import Path

import pytest
from support.memory_host import World, untouched
from support.open_runs import hosts_file, interrupted_run, run_lab
from support.synthetic_runs import trial, write_run

from lab.base import durable
from lab.local import state
from lab.settings.register import Register

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_restore_with_nothing_to_do_says_what_it_looked_through(capsys: pytest.CaptureFixture[str]) -> None:
    write_run(Path("results"), [trial()])
    code, out, err = run_lab(capsys, "restore")
    assert (code, err) == (0, "")
    assert out.startswith("nothing is left to put back: ")
    assert str(Register().path) in out
    assert f"of the 1 run in {Path.cwd()}/results none" in out


def test_restore_where_no_runs_are_says_that_it_saw_none(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run_lab(capsys, "restore")
    assert code == 0
    assert f"of the 0 runs in {Path.cwd()}/results none" in out


@pytest.mark.parametrize("there", ["a file", "a folder that cannot be read"])
def test_results_that_cannot_be_looked_through_are_no_all_clear(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    if there == "a file":
        Path("results").touch()
    else:
        monkeypatch.setattr(Path, "iterdir", lambda _: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        Path("results").mkdir()
    code, out, err = run_lab(capsys, "restore")
    assert (code, out) == (1, "")
    assert f"{Path.cwd()}/results: cannot be looked through: " in err


@pytest.mark.parametrize("damage", ["no run.json", "run.json of no hosts file"])
def test_a_run_whose_run_json_is_damaged_is_put_back_by_the_register(
    capsys: pytest.CaptureFixture[str], world: World, damage: str
) -> None:
    folder = interrupted_run(world, "space", hosts_file(Path("hosts.ini")))
    if damage == "no run.json":
        (folder.path / "run.json").unlink()
    else:
        folder.update(hosts_file=5)
    assert run_lab(capsys, "restore") == (0, f"{folder.path.resolve()}: 1 change put back\n", "")
    assert world.state() == untouched()


def test_restore_puts_back_what_every_run_left_and_can_be_repeated(
    capsys: pytest.CaptureFixture[str], world: World
) -> None:
    hosts = hosts_file(Path("hosts.ini"))
    first, second = (interrupted_run(world, key, hosts) for key in ("mtu", "space"))
    code, out, err = run_lab(capsys, "restore")
    assert (code, err) == (0, "")
    assert out == f"{second.path.resolve()}: 1 change put back\n{first.path.resolve()}: 1 change put back\n"
    assert world.state() == untouched()
    assert "nothing is left to put back" in run_lab(capsys, "restore")[1]


def test_a_run_that_cannot_be_restored_does_not_keep_the_others_from_it(
    capsys: pytest.CaptureFixture[str], world: World
) -> None:
    hosts = hosts_file(Path("hosts.ini"))
    fine = interrupted_run(world, "mtu", hosts)
    stuck = interrupted_run(world, "space", hosts)
    lost = interrupted_run(world, "mount", hosts_file(Path("gone.ini")))
    Path("gone.ini").unlink()
    world.hosts["server"].stuck_keys.add("space")
    code, out, err = run_lab(capsys, "restore")
    assert code == 1
    assert out == f"{fine.path.resolve()}: 1 change put back\n"
    assert "by hand: sudo write space 131072" in err
    assert all(f"{folder.path.resolve()}: " in err for folder in (lost, stuck))
    assert "gone.ini: no such file" in err
    assert world.hosts["server"].values["mtu"] == "1500"


def test_what_went_with_a_local_lab_is_forgotten(capsys: pytest.CaptureFixture[str], world: World) -> None:
    """Another local lab does not matter, not even where its state is damaged."""
    other = state.state_path("other")
    other.parent.mkdir(parents=True)
    other.write_text("{")
    folder = interrupted_run(world, "mtu", hosts_file(Path("gone.ini"), "default/0123"))
    Path("gone.ini").unlink()
    world.hosts["server"].values["mtu"] = "of another lab"
    code, out, _ = run_lab(capsys, "restore")
    assert (code, out) == (0, f"{folder.path.resolve()}: its changes went with the local lab that they were made on\n")
    assert world.hosts["server"].values["mtu"] == "of another lab"
    assert "nothing is left to put back" in run_lab(capsys, "restore")[1]


def test_a_run_that_is_still_running_is_left_alone(capsys: pytest.CaptureFixture[str], world: World) -> None:
    hosts = hosts_file(Path("hosts.ini"))
    running = interrupted_run(world, "mtu", hosts)
    killed = interrupted_run(world, "space", hosts)
    with durable.claimed(running.path):
        code, out, err = run_lab(capsys, "restore")
        resumed = run_lab(capsys, "run", "--resume", str(running.path))
    assert (code, out) == (1, f"{killed.path.resolve()}: 1 change put back\n")
    assert f"{running.path.resolve()}: another `lab` works on this run now" in err
    assert world.hosts["server"].values["mtu"] == "changed"
    assert resumed[0] == 2
    assert "another `lab`" in resumed[2]
