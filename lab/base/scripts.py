"""Scripts for hosts: files beside the module that sends them, so that they can be read, checked and tested as such.

Perl is on every Mac so far and on nearly every Linux. For a Mac without it, each script in perl that Macs need has a
twin in Python beside it: ``noise.pl`` and ``noise_twin.py`` do the same with the same words. A script for a shell that
runs one says ``perl -e "$1" --``. Which of the two a host gets is decided where it is sent
(:mod:`lab.hosts.interpreter`).
"""

from __future__ import annotations

import re
from pathlib import Path

PYTHON = "<python3>"  # stands for python's path on the host; between quotes wherever a shell reads it
RUN_PERL = re.compile(r'perl -e ("\$\w+") --')


class Script(str):
    """A script, or a word of a command, for a host with perl. ``python`` is what stands in its place without perl."""

    python: str

    def __new__(cls, text: str, python: str) -> Script:
        """Both texts must do the same."""
        script = super().__new__(cls, text)
        script.python = python
        return script

    def __add__(self, other: str) -> Script:
        return Script(str(self) + str(other), self.python + in_python(other))

    def __radd__(self, other: str) -> Script:
        return Script(str(other) + str(self), in_python(other) + self.python)


def in_python(text: str) -> str:
    """What to send in place of a text where there is no perl: mostly itself."""
    return text.python if isinstance(text, Script) else text


def read_script(module: str, name: str) -> str:
    """The text of the script ``name`` beside a module (``__file__``), without the lines that are comments only.

    A host gets it in an argument list, where comments are only weight. It is a :class:`Script` where it has a twin, or
    runs one that has.
    """
    file = Path(module).with_name(name)
    text, twin = _read(file), file.with_name(f"{file.stem}_twin.py")
    if file.suffix == ".pl" and twin.exists():
        return Script(text, _read(twin))
    return Script(text, RUN_PERL.sub(rf"'{PYTHON}' -IBS -c \1", text)) if RUN_PERL.search(text) else text


def _read(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("#"))
