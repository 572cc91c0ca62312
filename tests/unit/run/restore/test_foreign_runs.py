"""A run folder is data: what somebody else put into one runs nothing, here or on hosts."""

import json
import os
import shutil
from pathlib import Path

import pytest
from support.hostile_runs import HOSTS, attacked_run, change, change_line
from support.memory_host import World, untouched
from support.open_runs import RunLab, foreign_run, hosts_file, interrupted_run

from lab.results.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("empty_place")
TRICKS = "\x1b]52;c;aGk=\x07\x1b[2J\u202e\nlab: all is well"


@pytest.mark.parametrize("journal", [True, False])
def test_its_hosts_file_runs_nothing_on_the_controller(run_lab: RunLab, bait: Path, journal: bool) -> None:
    path = attacked_run(bait, change_line() if journal else "")
    for argv in (["restore"], ["restore", path], ["run", "--resume", path], ["restore", "--trust", path],
                 ["run", "--resume", path, "--trust"]):  # fmt: skip
        code, out, err = run_lab(*argv)
        assert (code in (1, 2), "put back" in out) == (True, False), argv
        assert (str(path) in err, str(bait) in err) == (True, False), argv


def test_a_foreign_run_is_refused_with_what_it_would_do(run_lab: RunLab, world: World) -> None:
    hosts_file(Path("hosts.ini"))
    folder = foreign_run(world, "mtu")
    changed = world.state()
    for argv in (["restore"], ["restore", folder.path]):
        code, out, err = run_lab(*argv)
        assert (code, out, "write" in err) == (1, "", False)
        assert "1 change on the hosts of 'hosts.ini', a file that is not read" in err
        assert "    server: knob mtu: from 'changed' to '1500'\n" in err
        assert f"`lab restore --trust {folder.path} --hosts FILE`" in err
    assert world.state() == changed


def test_a_foreign_run_is_put_back_once_it_is_trusted_with_hosts_of_the_users(run_lab: RunLab, world: World) -> None:
    folder = foreign_run(world, "mtu", hosts_file="/somebody/elses.ini")
    assert run_lab("restore", "--trust")[0] == 2
    code, _, err = run_lab("restore", "--trust", folder.path)
    assert (code, "name a hosts file of your own: --hosts FILE" in err) == (2, True)
    assert world.state() != untouched()
    hosts = hosts_file(Path("mine.ini"))
    code, out, err = run_lab("restore", "--trust", folder.path, "--hosts", hosts)
    assert (code, err, world.state()) == (0, "", untouched())
    assert "server: knob mtu: from 'changed' to '1500'" in out
    assert out.endswith(f"{folder.path}: 1 change put back\n")
    assert "nothing is left" in run_lab("restore")[1]


def test_a_trusted_run_whose_local_lab_is_gone_changes_nothing(run_lab: RunLab, world: World) -> None:
    folder = foreign_run(world, "mtu", instance="default/0123")
    changed = world.state()
    assert run_lab("restore")[0] == 1
    code, out, _ = run_lab("restore", "--trust", folder.path)
    assert (code, out) == (0, f"{folder.path}: its changes went with the local lab that they were made on\n")
    assert world.state() == changed
    assert [path.name for path in folder.path.glob("journal*")] == ["journal.aside-1.jsonl"]
    assert "nothing is left" in run_lab("restore")[1]


def test_what_a_foreign_run_would_do_is_shown_so_that_it_can_do_nothing(run_lab: RunLab, bait: Path) -> None:
    lines = [json.dumps(change(number)) for number in range(1, 101)]
    path = attacked_run(bait, "\n".join(lines))  # the last one without its end
    RunFolder(path).update(hosts_file=TRICKS)
    _, _, err = run_lab("restore")
    assert ("100 changes" in err, "    and 80 more\n" in err, "lab: all is well" in err) == (True, True, False)
    assert err.isascii() or not {"\x1b", "\x07", "‮"} & set(err)
    assert len(err) < 10_000


@pytest.mark.parametrize("kind", ["fifo", "device", "link", "hard link", "huge", "folder"])
@pytest.mark.parametrize("ours", [True, False])
def test_a_journal_that_is_no_file_of_its_own_is_not_read(
    run_lab: RunLab, world: World, kind: str, ours: bool, hosts: Path
) -> None:
    folder = interrupted_run(world, "mtu", hosts) if ours else foreign_run(world, "mtu")
    journal = folder.journal_path
    if kind == "hard link":
        Path("another name").hardlink_to(journal)
    else:
        journal.rename("aside")
    if kind == "fifo":
        os.mkfifo(journal)
    elif kind in ("device", "link"):
        journal.symlink_to("/dev/zero" if kind == "device" else Path("aside").resolve())
    elif kind == "huge":
        journal.touch()
        os.truncate(journal, 2**40)
    elif kind == "folder":
        journal.mkdir()
    trusting = () if ours else (["--trust", folder.path, "--hosts", hosts],)  # for our own run, asks the hosts
    for words in ([], [folder.path], *trusting):
        code, out, err = run_lab("restore", *words)
        assert (code in (1, 2), out, "journal.jsonl: " in err) == (True, "", True)
    assert world.state() != untouched()


def test_seals_of_another_run_are_none(run_lab: RunLab, world: World, hosts: Path) -> None:
    first, second = (interrupted_run(world, key, hosts) for key in ("mtu", "space"))
    second.journal_path.write_bytes(first.journal_path.read_bytes())
    code, out, err = run_lab("restore")
    assert (code, out) == (1, f"{first.path.resolve()}: 1 change put back\n")
    assert "its seal is not that of this line of this run" in err
    assert world.hosts["server"].values == {"mtu": "1500", "space": "changed", "mount": "absent"}


def test_a_run_json_of_ours_lends_its_trust_to_no_journal(
    run_lab: RunLab, world: World, bait: Path, hosts: Path
) -> None:
    """Somebody takes a run that was published, and puts changes into it."""
    ours = interrupted_run(world, "mtu", hosts)
    assert run_lab("restore")[0] == 0
    shutil.copytree(ours.path, "results/copy")
    with Path("results/copy/journal.jsonl").open("a") as file:
        file.write(change_line())
    assert "nothing is left" in run_lab("restore")[1]
    code, _, err = run_lab("run", "--resume", "results/copy")
    assert (code, "line 3 is not of a journal: it has no seal of this controller" in err) == (2, True)
    assert "--trust --hosts FILE" in err


def test_a_closed_run_that_is_opened_again_by_cutting_its_journal_is_left_alone(
    run_lab: RunLab, world: World, interrupted: RunFolder
) -> None:
    assert run_lab("restore")[0] == 0
    journal = interrupted.journal_path
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    world.hosts["server"].values["mtu"] = "4000"
    assert "nothing is left" in run_lab("restore")[1]
    assert world.hosts["server"].values["mtu"] == "4000"


def test_a_hosts_file_that_changed_since_is_named_first(run_lab: RunLab, world: World, hosts: Path) -> None:
    interrupted_run(world, "mtu", hosts)
    hosts.write_text(hosts.read_text() + "# a note\n")
    code, _, err = run_lab("restore")
    assert (code, f"{hosts.resolve()}: has changed since the run began" in err) == (1, True)
    assert world.state() != untouched()


def test_the_hosts_file_that_run_json_names_now_is_not_asked(
    run_lab: RunLab, world: World, bait: Path, interrupted: RunFolder
) -> None:
    Path("evil.ini").write_text(HOSTS.format(bait=bait))
    interrupted.update(hosts_file=str(Path("evil.ini").resolve()))
    code, _, err = run_lab("run", "--resume", interrupted.path)
    assert (code, "this account did not begin this run, or what its run.json says was changed" in err) == (2, True)
    assert (run_lab("restore")[0], world.state()) == (0, untouched())
