"""`lab restore` gives no false all-clear: with lost journals, with folders that were moved, from any folder."""

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
from lab.run.restore import put_back
from lab.settings.register import Register

pytestmark = pytest.mark.usefixtures("empty_place")
RESTORED = '{"number": 1, "event": "restored"}\n'


def cut_in_its_first_line(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def forged(path: Path) -> None:
    path.write_text(path.read_text() + RESTORED)


def link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


DAMAGES = [
    Path.unlink, lambda path: path.write_bytes(b""), lambda path: os.truncate(path, 0), link_to_nothing,
    cut_in_its_first_line, forged, lambda path: path.write_text(RESTORED),
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
    return files


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_open_run_without_its_whole_journal_is_a_problem_until_its_hosts_were_asked(
    run_lab: RunLab, world: World, asked: list[Path], damage: Callable[[Path], None], hosts: Path
) -> None:
    other = hosts_file(Path("other.ini"))
    other.write_text(other.read_text().replace("nas.example", "another.example"))
    silent = hosts_file(Path("silent.ini"))
    damage(interrupted_run(world, "mtu", hosts).journal_path)
    for argv in (["restore"], ["restore"], ["restore", "--hosts", silent]):
        world.hosts["server"].values["mtu"] = "changed"
        code, out, err = run_lab(*argv)
        assert code == 1, argv
        assert "nothing is left" not in out, argv
        assert "`lab restore --hosts FILE` asks the hosts" in err, argv
        assert "nas.example (192.0.2.2)" in err, argv
    code, out, err = run_lab("restore", "--hosts", other)
    assert (code, err) == (0, "")
    assert "skipped: this run used other hosts (client " in out
    assert "nothing is left" not in out
    code, out, err = run_lab("restore", "--hosts", hosts)
    assert (code, err) == (0, "")
    assert world.state() == untouched()
    assert "nothing is left" in run_lab("restore")[1]
    assert asked == [silent, other, hosts]


def test_a_hosts_file_is_about_its_own_runs(run_lab: RunLab, world: World, asked: list[Path]) -> None:
    """Or what was changed on other hosts would be looked for on these, and not be found there."""
    hosts, other = hosts_file(Path("hosts.ini")), hosts_file(Path("other.ini"))
    other.write_text(other.read_text().replace("nas.example", "another.example"))
    run = interrupted_run(world, "mtu", hosts)
    asked.clear()
    code, out, err = run_lab("restore", "--hosts", other)
    assert (code, err) == (0, "")
    assert f"{run.path.resolve()}: skipped: this run used other hosts" in out
    assert Register().is_open(run.text("id"))
    again = other.rename("same hosts.ini")
    again.write_text(hosts.read_text() + "# said otherwise\n")
    code, out, err = run_lab("restore", "--hosts", again)
    assert (code, err) == (0, "")
    assert not Register().is_open(run.text("id"))


@pytest.mark.parametrize("journal", [None, "", '{"number": 1, "ev', RESTORED])
def test_a_foreign_run_that_was_interrupted_without_a_whole_journal_is_a_problem_too(
    run_lab: RunLab, world: World, asked: list[Path], journal: str | None
) -> None:
    folder = write_run(Path("results"), [trial()], ended="interrupted")
    if journal is not None:
        folder.journal_path.write_text(journal)
    code, out, err = run_lab("restore")
    assert (code, out) == (1, "")
    assert f"{folder.path}: was interrupted and has no whole journal" in err
    assert run_lab("restore", "--hosts", hosts_file(Path("hosts.ini")))[0] == 0
    assert "nothing is left" in run_lab("restore")[1]


def test_an_entry_that_nobody_can_read_is_a_problem(run_lab: RunLab, world: World) -> None:
    interrupted_run(world, "mtu", hosts_file(Path("hosts.ini")))
    (entry,) = (Register().path / "open").iterdir()
    entry.write_text("{")
    code, out, err = run_lab("restore")
    assert (code, out) == (1, "")
    assert f"{entry}: not an entry of this register" in err


# --- other folders


def test_a_run_is_restored_from_any_folder(
    run_lab: RunLab, world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = interrupted_run(world, "mtu", hosts_file(Path("hosts.ini")))
    elsewhere = tmp_path / "another/checkout"
    (elsewhere / "results").mkdir(parents=True)
    path = folder.path.resolve()
    monkeypatch.chdir(elsewhere)
    assert run_lab("restore") == (0, f"{path}: 1 change put back\n", "")
    assert world.state() == untouched()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts")
def test_a_run_is_restored_by_every_name_of_its_folder(run_lab: RunLab, world: World) -> None:
    """One that is mounted elsewhere, too; or, where a Mac folds case, written in capitals: neither is a link."""
    folder = interrupted_run(world, "mtu", hosts_file(Path("hosts.ini")))
    Path("Results").mkdir()
    subprocess.run(["mount", "--bind", "results", "Results"], check=True)
    try:
        code, out, err = run_lab("restore", Path("Results") / folder.path.name)
    finally:
        subprocess.run(["umount", "Results"], check=True)
    assert (code, err) == (0, ""), out
    assert "1 change put back" in out
    assert world.state() == untouched()


def test_a_run_that_was_moved_is_restored_where_it_is_named(run_lab: RunLab, world: World) -> None:
    folder = interrupted_run(world, "mtu", hosts_file(Path("hosts.ini")))
    shutil.copytree(folder.path, "moved")
    code, _, err = run_lab("restore", "moved")
    assert (code, "moved: a copy of an open run, which is still there" in err) == (2, True)
    shutil.rmtree(folder.path)
    assert run_lab("restore", "moved") == (0, "moved: 1 change put back\n", "")
    assert world.state() == untouched()
    assert "nothing is left" in run_lab("restore")[1]
    assert "nothing is left" in run_lab("restore", "moved")[1]


def test_one_run_alone_can_be_restored(run_lab: RunLab, world: World, hosts: Path) -> None:
    first, second = (interrupted_run(world, key, hosts) for key in ("mtu", "space"))
    assert run_lab("restore", first.path)[0] == 0
    assert world.hosts["server"].values == {"mtu": "1500", "space": "changed", "mount": "absent"}
    assert Register().is_open(second.text("id"))


def test_a_folder_that_is_no_run_is_none(run_lab: RunLab) -> None:
    Path("empty").mkdir()
    assert run_lab("restore", "empty")[0] == 2
    assert run_lab("restore", "nothing")[0] == 2
