"""The live display of a run on terminals of any width, and its lines where there is no terminal."""

import io
import sys
from dataclasses import replace

import pytest
from rich.console import Console
from support.sweeps import sweep_of
from support.synthetic_runs import trial
from support.terminal import CONTROL, screen_of

from lab.base.errors import CommandError, TransferError, cause_and_remedy
from lab.cli.progress import shown
from lab.cli.terminal import console, say
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE
from lab.run.runner import Progress

SLOT = plan(sweep_of(), CATALOGUE).slots[0]
REASON = "client: mount_smbfs: server rejected the connection: Authentication error" + " and so on" * 20
MESSAGE = "client: the screen saver may start while a run measures: `caffeinate -d` keeps it from that, and more words"
TIMED_OUT = "mount_nfs: can't mount: Operation timed out"
REMEDY = "no answer: is the address right, and its firewall open"
SHOWN = (
    "block 17 of 6–60", "1059/2112 0:00:0", " gone, 0:", " left", "Authentication error",
    "MTU 1500, TCP default, smb.dialect 3.1.1, smb.signing true",
    "last trial 107.4 MB/s, median of this case 1200.0 MB/s (3 trials), link 1250.0 MB/s",
    "caffeinate -d` keeps it from that, and more words",
)  # fmt: skip


class Terminal(io.StringIO):
    """A terminal, as wide as COLUMNS says; tests/scenarios/cli/test_terminal_widths.py asks real ones."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_all_of_it_is_on_a_terminal_of_any_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    case = replace(SLOT.case, options=(("smb.dialect", "3.1.1"), ("smb.signing", "true")))
    slot, failed = replace(SLOT, block=17, case=case), trial(status="failed", reason=REASON)
    rates = (1.1e9, 1.2e9, 1.3e9), 1.25e9
    with shown(console()) as display:
        say(MESSAGE)
        display(Progress(slot, 1056, 2112, 0.0, None, 6, 60))
        display(Progress(slot, 1057, 2112, 60.0, trial(), 6, 60, *rates))
        display(Progress(slot, 1058, 2112, 61.0, failed, 6, 60, (1.1e9,), 1.25e9))
        display(Progress(slot, 1058, 2112, 62.0, None, 6, 60, *rates))
        display(Progress(slot, 1059, 2112, 62.0, trial(), 6, 60, *rates))
    lines = screen_of(CONTROL.sub("", terminal.getvalue().replace("\n", "\r\n")))
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert all(part in words for part in SHOWN)
    assert words.count("gone,") == 1  # the display is in one place, and what is printed stands above it


def lines_of(*steps: Progress, width: int = 120) -> str:
    """What a display of this width prints where there is no terminal."""
    screen = io.StringIO()
    with shown(Console(file=screen, width=width)) as display:
        for step in steps:
            display(step)
    return screen.getvalue()


def test_where_there_is_no_terminal_there_are_lines_and_nothing_else() -> None:
    assert lines_of(
        Progress(SLOT, 0, 4, 0.0, None, 2, 2),
        Progress(SLOT, 1, 4, 1.0, trial(), 2, 2, (1e8,), 1e8),
        Progress(SLOT, 2, 4, 1.0, trial(status="failed", reason="no"), 2, 2),
    ) == (
        "   1/4  block 1 of 2  smb cp write, ram, MTU 1500, TCP default                      107.4 MB/s\n"
        "   2/4  block 1 of 2  smb cp write, ram, MTU 1500, TCP default                   failed: no\n"
    )


def test_a_line_shows_what_a_reason_quotes_as_it_is() -> None:
    reason = "client: sh -c '[ -e \"$1\" ] || echo [/dev/null] [red]no'\nsecond line"
    trials = trial(), trial(status="failed", reason=reason), trial(status="failed", reason="")
    steps = [Progress(SLOT, 1, 4, 1.0, trial, 2, 9) for trial in trials]
    lines = lines_of(Progress(SLOT, 0, 4, 0.0, None, 2, 2), *steps, width=200).strip().splitlines()
    assert ["  block 1 of 2–9  " in line for line in lines] == [True] * 3
    assert lines[0].endswith("107.4 MB/s")
    assert lines[1].endswith('[ -e "$1" ] || echo [/dev/null] [red]no\' -> second line')


def test_where_only_names_move_their_rate_is_in_files_a_second() -> None:
    names = replace(SLOT.case, workload="names of tree mail, stat", size_bytes=5000, files=500)
    done = trial(size_bytes=5000, files=500, elapsed_s=0.5)
    assert lines_of(Progress(replace(SLOT, case=names), 1, 4, 1.0, done, 2, 2, (1e4,))).endswith("  1000 files/s\n")


def drawn(monkeypatch: pytest.MonkeyPatch, *steps: tuple[float, Progress], width: int = 200) -> str:
    """The display after these steps, each at its time, in seconds since it began."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, color_system=None)
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
    two = [(30.0, replace(begin, trial=trial(), done=101)), (65.0, replace(begin, trial=trial(), done=102))]
    assert "0:01:05 gone, 0:05:00 left" in drawn(monkeypatch, (5.0, begin), *two)
    later = (125.0, replace(begin, done=102))
    assert "0:02:05 gone, 0:04:00 left" in drawn(monkeypatch, (5.0, begin), *two, later)


def test_before_anything_was_measured_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch).strip() == "connecting"
    assert "MB/s" not in drawn(monkeypatch, (1.0, Progress(SLOT, 0, 4, 0.0, None, 2, 2)))


def test_the_rate_of_a_trial_that_failed_is_not_that_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Progress(SLOT, 1, 4, 0.0, trial(), 2, 2)
    assert "last trial 107.4 MB/s" in drawn(monkeypatch, (1.0, good))
    assert "last trial" not in drawn(monkeypatch, (1.0, good), (2.0, replace(good, trial=trial(status="failed"))))


def test_a_narrow_terminal_has_no_bar_but_all_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = drawn(monkeypatch, (60.0, Progress(SLOT, 1056, 2112, 60.0, None, 6, 60)), width=50)
    assert "━" not in narrow
    assert "1056/2112" in narrow


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        (
            CommandError("client", ["mount_nfs", "-o", "vers=3"], 60, TIMED_OUT, REMEDY).cause_first(),
            f"client: {TIMED_OUT} -> {REMEDY}",
        ),
        (CommandError("client", ["cp"], 1, "cp: no\ncp: really").cause_first(), "client: cp: no"),
        (TransferError("exit code 1", "look there", host="client").cause_first(), "client: exit code 1: look there"),
        ("", ""),
    ],
)
def test_the_line_of_a_failed_trial_has_its_cause_and_its_remedy(reason: str, line: str) -> None:
    assert cause_and_remedy(reason) == line
