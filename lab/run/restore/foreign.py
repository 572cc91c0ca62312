"""Runs that this controller did not begin: what restoring them would change, so that a person can judge."""

import itertools
import os
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import first_line, read_file
from lab.results.json_object import RunJson
from lab.results.run_folder import JOURNAL, RunFolder
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal, NoSeals, Record, Restored
from lab.settings.register import Register

LONGEST_JOURNAL = 64 * 1024**2
MOST_LINES = 20
LONGEST_VALUE = 60


def look(path: Path) -> list[Record]:
    """The changes that a folder's journal says are not put back. Runs and writes nothing. Raises BadInput."""
    journal = path / JOURNAL
    if not os.path.lexists(journal):
        return []
    return Journal.of(journal, read_journal(journal, LONGEST_JOURNAL), line_format()).open


def read_journal(journal: Path, most_bytes: int) -> bytes:
    """The content of a journal, an ordinary file with one name. Raises BadInput, also if there is none."""
    try:
        return read_file(journal, most_bytes, alone=True)
    except OSError as error:
        raise BadInput(f"{journal}: cannot be read: {error.strerror}") from error


def about(path: Path) -> RunJson:
    """The content of run.json; empty if there is none. Raises BadInput."""
    return RunFolder(path).run if os.path.lexists(path / "run.json") else {}


def has_journal(path: Path) -> bool:
    """Whether a folder has a journal that notes a change; a journal that only takes changes back lost its beginning.

    Raises BadInput if it cannot be read.
    """
    journal = path / JOURNAL
    if not os.path.lexists(journal):
        return False
    return any(map(_may_note_change, read_journal(journal, LONGEST_JOURNAL).split(b"\n")[:-1]))


def _may_note_change(line: bytes) -> bool:
    """Whether a line of a journal may do more than take a change back, as an unreadable line may."""
    try:
        return not isinstance(line_format().parse(NoSeals().accept(line)), Restored)
    except ValueError:
        return True


def put_aside(path: Path) -> None:
    """Rename a run's journal, which no longer counts."""
    journal = path / JOURNAL
    if os.path.lexists(journal):
        names = (journal.with_name(f"journal.aside-{number}.jsonl") for number in itertools.count(1))
        journal.rename(next(name for name in names if not os.path.lexists(name)))


def describe(records: list[Record]) -> str:
    """What restoring would change, a line for each change. Shows no command, because anybody may have written it."""
    lines = [
        f"    {first_line(record.host, LONGEST_VALUE)}: {first_line(record.name, LONGEST_VALUE)}: "
        f"from {first_line(record.new, LONGEST_VALUE)!r} to {first_line(record.old, LONGEST_VALUE)!r}"
        for record in reversed(records)
    ]
    more = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"    and {more} more"] if more > 0 else [])])


def count(records: list[Record]) -> str:
    """How many changes these are, in words."""
    return f"{len(records)} {'change' if len(records) == 1 else 'changes'}"


def refusal(path: Path, run: RunJson, records: list[Record]) -> str:
    """Why a run is not restored, what restoring would do, and what to do next."""
    named = run.get("hosts_file")
    hosts = f"the hosts of {first_line(named)!r}, a file that is not read" if isinstance(named, str) else "its hosts"
    return (
        f"{path}: not a run that this account has open, and it may be anybody's: nothing of it was done. "
        f"It would make {count(records)} on {hosts}:\n{describe(records)}\n"
        f"    if that is right: `lab restore --trust {path} --hosts FILE`; if the run is none of yours, take it out of "
        f"the folder {path.parent}"
    )


def problems_in(results: Path, register: Register, is_open: set[Path], asked: bool) -> tuple[list[str], int]:
    """What is wrong with runs in a folder that are not open in the register, and the number of all runs.

    ``is_open`` are the folders of open runs. ``asked``: the hosts' own journals were read just now.
    """
    try:
        paths = [path for path in sorted(results.iterdir()) if path.is_dir()] if results.exists() else []
    except OSError as error:
        return [f"{results.absolute()}: cannot be looked through: {error.strerror}"], 0
    runs = [path for path in paths if any(os.path.lexists(path / name) for name in ("run.json", JOURNAL))]
    others = [path for path in runs if path.resolve() not in is_open]
    return [problem for path in others if (problem := _problem(path, register, asked))], len(runs)


def _problem(path: Path, register: Register, asked: bool) -> str:
    try:
        run = about(path)
        if register.began(run):
            return ""  # the register knows whether it left changes
        if records := look(path):
            return refusal(path, run, records)
        if run.get("ended") != "interrupted" or has_journal(path) or register.was_asked(path):
            return ""
    except (BadInput, OSError) as error:
        return f"{path}: {reason_of(error)}" if str(path) not in reason_of(error) else reason_of(error)
    if asked:
        register.note_asked(path)
        return ""
    return (
        f"{path}: was interrupted and has no whole journal, so that nobody knows what it left changed: "
        f"`lab restore --hosts FILE` asks its hosts"
    )
