"""`lab restore` gives no false all-clear: with lost journals, with folders that were moved, from any folder."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.memory_host import World, untouched
from support.open_runs import RunLab, hosts_file, interrupted_run
from support.synthetic_runs import trial, write_run

from lab.base.errors import HostError
from lab.results.run_folder import RunFolder
from lab.run.restore import put_back
from lab.settings.register import Register

pytestmark = pytest.mark.usefixtures("empty_place")
RESTORED = '{"number": 1, "event": "restored"}\n'


def link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


DAMAGES = [
    Path.unlink, lambda path: path.write_bytes(b""), lambda path: os.truncate(path, 0), link_to_nothing,
    lambda path: path.write_bytes(path.read_bytes()[:40]), lambda path: path.write_text(path.read_text() + RESTORED),
    lambda path: path.write_text(RESTORED),
    lambda path: path.write_bytes(b"what is this\n" + path.read_bytes()),
    lambda path: shutil.rmtree(path.parent), lambda path: path.parent.rename("moved"),
]  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, world: World) -> list[Path]:
    """The hosts files by which the hosts were asked; they have noted what was changed."""
    files: list[Path] = []

    def by_hosts(path: Path, given_up: object) -> put_back.PutBack:
        files.append(path)
        if path.name == "silent.ini":
            raise HostError("does not answer", host="server")
        for host in world.hosts.values():
            host.values |= untouched()[host.name]
        return put_back.PutBack(changes=1)

    monkeypatch.setattr(put_back, "by_hosts", by_hosts)
    monkeypatch.setattr(put_back, "has_nothing_noted", lambda *_: False)  # memory has no journals of hosts
    return files


@pytest.fixture
def other(hosts: Path) -> Path:
    """A hosts file with another server."""
    path = hosts.with_name("other.ini")
    path.write_text(hosts.read_text().replace("nas.example", "another.example"))
    return path


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_open_run_without_its_whole_journal_is_a_problem_until_its_hosts_were_asked(
    run_lab: RunLab, world: World, asked: list[Path], damage: Callable[[Path], None], hosts: Path, other: Path
) -> None:
    silent = hosts_file(Path("silent.ini"))
    damage(interrupted_run(world, "mtu", hosts).journal_path)
    for argv in (["restore"], ["restore"], ["restore", "--hosts", silent]):
        world.hosts["server"].values["mtu"] = "changed"
        code, out, err = run_lab(*argv)
        assert (code, "nothing is left" in out) == (1, False), argv
        assert "`lab restore --hosts FILE` asks the hosts" in err, argv
        assert "nas.example (192.0.2.2)" in err, argv
    code, out, err = run_lab("restore", "--hosts", other)
    assert (code, err, "nothing is left" in out) == (0, "", False)
    assert "skipped: this run used other hosts (client " in out
    code, _, err = run_lab("restore", "--hosts", hosts)
    assert (code, err, world.state()) == (0, "", untouched())
    assert "nothing is left" in run_lab("restore")[1]
    assert asked == [silent, other, hosts]


@pytest.mark.usefixtures("asked")
def test_a_hosts_file_is_about_its_own_runs(run_lab: RunLab, interrupted: RunFolder, hosts: Path, other: Path) -> None:
    """Otherwise changes on other hosts would be looked for on these, and not be found there."""
    code, out, err = run_lab("restore", "--hosts", other)
    assert (code, err, Register().is_open(interrupted.text("id"))) == (0, "", True)
    assert f"{interrupted.path.resolve()}: skipped: this run used other hosts" in out
    again = other.rename("same hosts.ini")
    again.write_text(hosts.read_text() + "# said otherwise\n")
    code, _, err = run_lab("restore", "--hosts", again)
    assert (code, err, Register().is_open(interrupted.text("id"))) == (0, "", False)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("journal", [None, "", '{"number": 1, "ev', RESTORED])
def test_a_foreign_run_without_a_whole_journal_is_a_problem_too(run_lab: RunLab, journal: str | None) -> None:
    folder = write_run(Path("results"), [trial()], ended="interrupted")
    if journal is not None:
        folder.journal_path.write_text(journal)
    code, out, err = run_lab("restore")
    assert (code, out) == (1, "")
    assert f"{folder.path}: was interrupted and has no whole journal" in err
    assert run_lab("restore", "--hosts", hosts_file(Path("hosts.ini")))[0] == 0
    assert "nothing is left" in run_lab("restore")[1]


@pytest.mark.usefixtures("interrupted")
def test_an_entry_that_nobody_can_read_is_a_problem(run_lab: RunLab) -> None:
    (entry,) = (Register().path / "open").iterdir()
    entry.write_text("{")
    code, out, err = run_lab("restore")
    assert (code, out) == (1, "")
    assert f"{entry}: not an entry of this register" in err


def test_a_run_is_restored_from_any_folder(run_lab: RunLab, world: World, interrupted: RunFolder) -> None:
    path = interrupted.path.resolve()
    Path("another/checkout/results").mkdir(parents=True)
    with contextlib.chdir("another/checkout"):
        assert run_lab("restore") == (0, f"{path}: 1 change put back\n", "")
    assert world.state() == untouched()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts")
def test_a_run_is_restored_by_every_name_of_its_folder(run_lab: RunLab, world: World, interrupted: RunFolder) -> None:
    """A name below another mount is no link, nor is a name in capitals, which a Mac takes for the same."""
    Path("Results").mkdir()
    subprocess.run(["mount", "--bind", "results", "Results"], check=True)
    try:
        code, out, err = run_lab("restore", Path("Results") / interrupted.path.name)
    finally:
        subprocess.run(["umount", "Results"], check=True)
    assert (code, err, "1 change put back" in out, world.state()) == (0, "", True, untouched()), out


def test_a_run_that_was_moved_is_restored_where_it_is_named(
    run_lab: RunLab, world: World, interrupted: RunFolder
) -> None:
    shutil.copytree(interrupted.path, "moved")
    code, _, err = run_lab("restore", "moved")
    assert (code, "moved: a copy of an open run, which is still there" in err) == (2, True)
    shutil.rmtree(interrupted.path)
    assert run_lab("restore", "moved") == (0, "moved: 1 change put back\n", "")
    assert world.state() == untouched()
    for words in ([], ["moved"]):
        assert "nothing is left" in run_lab("restore", *words)[1]


def test_one_run_alone_can_be_restored(run_lab: RunLab, world: World, hosts: Path, interrupted: RunFolder) -> None:
    second = interrupted_run(world, "space", hosts)
    assert run_lab("restore", interrupted.path)[0] == 0
    assert world.hosts["server"].values == {"mtu": "1500", "space": "changed", "mount": "absent"}
    assert Register().is_open(second.text("id"))


def test_a_folder_that_is_no_run_is_none(run_lab: RunLab) -> None:
    Path("empty").mkdir()
    assert [run_lab("restore", name)[0] for name in ("empty", "nothing")] == [2, 2]
