"""Where the hosts file is written: nowhere that somebody has filled one in."""

from __future__ import annotations

from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.validation import read_text
from lab.hosts.sections import is_untouched


def check_place(path: Path) -> bool:
    """Whether the untouched template lies there, which is written over. Raises BadInput for any other file."""
    if not path.is_symlink() and not path.exists():
        if not path.parent.is_dir():
            raise BadInput(f"{path}: there is no folder {path.parent}", "make it, or give another --hosts FILE")
        return False
    if not is_untouched(read_text(path, "")):
        raise BadInput(
            f"{path}: is there already, and filled in: it is not written over",
            f"`lab check --hosts {path}` looks at it; `lab init --hosts FILE` writes another",
        )
    return True


def write(path: Path, text: str) -> None:
    """Write the file in one step. Raises BadInput as :func:`check_place`, and OSError."""
    if check_place(path):
        durable.replace(path, text.encode())
    else:
        durable.create(path, text.encode())
