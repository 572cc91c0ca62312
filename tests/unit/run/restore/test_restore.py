"""`lab restore`: whatever runs left changed is put back, and none of them keeps another from it."""

from pathlib import Path

import pytest
from support.input_files import HOSTS
from support.memory_host import World, untouched
from support.open_runs import RunLab, hosts_file, interrupted_run
from support.synthetic_runs import trial, write_run

from lab.base import durable
from lab.hosts.hosts_file import load_hosts
from lab.local import state
from lab.run.restore import put_back
from lab.settings.register import OpenRun, Register, describe_hosts

pytestmark = pytest.mark.usefixtures("empty_folder")
SECOND_CLIENT = "[client.2]\nhost = two.example\ndata_address = 192.0.2.12\n"


@pytest.mark.parametrize(("runs", "said"), [(0, "0 runs"), (1, "1 run")])
def test_restore_with_nothing_to_do_says_what_it_looked_through(run_lab: RunLab, runs: int, said: str) -> None:
    for _ in range(runs):
        write_run(Path("results"), [trial()])
    code, out, err = run_lab("restore")
    assert (code, err) == (0, "")
    assert out.startswith("nothing is left to put back: ")
    assert str(Register().path) in out
    assert f"of the {said} in {Path.cwd()}/results none" in out


@pytest.mark.parametrize("there", ["a file", "a folder that cannot be read"])
def test_results_that_cannot_be_looked_through_are_no_all_clear(
    run_lab: RunLab, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    if there == "a file":
        Path("results").touch()
    else:
        monkeypatch.setattr(Path, "iterdir", lambda _: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        Path("results").mkdir()
    code, out, err = run_lab("restore")
    assert (code, out) == (1, "")
    assert f"{Path.cwd()}/results: cannot be looked through: " in err


@pytest.mark.parametrize("damage", ["no run.json", "run.json of no hosts file"])
def test_a_run_whose_run_json_is_damaged_is_put_back_by_the_register(
    run_lab: RunLab, world: World, damage: str
) -> None:
    folder = interrupted_run(world, "space", hosts_file(Path("hosts.ini")))
    if damage == "no run.json":
        (folder.path / "run.json").unlink()
    else:
        folder.update(hosts_file=5)
    assert run_lab("restore") == (0, f"{folder.path.resolve()}: 1 change put back\n", "")
    assert world.state() == untouched()


def test_restore_puts_back_what_every_run_left_and_can_be_repeated(run_lab: RunLab, world: World, hosts: Path) -> None:
    first, second = (interrupted_run(world, key, hosts) for key in ("mtu", "space"))
    code, out, err = run_lab("restore")
    assert (code, err) == (0, "")
    assert out == f"{second.path.resolve()}: 1 change put back\n{first.path.resolve()}: 1 change put back\n"
    assert world.state() == untouched()
    assert "nothing is left to put back" in run_lab("restore")[1]


def test_a_run_that_cannot_be_restored_does_not_keep_the_others_from_it(
    run_lab: RunLab, world: World, hosts: Path
) -> None:
    fine = interrupted_run(world, "mtu", hosts)
    stuck = interrupted_run(world, "space", hosts)
    lost = interrupted_run(world, "mount", hosts_file(Path("gone.ini")))
    Path("gone.ini").unlink()
    world.hosts["server"].stuck_keys.add("space")
    code, out, err = run_lab("restore")
    assert code == 1
    assert out == f"{fine.path.resolve()}: 1 change put back\n"
    assert "by hand: sudo write space 131072" in err
    assert all(f"{folder.path.resolve()}: " in err for folder in (lost, stuck))
    assert "gone.ini: no such file" in err
    assert world.hosts["server"].values["mtu"] == "1500"


def test_what_went_with_a_local_lab_is_forgotten(run_lab: RunLab, world: World) -> None:
    """Another local lab does not matter, not even where its state is damaged."""
    other = state.state_path("other")
    other.parent.mkdir(parents=True)
    other.write_text("{")
    folder = interrupted_run(world, "mtu", hosts_file(Path("gone.ini"), "default/0123"))
    Path("gone.ini").unlink()
    world.hosts["server"].values["mtu"] = "of another lab"
    code, out, _ = run_lab("restore")
    assert (code, out) == (0, f"{folder.path.resolve()}: its changes went with the local lab that they were made on\n")
    assert world.hosts["server"].values["mtu"] == "of another lab"
    assert "nothing is left to put back" in run_lab("restore")[1]


def test_a_run_that_is_still_running_is_left_alone(run_lab: RunLab, world: World, hosts: Path) -> None:
    running = interrupted_run(world, "mtu", hosts)
    killed = interrupted_run(world, "space", hosts)
    with durable.claimed(running.path):
        code, out, err = run_lab("restore")
        resumed = run_lab("run", "--resume", str(running.path))
    assert (code, out) == (1, f"{killed.path.resolve()}: 1 change put back\n")
    assert f"{running.path.resolve()}: another `lab` works on this run now" in err
    assert world.hosts["server"].values["mtu"] == "changed"
    assert resumed[0] == 2
    assert "another `lab`" in resumed[2]


@pytest.mark.parametrize(
    ("clients_of_run", "hosts", "is_about"),
    [
        (1, HOSTS + SECOND_CLIENT, True),  # a run may have used some of the clients
        (1, HOSTS, True),
        (1, HOSTS.replace("nas.example", "other.example") + SECOND_CLIENT, False),
        (2, HOSTS, False),
    ],
)
def test_an_open_run_belongs_to_a_hosts_file_that_has_all_its_hosts(
    clients_of_run: int, hosts: str, is_about: bool
) -> None:
    path = Path("hosts.ini")
    path.write_text(HOSTS + SECOND_CLIENT)
    of_run = describe_hosts(load_hosts(path).with_clients(clients_of_run))
    run = OpenRun(
        id="0", folder="/r", hosts_file="/elsewhere", hosts_digest="", hosts=of_run, instance=None, lines=0, since=""
    )
    path.write_text(hosts)
    assert put_back.is_about(run, path) is is_about
