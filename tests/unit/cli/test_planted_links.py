"""A run folder in which somebody planted links, pipes, devices and folders: nothing beyond it is touched, all ends."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.commands import Command, Lab, must_end_within
from support.input_files import HOSTS, SWEEP
from support.synthetic_runs import trial, write_run

from lab.base import durable
from lab.base.errors import BadInput
from lab.hosts import CommandLog
from lab.platforms.linux.settings import LinuxMtu
from lab.report import figures
from lab.results.run_folder import RunFolder
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal, Record

SECONDS = 300  # a read that waits for a writer, or for the end of /dev/zero, would take for ever
TEXT, TORN = b"what must not change\n", '{"torn'
WRITTEN = ("report.html", "post.md", "post-appendix.md", "table.csv")  # by a report, beside its figures
RECORD = Record(1, "client", LinuxMtu("eth0"), "1500", "9000")
Plant = Callable[[Path, Path], object]


def make_hole(path: Path, _: Path) -> None:
    """A terabyte that takes no room, and ends as a line does."""
    with path.open("wb") as file:
        file.seek(1 << 40)
        file.write(b"\n")


PLANTS: dict[str, Plant] = {
    "hard link": lambda path, victim: path.hardlink_to(victim),
    "link": lambda path, victim: path.symlink_to(victim),
    "link to nowhere": lambda path, victim: path.symlink_to(victim.with_name("not-there")),
    "link to zeros": lambda path, _: path.symlink_to("/dev/zero"),
    "pipe": lambda path, _: os.mkfifo(path),
    "folder": lambda path, _: path.mkdir(),
    "hole": make_hole,
}


@pytest.fixture(autouse=True)
def _in_time(empty_place: None) -> Iterator[None]:
    with must_end_within(SECONDS):
        yield


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A file beyond the run folder, which stays as it is, and alone."""
    (folder := tmp_path / "victim").mkdir()
    (folder / "file").write_bytes(TEXT)
    yield folder / "file"
    assert {entry.name: entry.read_bytes() for entry in folder.iterdir()} == {"file": TEXT}


def append_after_a_torn_line(folder: RunFolder) -> None:
    folder.trials_path.write_text(TORN)
    folder.append(trial())


WRITERS: dict[str, Callable[[RunFolder], object]] = {
    "run.json": lambda folder: folder.update(ended="now"),
    "trials.jsonl": lambda folder: folder.append(trial(trial_id="new")),
    "trials.torn": append_after_a_torn_line,
    "samples.jsonl": lambda folder: folder.append_samples("new", {"x": 1}),
    "journal.jsonl": lambda folder: Journal(folder.journal_path, line_format()).intend(RECORD),
    "journal.torn": lambda folder: (folder.journal_path.write_text(TORN), Journal(folder.journal_path, line_format())),
    "commands.log": lambda folder: CommandLog(folder.commands_path).write("client", ("true",), False, "exit=0", 0.1),
}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", WRITERS)
def test_no_file_of_a_run_is_written_through_a_plant(tmp_path: Path, victim: Path, name: str, plant: str) -> None:
    folder = write_run(tmp_path / "results", [trial()])
    (folder.path / name).unlink(missing_ok=True)
    PLANTS[plant](folder.path / name, victim)
    with contextlib.suppress(OSError, BadInput):
        WRITERS[name](folder)


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", ["run.json", "trials.jsonl", "journal.jsonl", "samples.jsonl"])
def test_every_command_that_reads_a_plant_ends(lab: Lab, tmp_path: Path, victim: Path, name: str, plant: str) -> None:
    path = write_run(tmp_path / "results", [trial()], hosts_file="no.ini").path
    (path / name).unlink(missing_ok=True)
    PLANTS[plant](path / name, victim)
    copies: list[list[str | Path]] = [["export", path], ["export", path, "--to", "csv"], ["contribute", path]]
    copies += [["contribute", "--verify", path], ["dataset", "add", path]]
    commands: list[list[str | Path]] = [["restore"], ["run", "--resume", path]]
    if name == "samples.jsonl":  # which copies alone read
        commands = copies
    elif name != "journal.jsonl":  # which these do not read
        commands += [["show", path], ["compare", path, path], ["report", path], *copies]
    for argv in commands:
        code, _, error = lab(*argv)
        assert code in (0, 1, 2)
        assert len(error) < 1000
        if name in ("run.json", "trials.jsonl") and argv[0] != "restore":
            assert code == 1 if "--verify" in argv else 2


@pytest.mark.usefixtures("empty_figures")
@pytest.mark.parametrize("plant", PLANTS)
def test_a_report_replaces_links_and_does_not_follow_them(lab: Lab, tmp_path: Path, victim: Path, plant: str) -> None:
    made = write_run(tmp_path / "results", [trial()])
    (made.report_path / "figures").mkdir(parents=True)
    drawings = (f"figures/{name}.{kind}" for name in figures.ALL for kind in ("png", "svg"))
    files = {made.report_path / name for name in (*WRITTEN, *drawings)}
    assert len(files) >= 15
    for path in files:
        PLANTS[plant](path, victim)
    code, _, error = lab("report", made.path)
    if plant == "folder":
        assert (code, "report/figures/" in error) == (1, True)
    else:
        assert (code, error[:9]) == (0, "replaced ")
        assert {path for path in made.report_path.rglob("*") if not path.is_dir()} == files
        assert all(stat.S_ISREG(path.lstat().st_mode) and path.stat().st_nlink == 1 for path in files)


@pytest.mark.usefixtures("empty_figures")
def test_a_link_as_report_is_refused(refused: Command, done: Command, tmp_path: Path, victim: Path) -> None:
    for name in ("report", "report/figures"):
        made = write_run(tmp_path / "results", [trial()])
        (made.path / name).parent.mkdir(exist_ok=True)
        (made.path / name).symlink_to(victim.parent)
        message = f"{name}: a link, or no folder: nothing is written there\nremove it, or give --to DIR"
        assert message in refused("report", made.path)
    done("report", made.path, "--to", tmp_path / "my" / "page")
    assert {path.name for path in (tmp_path / "my" / "page").iterdir()} == {*WRITTEN, "figures"}


def test_a_run_is_not_readable_for_others_and_what_is_written_is_as_open_as_its_folder(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        folder = write_run(tmp_path / "results", [trial()])
        assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.path.iterdir()} == {0o600}
        folder.path.chmod(0o777)
        durable.append_line(folder.samples_path, "x")
        with durable.Folder.at(folder.path) as place, place.enter("report") as report:
            report.replace("page", b"x")
        written = (folder.samples_path, folder.path / "report", folder.path / "report" / "page")
        assert [stat.S_IMODE(path.stat().st_mode) for path in written] == [0o644, 0o755, 0o644]
    finally:
        os.umask(old)


def test_a_file_of_another_user_is_not_appended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(TEXT)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        durable.append(path, b"more")
    assert path.read_bytes() == TEXT


@pytest.mark.parametrize("plant", [plant for plant in PLANTS if plant != "hole"])  # which is an ordinary file
def test_a_run_with_a_planted_log_is_not_resumed(refused: Command, tmp_path: Path, victim: Path, plant: str) -> None:
    made = write_run(tmp_path / "results", [trial()], hosts_file="hosts.ini", sweep_text=SWEEP)
    Path("hosts.ini").write_text(f"{HOSTS}serve = lab\n")
    PLANTS[plant](made.commands_path, victim)
    error = refused("run", "--resume", made.path, "--trust", "--hosts", "hosts.ini")
    assert "commands.log: cannot be added to" in error


def test_a_run_is_read_though_their_files_have_other_names(tmp_path: Path) -> None:
    """A copy by hard links (cp -al) is one to read, and not one to go on with."""
    made = write_run(tmp_path / "results", [trial()])
    (tmp_path / "copy").hardlink_to(made.trials_path)
    assert len(made.trials()) == 1
    with pytest.raises(OSError, match="hard links"):
        made.append(trial(trial_id="new"))
