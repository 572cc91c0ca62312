"""The file with the commands that put back by hand what the lab could not put back, beside the journal of the run."""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.base import durable
from lab.base.secret_texts import without_secrets
from lab.base.untrusted import one_line

NAME = "by-hand.txt"
LONGEST_LINE = 1000
# By what a command says of a change that cannot be put back
REMEDIES = {
    "[Bb]usy": "a program or a session of the server has it open, or it holds a mount: end that, then `lab restore`",
    "not mounted|not connected|[Ss]tale": "mount the share again, then `lab restore`",
    "[Pp]ermission denied|not permitted|Read-only": "give this account the right to change it, then `lab restore`",
}
HEAD = "# What `lab restore` would run. Type it from top to bottom; each comment begins with the host to type it on.\n"


@dataclass(frozen=True)
class Problem:
    """Why a change is not put back, in a line that begins with its host; and the commands to type, if they may help."""

    why: str
    by_hand: str = ""


def write(journal: Path | None, problems: Sequence[Problem]) -> Path | None:
    """Write the commands to type, beside the journal or into a new folder; None without any, or if writing fails."""
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
