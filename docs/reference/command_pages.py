"""The command line as a page of the reference, and as a man page."""

import argparse
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from described import table

import lab
from lab.cli.command import EXIT_CODES, Parser, sentence
from lab.cli.main import parser

ABOUT = """\
How fast does a file share move files between two machines, what limits it, and what does each setting change? lab
reaches a client and a server over SSH, changes settings on both, times transfers on the client, and puts the settings
back. The commands read the hosts from hosts.ini of the current folder, and write runs into its folder results."""
WITHOUT_LINE_BREAK = str.maketrans({"-": r"\-", "\\": r"\e", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})


class Documented(NamedTuple):
    """A command that has no commands of its own."""

    name: str
    about: str
    parser: Parser


def commands_page() -> Iterator[str]:
    """Every command of the command line."""
    yield """# Commands

`lab` and `python -m lab` are the same, unless the current folder has a `lab` of its own:
`python -P -m lab`. After `scripts/setup.sh check` it is `.venv/bin/lab`. `lab COMMAND --help` says the same as this
page; so does `man lab`.

Nothing is cut off on a terminal of 60 columns or more: a table that is too wide becomes a list, with a block for each
row. In a file or a pipe a table has at most 120 columns, and the answer 100.

An error is a line that says what failed and why, and a second one that says what to do. If a command on a host failed,
the error has its last line of output. During a run the error also names [`commands.log`](run-folder.md#commands-log),
which has more.

## A run by its name

Where a command takes a run, it is the path of its folder, or of the runs in `--results`:

| name | run |
|---|---|
| `demo` | the newest of the sweep that is called so |
| `-1`, `-2` | the newest, the one before: the first and the second line of `lab list` |
| `20261124T1` | the one whose folder alone begins so |

However it is named, a run that somebody else made is
[read as data](../explanation/safety.md#only-runs-of-this-controller).

## Exit codes
"""
    yield table(("code", "meaning"), [(f"`{code}`", meaning) for code, meaning in EXIT_CODES.items()])
    for command in documented(parser(), "lab"):
        yield f"## {command.name}\n\n{command.about}\n"
        if examples := [(f"`{line}`", meaning) for line, meaning in command.parser.examples]:
            yield table(("example", "meaning"), examples)
        if rows := [(f"`{words}`", about) for words, about in arguments(command.parser)]:
            yield table(("argument", "meaning"), rows)


def documented(parent: argparse.ArgumentParser, prefix: str) -> Iterator[Documented]:
    """Every command below ``parent``."""
    (choice,) = (action for action in parent._actions if isinstance(action, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in choice._choices_actions}
    for name, command in choice.choices.items():
        if any(isinstance(action, argparse._SubParsersAction) for action in command._actions):
            yield from documented(command, f"{prefix} {name}")
        else:
            yield Documented(f"{prefix} {name}", sentence(helps[name]), command)


def arguments(command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Each option with its value, or positional argument, and its help."""
    for action in command._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
        value = action.metavar if isinstance(action.metavar, str) else choices or action.dest.upper()
        takes = "" if action.nargs == 0 else f" {value}"
        name = ", ".join(f"{option}{takes}" for option in action.option_strings) or value
        optional = not action.option_strings and action.nargs == "?"
        yield f"[{name}]" if optional else name, (action.help or "") % {"default": action.default}


def man_page() -> Iterator[str]:
    """The same in the man macros of roff, for ``man lab``."""
    root = parser()
    assert isinstance(root, Parser)
    yield f'.TH LAB 1 "" "file-share-lab {lab.__version__}" "User Commands"'
    yield ".SH NAME\nlab \\- how fast is a file share, and what holds it back?"
    yield ".SH SYNOPSIS\n.B lab\n.I COMMAND\n.RI [ ARGUMENT ]\\|.\\|.\\|."
    yield f".SH DESCRIPTION\n{_roff(ABOUT)}"
    yield from _examples(root)
    yield ".SH COMMANDS"
    for command in documented(root, "lab"):
        yield f".SS {_literally(command.name)}\n{_roff(command.about)}"
        for words, about in arguments(command.parser):
            yield f".TP\n.B {_literally(words)}\n{_roff(about)}."
        if command.parser.examples:
            yield ".PP\nExamples:"
            yield from _examples(command.parser)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield f".TP\n.B {code}\n{_roff(sentence(meaning))}"
    yield ".SH SEE ALSO\n.BR ssh (1),\n.BR iperf3 (1),\n.BR cp (1),\n.BR rsync (1)"


def _examples(command: Parser) -> Iterator[str]:
    for line, meaning in command.examples:
        yield f".TP\n.B {_literally(line)}\n{_roff(sentence(meaning))}"


def _roff(text: str) -> str:
    """A text on lines none of which begins as a request; what stands in backquotes is set as typed."""
    plain = " ".join(text.replace("`", "").split())
    lines = textwrap.wrap(plain, 100, break_on_hyphens=False)
    return "\n".join(re.sub(r"^([.'])", r"\\&\1", line.translate(WITHOUT_LINE_BREAK)) for line in lines)


def _literally(words: str) -> str:
    """Words to type, on one line."""
    return words.translate(WITHOUT_LINE_BREAK)
