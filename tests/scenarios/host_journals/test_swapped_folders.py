"""An attacker swaps the lab's folder for another: the lab is safe if it enters first and looks then.

The swaps happen at every moment: the shell is stopped before each system call that could notice one.
"""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.stepper import Outcome, stepped

from lab.settings.host_journal import MAKE, READ

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stops programs by ptrace(2) of Linux")
NAME, RECORD, THEIRS = "file-share-lab", "deadbeef-000002", '{"theirs": true}'
# how the lab once entered its folder: it looked at the name four times, and entered then
BY_NAME = f"""
if [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && cd "$1"; then cat {RECORD}; fi 2>/dev/null
"""
SOON = 3  # stops: trying all would take a minute, and a look at a name and its use are close together
PUT = MAKE + f"echo ours > {RECORD}.new"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder, as /var/tmp, in which somebody has made one of the lab's name, and a link that leads to it again.

    Beside it the link: who follows it comes to a folder of ours that anybody may write into, as /tmp is root's.
    """
    everybodys = tmp_path / "everybodys"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    (everybodys / RECORD).write_text(THEIRS)
    folder = everybodys / NAME
    folder.mkdir()
    (folder / RECORD).write_text(THEIRS)
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    else:
        folder.chmod(0o777)  # only the mode shows that it is not ours
    (everybodys / "link").symlink_to(everybodys)
    return folder


def attacked(script: str, place: Path) -> list[Outcome]:
    """The outcomes of a script if a link takes the place at each stop, until a stop soon after or until the end."""
    argv = ["sh", "-c", script, "sh", str(place)]
    link = str(place.with_name("link"))
    swap = [(str(place), f"{place}.aside"), (link, str(place))]
    swap_back = [(str(place), link), (f"{place}.aside", str(place))]
    (once,) = stepped(NAME, argv, [{}])
    moments = [*range(once.stops + 1)]
    pairs = itertools.combinations(moments, 2)
    plans = [{first: swap, last: swap_back} for first, last in pairs if last - first <= SOON or last == moments[-1]]
    return [once, *stepped(NAME, argv, plans)]


def test_who_looks_at_a_name_and_enters_then_loses(place: Path) -> None:
    """The tests below prove nothing unless the attacker can win here."""
    assert any(THEIRS in outcome.printed for outcome in attacked(BY_NAME, place))


def test_no_record_is_read_from_a_folder_that_is_swapped(place: Path) -> None:
    outcomes = attacked(READ, place)
    assert len(outcomes) > 30
    assert not [outcome for outcome in outcomes if THEIRS in outcome.printed]


def test_nothing_is_written_into_one(place: Path) -> None:
    assert len(attacked(PUT, place)) > 30
    assert not [*place.parent.rglob("*.new")]


def test_the_folder_of_the_labs_own_is_entered(tmp_path: Path) -> None:
    """The tests above must not pass because everything is refused."""
    place = tmp_path / NAME
    place.mkdir(mode=0o700)
    (place / RECORD).write_text("ours\n")
    (outcome,) = stepped(NAME, ["sh", "-c", READ, "sh", str(place)], [{}])
    assert (outcome.printed, outcome.stops > 5) == ("free\nours\n", True)


def test_a_record_that_is_a_link_a_pipe_or_another_name_of_somebody_elses_file_is_none(tmp_path: Path) -> None:
    """Such a record may come from a time before the folder was closed, or from a restored backup."""
    place = tmp_path / NAME
    place.mkdir(mode=0o700)
    (place / "deadbeef-000001").write_text("ours\n")
    theirs = tmp_path / "theirs"
    theirs.write_text(THEIRS)
    (place / "deadbeef-000002").symlink_to(theirs)
    (place / "lock").symlink_to(theirs)
    os.mkfifo(place / "deadbeef-000003")
    (place / "deadbeef-000004").mkdir()
    if os.geteuid() == 0:
        os.chown(theirs, 65534, 65534)
        (place / "deadbeef-000005").hardlink_to(theirs)
    result = subprocess.run(["sh", "-c", READ, "sh", place], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "free\nours\n"
