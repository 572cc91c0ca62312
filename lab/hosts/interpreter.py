"""Who runs the lab's scripts on a host: perl, or on a Mac without it the python3 of the Command Line Tools.

The host picks (:meth:`lab.hosts.host.Host.run`), so whoever builds a command need not know which host it is for.
Python runs isolated (``-IBS``): it loads no module of the account's, of the current folder or of the environment, and
writes none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from lab.base.scripts import PYTHON, Script, in_python, read_script

# Prints the path of that python3 on a Mac without perl. It is never one that an account can change, as Homebrew's, for
# root runs it too; nor that of /usr/bin, which without the tools opens a window that asks for them.
WHICH_PYTHON = read_script(__file__, "which_python.sh")
PLAIN_PATH = re.compile(r"/[\w./ -]+")
NO_PERL = re.compile(r"\bperl: (command )?not found|\benv: '?perl'?: No such file")
INSTALL_PYTHON = "`xcode-select --install` there: with the Command Line Tools comes a python3, which stands in for perl"


class _Words(str):
    """A word of a command, in whose place ``python`` stands where there is no perl."""

    python: tuple[str, ...]

    def __new__(cls, word: str, *python: str) -> _Words:
        words = super().__new__(cls, word)
        words.python = python
        return words


PERL = _Words("perl", PYTHON, "-IBS")
_TEXT, _END = _Words("-e", "-c"), _Words("--")


def run_script(text: str, *args: str) -> tuple[str, ...]:
    """The words of a command that runs a script which has a twin."""
    return (PERL, _TEXT, text, _END, *args)


def run_script_file(path: str, *args: str) -> tuple[str, ...]:
    """The words that run such a script in a file on the host."""
    return (PERL, path, *args)


def shell_function(name: str, text: str) -> str:
    """A function for a shell, which runs a script that has a twin with the words that it gets."""
    return Script(
        f'{name}() {{ perl -e {shlex.quote(text)} -- "$@"; }}\n',
        f"{name}() {{ '{PYTHON}' -IBS -c {shlex.quote(in_python(text))} \"$@\"; }}\n",
    )


def join(argv: Sequence[str]) -> str:
    """These words as a line for a shell."""
    if not has_script(argv):
        return shlex.join(argv)
    return Script(shlex.join(argv), shlex.join(part for word in argv for part in _in_python(word)))


def has_script(words: Sequence[str]) -> bool:
    """Whether these words differ between a host with perl and one with python3 in its place."""
    return any(isinstance(word, Script | _Words) for word in words)


def for_python(python: str, argv: Sequence[str], given: str) -> tuple[tuple[str, ...], str]:
    """A command and its standard input where there is no perl, but a python3 of this path."""
    words: list[str] = []
    for word in argv:
        # A plain word is data, and stays as it is even where it looks like the mark for python's path.
        words += [part.replace(PYTHON, python) for part in _in_python(word)] if has_script([word]) else [word]
    return tuple(words), given.python.replace(PYTHON, python) if isinstance(given, Script) else given


def _in_python(word: str) -> tuple[str, ...]:
    """What stands in the place of a word where there is no perl: mostly itself."""
    return word.python if isinstance(word, _Words) else (in_python(word),)


def parse_python(text: str) -> str:
    """The path in what WHICH_PYTHON printed; empty where there is perl, or neither of the two."""
    path = text.strip()
    return path if PLAIN_PATH.fullmatch(path) else ""
