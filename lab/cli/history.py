"""`lab history`: the saved runs of one share over time, and whether it has become slower."""

import argparse
from pathlib import Path

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import console, say, show_json

SUMMARY = "the saved runs of one share over time: steps, trends, and whether the newest run is slower"
EXAMPLES = (
    Example("lab history nas", "what became of the runs that `lab measure smb://nas/media --save nas` left"),
    Example("lab history nas --plot nas.svg", "the same, and a figure"),
    Example("lab history nas --fail-if 'slower-than 10%'", "for cron: exit code 3 where the newest run is slower"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name that `lab measure TARGET --save NAME` gave the runs")
    text = "'slower-than 10%%': exit code 3 if the newest run is slower than before by more than that, beyond chance"
    parser.add_argument("--fail-if", metavar="CONDITION", help=text)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, too, as .svg or .png")
    options.add_results(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the history, and draw it; its exit code."""
    from lab.report.conditions import MET, parse_slower_than
    from lab.report.document import on_screen
    from lab.report.history import History, answer, judge_slower, notes, tables
    from lab.results.saved_runs import read_saved_runs

    percent = parse_slower_than(arguments.fail_if) if arguments.fail_if is not None else None
    if arguments.plot and arguments.plot.suffix not in (".svg", ".png"):
        raise BadInput(f"--plot {arguments.plot}: ends in neither .svg nor .png")
    history = History(read_saved_runs(arguments.results, arguments.name))
    for message in history.saved.unreadable:
        say(f"not counted: {message}")
    is_met, verdicts = judge_slower(history, percent) if percent is not None else (False, [])
    if arguments.json:
        from lab.report.history_json import history_json

        show_json(history_json(history, percent))
    else:
        console().print(*on_screen(answer(history), tables(history), after=[*notes(history), *verdicts]))
    if arguments.plot:
        from lab.base import durable
        from lab.report.figures.files import png_of, svg_of
        from lab.report.figures.history import draw_history

        figure = draw_history(history)
        is_svg = arguments.plot.suffix == ".svg"
        durable.replace(arguments.plot, svg_of(figure, "history") if is_svg else png_of(figure))
        say(f"drawn: {arguments.plot}")
    return MET if is_met else 0
