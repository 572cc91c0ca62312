"""Scripts for hosts: files beside the module that sends them, so that they can be read, checked and tested as such."""

from __future__ import annotations

from pathlib import Path


def read_script(module: str, name: str) -> str:
    """The text of the script ``name`` beside a module (``__file__``), without the lines that are comments only.

    A host gets it in an argument list, where comments are only weight.
    """
    lines = Path(module).with_name(name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("#"))
