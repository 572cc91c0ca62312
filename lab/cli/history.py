"""`lab history`: the saved runs of one share over time, and whether it has become slower."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import console, say

if TYPE_CHECKING:
    from lab.report.history import History

SUMMARY = "the saved runs of one share over time: steps, trends, and whether the newest run is slower"
EXAMPLES = (
    Example("lab history nas", "what became of the runs that `lab measure smb://nas/media --save nas` left"),
    Example("lab history nas --plot nas.svg", "the same, and a figure"),
    Example("lab history nas --fail-if 'slower-than 10%'", "for cron: exit code 3 where the newest run is slower"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("name", metavar="NAME", help="the name that `lab measure TARGET --save NAME` gave the runs")
    text = "'slower-than 10%%': exit code 3 where the newest run is slower than before by more than that, beyond chance"
    parser.add_argument("--fail-if", metavar="CONDITION", help=text)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, too, as .svg or .png")
    options.add_results(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the history, and draw it; its exit code."""
    from lab.report.conditions import MET, parse_slower_than
    from lab.report.history import History, judge_slower
    from lab.results.saved_runs import read_saved_runs

    percent = parse_slower_than(arguments.fail_if) if arguments.fail_if is not None else None
    if arguments.plot and arguments.plot.suffix not in (".svg", ".png"):
        raise BadInput(f"--plot {arguments.plot}: ends in neither .svg nor .png")
    history = History(read_saved_runs(arguments.results, arguments.name))
    for message in history.saved.unreadable:
        say(f"not counted: {message}")
    if arguments.json:
        from lab.report.history_json import history_json

        print(json.dumps(history_json(history, percent), indent=1))
    else:
        _print(history, percent)
    if arguments.plot:
        _draw(history, arguments.plot)
    return MET if percent is not None and judge_slower(history, percent)[0] else 0


def _print(history: History, percent: float | None) -> None:
    """The answer first, then tables, then what has to be known of both."""
    from lab.report.document import on_screen
    from lab.report.history import answer, judge_slower, notes, tables

    verdicts = judge_slower(history, percent)[1] if percent is not None else []
    console().print(*on_screen(answer(history), tables(history), after=[*notes(history), *verdicts]))


def _draw(history: History, path: Path) -> None:
    """Write the figure, and say where."""
    from lab.base import durable
    from lab.report.figures.files import png_of, svg_of
    from lab.report.figures.history import history as draw

    figure = draw(history)
    durable.replace(path, svg_of(figure, "history") if path.suffix == ".svg" else png_of(figure))
    say(f"drawn: {path}")
