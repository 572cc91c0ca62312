"""Files beside a module: scripts for hosts, to be checked and tested on their own, and data."""

from pathlib import Path


def beside(module: str, name: str) -> Path:
    """The path of the file ``name`` beside a module (``__file__``)."""
    return Path(module).with_name(name)


def read_script(module: str, name: str) -> str:
    """The script ``name`` beside a module (``__file__``), without comment lines, because it is sent as an argument."""
    lines = beside(module, name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("#"))
