"""Every command on every run folder that somebody hostile hands over: nothing is run, nothing is written elsewhere."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console
from support.hostile_runs import HOSTILE, Place, hostile_run
from support.in_time import must_end_within
from support.input_files import HOSTS as RIGHT
from support.lying_host import ESCAPES, MARKUP
from support.planted import assert_plain
from support.synthetic_runs import RUN, trial, write_run
from unit.base.test_untrusted import CONTROL

from lab.cli import main as cli
from lab.local import state
from lab.report import run_report, terminal
from lab.report.page.frame import script
from lab.results import run_folder

SECONDS = 300  # a pipe that nobody writes to would take for ever
MINE = RIGHT.replace("host = mac.example", "host = 127.0.0.1\nport = 1").replace(
    "host = nas.example", "host = 127.0.0.1\nport = 1"
)  # nothing listens there
REFUSED, READ_OR_REFUSED = (1, 2), (0, 2)
# The words of each command, where RUN is the hostile run; and its exit codes
COMMANDS = {
    "show RUN": READ_OR_REFUSED, "show RUN --json": READ_OR_REFUSED, "report RUN --to page": READ_OR_REFUSED,
    "report RUN": READ_OR_REFUSED, "compare RUN good": READ_OR_REFUSED, "compare good RUN": READ_OR_REFUSED,
    "plan RUN/run.json": REFUSED, "plan sweep.toml": (0, 2), "restore": REFUSED, "restore RUN": REFUSED,
    "restore RUN --trust": REFUSED, "restore RUN --trust --hosts mine.ini": REFUSED, "run --resume RUN": REFUSED,
    "run --resume RUN --trust": REFUSED, "run --resume RUN --trust --hosts mine.ini": REFUSED,
}  # fmt: skip
OUTPUT = ("results", "page")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own_and_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state, "RUN", tmp_path / "no-local-lab")
    monkeypatch.setenv("LAB_PASSWORD", "x")
    with must_end_within(SECONDS):
        yield


def contents(folder: Path) -> dict[str, bytes | str]:
    """What stands in a folder, but for what may be written to; of links where they lead to."""
    found: dict[str, bytes | str] = {}
    for above, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(above) != folder or name not in OUTPUT]
        for path in (Path(above, name) for name in (*folders, *files)):
            found[str(path)] = (
                str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
            )
    return found


def sweep_text(path: Path) -> str:
    """The sweep of a run, which a person may want to plan; empty where none is to be had."""
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
        if words != "report RUN":
            assert sorted(run.iterdir()) == entries, words


def test_there_is_bait(tmp_path: Path) -> None:
    """The folders would do what they are meant to, if anybody believed them."""
    bait, victim = tmp_path / "bait", tmp_path / "users" / "file"
    paths = [hostile_run(tmp_path / "results", spoil, bait, victim) for spoil in HOSTILE]
    texts = [file.read_text() for path in paths for file in path.iterdir() if file.is_file() and not file.is_symlink()]
    assert sum(str(bait) in text for text in texts) == 2
    assert sum(entry.resolve() in (victim, victim.parent) for path in paths for entry in path.iterdir()) == 6


def test_a_hostile_run_is_shown_and_reported_as_text(tmp_path: Path) -> None:
    hosts = {side: facts | {"hostname": ESCAPES + MARKUP} for side, facts in RUN["hosts"].items()}
    failed = trial(trial_id="b", status="failed", elapsed_s=None, reason=f"=cmd|'/C calc'!A1 {ESCAPES}{MARKUP}")
    folder = write_run(tmp_path, [trial(), failed], hosts=hosts)
    page = run_report.write(folder).read_text()
    names = ("post.md", "post-appendix.md", "table.csv")
    post, appendix, table = ((folder.report_path / name).read_text() for name in names)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(*terminal.terminal_tables(run_folder.load(folder.path)))
    assert "<script" not in page.replace(f"<script>{script()}</script>", "", 1) + post + appendix
    for text in (page, post, appendix, console.export_text()):
        assert not CONTROL.search(text)
    assert "'=cmd" in table
    assert ",=cmd" not in table
