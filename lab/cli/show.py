"""`lab show`: the answer of a run in ten lines, or its tables."""

import argparse

from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import open_page, open_run, paged, print_answer, report_place, show_json
from lab.report import registry

SUMMARY = "the answer of a run, or its tables"
EXAMPLES = (
    Example("lab show", "the newest run in ten lines: what is fastest, what matters, what held it back"),
    Example("lab show demo --full", "all tables of the newest run of the sweep demo"),
    Example("lab show -2 --table speeds", "one table of the run before the newest"),
    Example("lab show example", "a run that comes with the lab"),
    Example("lab show --open", "the answer, and the report in the browser"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_run(parser)
    options.add_results(parser)
    group = parser.add_mutually_exclusive_group()
    options.add_flag(group, "--full", "print the tables, and the answer after them")
    tables = registry.OF_RUN
    group.add_argument("--table", choices=tables, metavar="NAME", help=f"print this table: {', '.join(tables)}")
    options.add_json(group)
    options.add_flag(parser, "--open", "write the report too, and open it in the browser")


def run(arguments: argparse.Namespace) -> int:
    folder = open_run(arguments.run, arguments.results)
    if arguments.json:
        from lab.report import terminal

        show_json(terminal.show_json(folder))
    elif arguments.full or arguments.table:
        from lab.report.analysis import Analysis
        from lab.report.terminal import terminal_tables
        from lab.results import run_folder

        analysis = Analysis(run_folder.load(folder.path))
        tables = terminal_tables(analysis, registry.FULL if arguments.full else [arguments.table])
        with paged() as screen:
            screen.print(*tables or ["nothing: the run has none"])
        if arguments.full:
            print_answer(folder, analysis)
    else:
        print_answer(folder)
    if arguments.open:
        from lab.report import run_report

        open_page(run_report.write(folder, report_place(folder)))
    return 0
