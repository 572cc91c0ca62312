"""`lab run`: run a sweep, or go on with one."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from lab.cli.terminal import HOSTS, RESULTS, console, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("sweep", type=Path, nargs="?", metavar="SWEEP", help="a sweep file")
    what.add_argument("--resume", type=Path, metavar="RUN", help="go on with an interrupted run")
    policy = "continue (the default), stop, or a number: stop after so many failed trials in a row"
    parser.add_argument("--on-failure", type=parse_policy, default=None, metavar="POLICY", help=policy)


def parse_policy(text: str) -> int | None:
    """How many failed trials in a row stop a sweep; None where none do."""
    words = {"continue": None, "stop": 1}
    if text in words:
        return words[text]
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither continue, stop, nor a number of trials from 1 on")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Run it with live progress, and print the run folder last; 1 where a trial failed or is void."""
    from lab.run import lifecycle
    from lab.run.progress import shown

    with shown(console()) as display:
        most = arguments.on_failure
        if arguments.resume:
            folder, ending = lifecycle.resume(arguments.hosts, arguments.resume, display, say, most)
        else:
            folder, ending = lifecycle.start(arguments.hosts or HOSTS, arguments.sweep, RESULTS, display, say, most)
    if ending.early:
        say(f"{ending.early}; `lab run --resume {folder.path}` goes on")
    if ending.imprecise:
        say(ending.imprecise)
    if ending.not_ok:
        say(f"{ending.not_ok} trials failed or are void: `lab report` lists them")
    print(folder.path)
    return 1 if ending.not_ok else 0
