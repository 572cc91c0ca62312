"""`lab export`: a run for others, without the names of whose it is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.untrusted import one_line
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import open_run, say, show_whole

if TYPE_CHECKING:
    from lab.results.public import Public

SUMMARY = "a copy of a run for others, without the names of hosts, accounts and shares"
EXAMPLES = (
    Example("lab export", "the newest run, as a folder beside you that can be given away"),
    Example("lab export demo demo-run", "the newest run of the sweep demo, as the new folder demo-run"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    options.add_run(parser)
    text = "the new folder (default: the name of the run's, with -public behind it, in the current folder)"
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help=text)
    options.add_results(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the copy, say what was replaced, and print the folder's path."""
    from lab.results.public import Public

    folder = open_run(arguments.run, arguments.results)
    shown = Public(folder)
    to = arguments.folder or Path(f"{shown.label}-public")
    shown.copy_to(to)
    _say_replaced(shown)
    show_whole(str(to))
    return 0


def _say_replaced(shown: Public) -> None:
    """Say on standard error what stands for which name: that is for the owner of the run alone."""
    if not shown.replaced:
        say("no name was found that tells whose hosts these are")
        return
    say(f"replaced {len(shown.replaced)} names; look for others before you publish:")
    for kind, name, mask in shown.replaced:
        say(f"  {one_line(name, 80)} ({kind}): {mask}")
