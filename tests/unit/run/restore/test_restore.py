"""`lab restore`: whatever runs left changed is put back, and none of them keeps another from it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.input_files import HOSTS
from support.memory_host import World, untouched
from support.open_runs import RunLab, hosts_file, interrupted_run
from support.synthetic_runs import trial, write_run

from lab.base import durable
from lab.hosts.hosts_file import load_hosts
from lab.local import state
from lab.results.run_folder import RunFolder
from lab.run.restore import put_back
from lab.settings.register import OpenRun, Register, describe_hosts

pytestmark = pytest.mark.usefixtures("empty_place")
SECOND_CLIENT = "[client.2]\nhost = two.example\ndata_address = 192.0.2.12\n"


@pytest.mark.parametrize(("runs", "text"), [(0, "0 runs"), (1, "1 run")])
def test_restore_with_nothing_to_do_says_what_it_looked_through(run_lab: RunLab, runs: int, text: str) -> None:
    for _ in range(runs):
        write_run(Path("results"), [trial()])
    code, out, err = run_lab("restore")
    assert (code, err) == (0, "")
    assert out.startswith("nothing is left to put back: ")
    assert all(words in out for words in (str(Register().path), f"of the {text} in {Path.cwd()}/results none"))


@pytest.mark.parametrize("is_file", [True, False])
def test_unreadable_results_are_no_all_clear(run_lab: RunLab, monkeypatch: pytest.MonkeyPatch, is_file: bool) -> None:
    if is_file:
        Path("results").touch()
    else:
        monkeypatch.setattr(Path, "iterdir", lambda _: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        Path("results").mkdir()
    code, out, err = run_lab("restore")
    assert (code, out) == (1, "")
    assert f"{Path.cwd()}/results: cannot be looked through: " in err


@pytest.mark.parametrize(
    "damage", [lambda run: Path(run.path, "run.json").unlink(), lambda run: run.update(hosts_file=5)]
)
def test_a_run_with_a_damaged_run_json_is_put_back_by_the_register(
    run_lab: RunLab, world: World, hosts: Path, damage: Callable[[RunFolder], None]
) -> None:
    folder = interrupted_run(world, "space", hosts)
    damage(folder)
    assert run_lab("restore") == (0, f"{folder.path.resolve()}: 1 change put back\n", "")
    assert world.state() == untouched()


def test_restore_puts_back_what_every_run_left_and_can_be_repeated(run_lab: RunLab, world: World, hosts: Path) -> None:
    first, second = (interrupted_run(world, key, hosts) for key in ("mtu", "space"))
    lines = [f"{folder.path.resolve()}: 1 change put back\n" for folder in (second, first)]
    assert (run_lab("restore"), world.state()) == ((0, "".join(lines), ""), untouched())
    assert "nothing is left to put back" in run_lab("restore")[1]


def test_a_run_that_cannot_be_restored_does_not_stop_the_others(run_lab: RunLab, world: World, hosts: Path) -> None:
    fine = interrupted_run(world, "mtu", hosts)
    stuck = interrupted_run(world, "space", hosts)
    lost = interrupted_run(world, "mount", hosts_file(Path("gone.ini")))
    Path("gone.ini").unlink()
    world.hosts["server"].stuck_keys.add("space")
    code, out, err = run_lab("restore")
    assert (code, out) == (1, f"{fine.path.resolve()}: 1 change put back\n")
    by_hand = f"to put it back by hand, type what {stuck.path.resolve()}/by-hand.txt has"
    problems = (f"{lost.path.resolve()}: ", f"{stuck.path.resolve()}: ", "gone.ini: no such file", by_hand)
    assert all(words in err for words in problems)
    assert "sudo write" not in err
    assert "sudo write space 131072" in (stuck.path / "by-hand.txt").read_text()
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
    assert (resumed[0], "another `lab`" in resumed[2]) == (2, True)


@pytest.mark.parametrize(
    ("clients_of_run", "hosts", "is_about"),
    [
        (1, HOSTS + SECOND_CLIENT, True),  # a run may have used some of the clients
        (1, HOSTS, True),
        (1, HOSTS.replace("nas.example", "other.example") + SECOND_CLIENT, False),
        (2, HOSTS, False),
    ],
)
def test_an_open_run_belongs_to_a_file_that_has_all_its_hosts(clients_of_run: int, hosts: str, is_about: bool) -> None:
    path = Path("hosts.ini")
    path.write_text(HOSTS + SECOND_CLIENT)
    of_run = describe_hosts(load_hosts(path).with_clients(clients_of_run))
    run = OpenRun(
        id="0", folder="/r", hosts_file="/elsewhere", hosts_digest="", hosts=of_run, instance=None, lines=0, since=""
    )
    path.write_text(hosts)
    assert put_back.is_about(run, path) is is_about
