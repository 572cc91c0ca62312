"""The file with the commands that put back by hand what the lab could not put back, beside the journal of the run."""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lab.base import durable
from lab.base.secret_texts import without_secrets
from lab.base.untrusted import one_line
from lab.settings.journal import Problem

NAME = "by-hand.txt"
LONGEST_LINE = 1000
HEAD = "# `lab restore` types this. Do so in its place on the host that each comment begins with, from top to bottom.\n"


def write(journal: Path | None, problems: Sequence[Problem]) -> Path | None:
    """Write the commands that help, beside the journal or into a new folder; None if none does, or writing fails."""
    parts = [
        f"\n# {one_line(problem.why, LONGEST_LINE)}\n{problem.by_hand}\n" for problem in problems if problem.by_hand
    ]
    if parts:
        with suppress(OSError):  # a full disk here must not replace what is to be told
            folder = journal.parent if journal else Path(tempfile.mkdtemp(prefix="file-share-lab-"))
            durable.replace(folder / NAME, without_secrets("".join([HEAD, *parts])).encode(errors="surrogateescape"))
            return folder / NAME
    return None


def remove(journal: Path | None) -> None:
    """Remove the file once everything was put back."""
    if journal:
        with suppress(OSError):
            journal.with_name(NAME).unlink()
