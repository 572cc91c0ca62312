"""The live display of a run on terminals of any width, and its lines where there is no terminal."""

import io
import sys
from dataclasses import replace

import pytest
from rich.console import Console
from support.screen import CONTROL, screen_of
from support.sweeps import sweep_of
from support.synthetic_runs import trial

from lab.cli.progress import shown
from lab.cli.terminal import console, say
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE
from lab.run.runner import Progress

SLOT = plan(sweep_of(), CATALOGUE).slots[0]
WIDTHS = (60, 80, 120, 200)
REASON = "client: mount_smbfs: server rejected the connection: Authentication error" + " and so on" * 20
MESSAGE = "client: the screen saver may start while a run measures: `caffeinate -d` keeps it from that, and more words"


class Terminal(io.StringIO):
    """A terminal, as wide as COLUMNS says; tests/scenarios/cli/test_terminal_widths.py asks real ones."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What is on it."""
        return screen_of(CONTROL.sub("", self.getvalue().replace("\n", "\r\n")))


def draw() -> None:
    """A run, in five steps."""
    case = replace(SLOT.case, options=(("smb.dialect", "3.1.1"), ("smb.signing", "true")))
    slot, failed = replace(SLOT, block=17, case=case), trial(status="failed", reason=REASON)
    with shown(console()) as display:
        say(MESSAGE)
        display(Progress(slot, 1056, 2112, 0.0, None, 6, 60))
        display(Progress(slot, 1057, 2112, 60.0, trial(), 6, 60, (1.1e9, 1.2e9, 1.3e9), 1.25e9))
        display(Progress(slot, 1058, 2112, 61.0, failed, 6, 60, (1.1e9,), 1.25e9))
        display(Progress(slot, 1058, 2112, 62.0, None, 6, 60, (1.1e9, 1.2e9, 1.3e9), 1.25e9))
        display(Progress(slot, 1059, 2112, 62.0, trial(), 6, 60, (1.1e9, 1.2e9, 1.3e9), 1.25e9))


@pytest.mark.parametrize("width", WIDTHS)
def test_all_of_it_is_on_a_terminal_of_any_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    draw()
    lines = terminal.lines()
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert "block 17 of 6–60" in words
    assert "1059/2112 0:00:0" in words
    assert " gone, 0:" in words
    assert " left" in words
    assert "MTU 1500, TCP default, smb.dialect 3.1.1, smb.signing true" in words
    assert "last trial 107.4 MB/s, median of this case 1200.0 MB/s (3 trials), link 1250.0 MB/s" in words
    assert "Authentication error" in words
    assert "caffeinate -d` keeps it from that, and more words" in words
    assert words.count("gone,") == 1  # the display is in one place, and what is printed stands above it


def test_where_there_is_no_terminal_there_are_lines_and_nothing_else() -> None:
    screen = io.StringIO()
    with shown(Console(file=screen, width=120)) as display:
        display(Progress(SLOT, 0, 4, 0.0, None, 2, 2))
        display(Progress(SLOT, 1, 4, 1.0, trial(), 2, 2, (1e8,), 1e8))
        display(Progress(SLOT, 2, 4, 1.0, trial(status="failed", reason="no"), 2, 2))
    assert screen.getvalue() == (
        "   1/4  block 1 of 2  smb cp write, ram, MTU 1500, TCP default                      107.4 MB/s\n"
        "   2/4  block 1 of 2  smb cp write, ram, MTU 1500, TCP default                   failed: no\n"
    )


def test_where_only_names_move_their_rate_is_in_files_a_second() -> None:
    names = replace(SLOT.case, workload="names of tree mail, stat", size_bytes=5000, files=500)
    screen = io.StringIO()
    with shown(Console(file=screen, width=120)) as display:
        done = trial(size_bytes=5000, files=500, elapsed_s=0.5)
        display(Progress(replace(SLOT, case=names), 1, 4, 1.0, done, 2, 2, (1e4,)))
    assert screen.getvalue().endswith("  1000 files/s\n")


def drawn(monkeypatch: pytest.MonkeyPatch, *steps: tuple[float, Progress]) -> str:
    """The display after these steps, each at its time, in seconds since it began."""
    screen = io.StringIO()
    console = Console(file=screen, width=200, color_system=None)
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    with shown(console) as display:
        for at_s, step in steps:
            monkeypatch.setattr("time.monotonic", lambda at_s=at_s: 1000.0 + at_s)
            display(step)
        screen.truncate(0)
        console.print(display)
    return screen.getvalue()


def test_the_time_left_follows_from_the_trials_so_far_of_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Progress(SLOT, 100, 112, 0.0, None, 2, 2)  # a run that is gone on with
    assert "0:00:05 gone, -:--:-- left" in drawn(monkeypatch, (5.0, begin))
    two = replace(begin, trial=trial(), done=101), replace(begin, trial=trial(), done=102)
    assert "0:01:05 gone, 0:05:00 left" in drawn(monkeypatch, (5.0, begin), (30.0, two[0]), (65.0, two[1]))
    later = replace(begin, done=102)
    assert "0:02:05 gone, 0:04:00 left" in drawn(
        monkeypatch, (5.0, begin), (30.0, two[0]), (65.0, two[1]), (125.0, later)
    )


def test_before_anything_was_measured_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch).strip() == "connecting"
    assert "MB/s" not in drawn(monkeypatch, (1.0, Progress(SLOT, 0, 4, 0.0, None, 2, 2)))


def test_the_rate_of_a_trial_that_failed_is_not_that_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Progress(SLOT, 1, 4, 0.0, trial(), 2, 2)
    assert "last trial 107.4 MB/s" in drawn(monkeypatch, (1.0, good))
    assert "last trial" not in drawn(monkeypatch, (1.0, good), (2.0, replace(good, trial=trial(status="failed"))))


def test_a_narrow_terminal_has_no_bar_but_all_numbers() -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=50, color_system=None)
    with shown(console) as display:
        display(Progress(SLOT, 1056, 2112, 60.0, None, 6, 60))
        console.print(display)
    assert "━" not in screen.getvalue()
    assert "1056/2112" in screen.getvalue()
