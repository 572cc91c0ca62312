"""Files beside a module: scripts for hosts, which can be read, checked and tested as such, and data."""

from __future__ import annotations

from pathlib import Path


def beside(module: str, name: str) -> Path:
    """The path of the file ``name`` beside a module (``__file__``)."""
    return Path(module).with_name(name)


def read_script(module: str, name: str) -> str:
    """The text of the script ``name`` beside a module (``__file__``), without the lines that are comments only.

    A host gets it in an argument list, where comments are only weight.
    """
    lines = beside(module, name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("#"))
