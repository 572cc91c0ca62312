"""Writes the pages of the reference that follow from the code: ``generate.py [--check]``.

With ``--check`` nothing is written: exit code 1, and the difference, where a page is not what the code says.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from assumption_pages import assumptions_page
from described import keys, table
from run_folder_pages import observed_page, run_folder_page

from lab import protocols
from lab.cli.main import parser
from lab.design import sweep_file
from lab.hosts import hosts_file
from lab.protocols.options import Option

HERE = Path(__file__).parent
STAMP = "% Written by docs/reference/generate.py from the code. Change the code, then run `make docs-reference`.\n\n"


def commands_page() -> Iterator[str]:
    """Every command of the command line."""
    yield """# Commands

`lab` and `python -m lab` are the same. After `scripts/setup.sh check` it is `.venv/bin/lab`.
Exit code 0: done; 1: it ran, and something failed, or not all of it ran; 2: bad input. Runs go to `results/` of the
current folder.

All that is printed is whole on a terminal of 60 columns or more: a table that has no room there becomes a list, with a
block for each of its rows. To a file or a pipe tables go 120 columns wide, and the answer 100.

An error is a line that says what failed and why, and a second one that says what to do. Of a command on a host it has
the last line that was printed; during a run [`commands.log`](run-folder.md#commands-log) has more, and is named.
"""
    for name, about, command in _commands(parser(), "lab"):
        yield f"## {name}\n\n{about[:1].upper()}{about[1:]}.\n"
        rows = [_argument(action) for action in command._actions if not isinstance(action, argparse._HelpAction)]
        if rows:
            yield table(("argument", "meaning"), rows)


def _commands(parent: argparse.ArgumentParser, prefix: str) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Name, one-line help and parser of every command that has no commands of its own."""
    (choice,) = (action for action in parent._actions if isinstance(action, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in choice._choices_actions}
    for name, command in choice.choices.items():
        if any(isinstance(action, argparse._SubParsersAction) for action in command._actions):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", helps[name], command


def _argument(action: argparse.Action) -> tuple[str, str]:
    """An option with its value, or a positional argument, and its help."""
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
    value = action.metavar if isinstance(action.metavar, str) else choices or action.dest.upper()
    takes = "" if action.nargs == 0 else f" {value}"
    name = ", ".join(f"{option}{takes}" for option in action.option_strings) or value
    optional = not action.option_strings and action.nargs == "?"
    return f"`{f'[{name}]' if optional else name}`", (action.help or "") % {"default": action.default}


def sweep_page() -> Iterator[str]:
    """Keys of a sweep file."""
    yield """# Keys of a sweep file

A sweep is a TOML file. An unknown key is an error. `lab plan` says what it comes to.
"""
    yield "## Top level\n\n" + keys(sweep_file.Sweep, without=("workload", "factors"))
    yield "## [workload]\n\n" + keys(sweep_file.Workload)
    yield "## [factors]\n\nEach key is a list of levels. The cases are their combinations, less the impossible ones.\n"
    yield keys(sweep_file.Factors)
    yield """## Options of a mount

In `[factors]` too, by protocol: `smb.signing = [false, true]`. An option multiplies the cases of its own protocol only.
The level `"default"` is what client and server agree on by themselves. Only a Linux client that mounts by its kernel
can be told options other than `client` and `server`.
"""
    known = protocols.by_name()
    rows = [
        (f"`{protocol.name}.{name}`", _levels(option), option.about)
        for protocol in known.values()
        for name, option in protocol.options.items()
    ]
    yield table(("key", "levels", "meaning"), sorted(rows))
    yield "## Levels of server_sync\n\nWhat a server of each protocol can be told.\n"
    yield table(("protocol", "levels"), sorted((each.name, _listed(each.server_syncs)) for each in known.values()))


def _levels(option: Option) -> str:
    """The levels of an option, in the words in which it refuses others."""
    refusals = []
    for wrong in (-1, 1):
        try:
            option.level(wrong)
        except ValueError as error:
            refusals.append(str(error))
    return max(refusals, key=lambda words: "default" in words).removeprefix("is not ")


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def hosts_page() -> Iterator[str]:
    """Keys of a hosts file."""
    yield """# Keys of a hosts file

`hosts.ini`, or what `--hosts` names: sections of `key = value`. A value ends at the end of its line; a comment may
follow it after a space. An unknown key is an error. The file that comes with the lab has a comment for each key. One
in a run folder or among results is not read ([safety](../explanation/safety.md#only-runs-of-this-controller)).
"""
    yield "## [client] and [server]\n\n" + keys(hosts_file.HostConfig)
    yield "## [share]\n\n" + keys(hosts_file.ShareConfig)
    yield "## [lab]\n\nMay be left out.\n\n" + keys(hosts_file.LabConfig)


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "commands.md": commands_page,
    "sweep-file.md": sweep_page,
    "hosts-file.md": hosts_page,
    "run-folder.md": run_folder_page,
    "observed.md": observed_page,
    "assumptions.md": assumptions_page,
}


def main() -> int:
    """Write the pages, or compare them."""
    check = sys.argv[1:] == ["--check"]
    stale: list[str] = []
    for name, parts in PAGES.items():
        file, text = HERE / name, STAMP + "\n".join(parts())
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        if check and old != text:
            stale += difflib.unified_diff(old.splitlines(), text.splitlines(), f"{file}", "the code", lineterm="", n=0)
        elif not check:
            file.write_text(text, encoding="utf-8")
    if stale:
        print("\n".join([*stale, "stale pages of the reference: run `make docs-reference`"]), file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
