"""Every command on every hostile run folder, and in a hostile current folder, runs and writes nothing elsewhere."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support import hostile_folder
from support.commands import must_end_within
from support.hostile_runs import HOSTILE, Place, hostile_run
from support.input_files import HOSTS as RIGHT
from support.input_files import SWEEP
from support.planted import assert_plain
from support.synthetic_runs import trial, write_run
from unit.cli.test_help import LEAVES

from lab.cli import main as cli

SECONDS = 900  # a read from a pipe without a writer would never end
MINE = re.sub("(?m)^host = .*", "host = 127.0.0.1\nport = 1", RIGHT)  # nothing listens there
REFUSED, READ_OR_REFUSED = (1, 2), (0, 2)
# the words of each command and its exit codes; RUN is the hostile run
COMMANDS = {
    "show RUN": READ_OR_REFUSED, "show RUN --json": READ_OR_REFUSED, "report RUN --to page": READ_OR_REFUSED,
    "report RUN": READ_OR_REFUSED, "compare RUN good": READ_OR_REFUSED, "compare good RUN": READ_OR_REFUSED,
    "plan RUN/run.json": REFUSED, "plan sweep.toml": (0, 2), "restore": REFUSED, "restore RUN": REFUSED,
    "restore RUN --trust": REFUSED, "restore RUN --trust --hosts mine.ini": REFUSED, "run --resume RUN": REFUSED,
    "run --resume RUN --trust": REFUSED, "run --resume RUN --trust --hosts mine.ini": REFUSED,
}  # fmt: skip
OUTPUT = ("results", "page", "fleets")
# further commands, with the hostile folder as the current folder; OUT is elsewhere. REACHED must succeed
REACHED = (
    "plan demo", "plan demo --hosts mine.ini", "list", "show example --full", "published RUN",
    "compare example example-delay", "export RUN --output OUT/public",
    "export RUN --to parquet --output OUT/table.parquet", "dataset add example --dataset OUT/dataset",
    "dataset show --dataset OUT/dataset", "dataset compact --dataset OUT/dataset", "completion bash",
    "contribute example --output OUT/given", "contribute --verify OUT/given", "workload record good OUT/tree.txt",
    "fleet plan fleet.toml", "host install client --print --hosts mine.ini",
)  # fmt: skip
DRAWN = ("report RUN --to OUT/report", "notebook design example --export OUT/design.html")
TRIED = (
    "measure . --time 10s", "init", "check", "check --hosts mine.ini", "run demo", "run demo --hosts mine.ini",
    "fidelity", "fidelity --hosts mine.ini", "host install", "host remove --hosts mine.ini", "history nas",
    "dataset history nas --dataset OUT/dataset", "dataset compare a b --dataset OUT/dataset",
    "fleet run fleet.toml", "fleet status fleet.toml", "fleet resume fleet.toml", "fleet stop fleet.toml",
    "notebook explore example",
)  # fmt: skip
LOCAL = (
    "local up --name NAME", "local status", "restore --hosts hosts.local.NAME.ini",
    "local exec --name NAME client -- true", "local fault --name NAME client mtu-refused",
    "local reboot --name NAME client", "local down --name NAME",
)  # fmt: skip
FLEET = 'name = "x"\nattempts = 1\n[[pairs]]\nhosts = ["mine.ini"]\n[[tasks]]\nsweep = "sweep.toml"\n'


@pytest.fixture(autouse=True)
def _in_time(empty_place: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LAB_PASSWORD", "x")
    with must_end_within(SECONDS):
        yield


def contents(folder: Path) -> dict[str, bytes | str]:
    """The contents of a folder, except folders for output; for links the path that they lead to."""
    content: dict[str, bytes | str] = {}
    for above, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(above) != folder or name not in OUTPUT]
        for path in (Path(above, name) for name in (*folders, *files)):
            target = str(path.readlink()) if path.is_symlink() else ""
            content[str(path)] = target or (path.read_bytes() if path.is_file() else "")
    return content


def sweep_text(path: Path) -> str:
    """The sweep of a run, which a person may want to plan; empty if the run has none."""
    try:
        text = json.loads((path / "run.json").read_text())["sweep_text"]
    except (ValueError, RecursionError):
        return ""
    assert isinstance(text, str)
    return text


@pytest.mark.usefixtures("empty_figures")
@pytest.mark.parametrize("spoil", HOSTILE)
def test_every_command_takes_it_for_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Place], None]
) -> None:
    (tmp_path / "users").mkdir()
    victim = tmp_path / "users" / "file"
    victim.write_text("what must not change\n")
    Path("mine.ini").write_text(MINE)
    write_run(tmp_path, [trial()]).path.rename("good")
    run = hostile_run(Path("results"), spoil, tmp_path / "bait", victim)
    Path("sweep.toml").write_text(sweep_text(run))
    before = contents(tmp_path)
    for words, codes in COMMANDS.items():
        entries = sorted(run.iterdir())
        code = cli.main([str(run) if word == "RUN" else word.replace("RUN", str(run)) for word in words.split()])
        printed = capsys.readouterr()
        assert code in codes, (words, code, printed)
        assert "Traceback" not in printed.out + printed.err, words
        assert_plain(printed.err)
        assert contents(tmp_path) == before, words
        made = {"by-hand.txt"} if words.startswith("restore ") else set()  # what could not be put back
        if words != "report RUN":
            assert {path.name for path in run.iterdir()} - made == {path.name for path in entries} - made, words


def test_there_is_bait(tmp_path: Path) -> None:
    """The folders would do harm if anybody believed them."""
    bait, victim = tmp_path / "bait", tmp_path / "users" / "file"
    paths = [hostile_run(tmp_path / "results", spoil, bait, victim) for spoil in HOSTILE]
    texts = [file.read_text() for path in paths for file in path.iterdir() if file.is_file() and not file.is_symlink()]
    assert sum(str(bait) in text for text in texts) == 2
    assert sum(entry.resolve() in (victim, victim.parent) for path in paths for entry in path.iterdir()) == 6


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Path]:
    """A hostile folder that also has files of the user; nothing in it may be run or changed."""
    bait = tmp_path / "bait"
    folder = hostile_folder.make_hostile(tmp_path / "hostile", bait)
    (folder / "mine.ini").write_text(f"{MINE}serve = lab\n")
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "fleet.toml").write_text(FLEET)
    shutil.copytree(write_run(folder / "results", [trial()]).path, folder / "good")
    before = contents(folder)
    yield folder
    assert not bait.exists(), bait.read_text()
    assert contents(folder) == before


def started(lines: Sequence[str], folder: Path, out: Path, run: Path) -> subprocess.Popen[str]:
    """Start these commands in a folder."""
    out.mkdir()
    name = f"{os.environ['LABS_OF_THIS_TEST_RUN']}-folder"
    placed = [line.replace("RUN", str(run)).replace("OUT", str(out)).replace("NAME", name) for line in lines]
    return hostile_folder.start(list(map(str.split, placed)), folder, out)


def test_every_command_takes_the_folder_that_one_stands_in_for_data(tmp_path: Path, hostile: Path) -> None:
    (run,) = (hostile / "results").iterdir()
    every = (*COMMANDS, *REACHED, *TRIED, *LOCAL)
    ended, printed = hostile_folder.ended(started(every, hostile, tmp_path / "out", run), SECONDS)
    assert "Traceback" not in printed
    assert [code for code in ended if code not in (0, 1, 2)] == []
    codes = dict(zip(every, ended, strict=True))
    assert [line for line in REACHED if codes[line] != 0] == [], printed
    assert [words for words in LEAVES if not any(line.split()[: len(words)] == [*words] for line in every)] == []


def test_figures_and_pages_are_the_same_in_every_folder(tmp_path: Path, hostile: Path) -> None:
    (run,), empty = (hostile / "results").iterdir(), tmp_path / "empty"
    empty.mkdir()
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    processes = started(DRAWN, hostile, here, run), started(DRAWN, empty, elsewhere, run)
    for ended, printed in [hostile_folder.ended(process, SECONDS) for process in processes]:
        assert ended == [0, 0], printed
    names = [path.relative_to(elsewhere) for path in elsewhere.rglob("*.*") if path.is_file()]
    assert len(names) > 15
    assert [name for name in names if (here / name).read_bytes() != (elsewhere / name).read_bytes()] == []
