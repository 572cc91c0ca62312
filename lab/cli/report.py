"""`lab report`: report.html, post.md, table.csv and figures, in the run folder or elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.cli import options
from lab.cli.browser import open_page, report_place
from lab.cli.command import Example
from lab.cli.terminal import open_run, show_whole

SUMMARY = "write report.html, post.md, table.csv and figures into the run folder"
EXAMPLES = (
    Example("lab report --open", "the newest run, and its page in the browser"),
    Example("lab report demo --to page", "the newest run of the sweep demo, into the folder page"),
    Example("lab report --no-redact", "with the names of hosts, accounts and shares as they are"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    options.add_run(parser)
    options.add_results(parser)
    text = (
        "write it there, and nothing into the run folder: for a run of somebody else, or to publish it (of an example: "
        "report-NAME in the current folder)"
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)
    options.add_no_redact(parser)
    parser.add_argument("--open", action="store_true", help="open report.html in the browser")


def run(arguments: argparse.Namespace) -> int:
    """Write the report, and print the paths of its files."""
    from lab.report import figures, run_report
    from lab.results.public import Public

    folder = open_run(arguments.run, arguments.results)
    shown = folder if arguments.no_redact else Public(folder)
    page = run_report.write(folder, arguments.to or report_place(folder), shown)
    drawings = sorted(page.parent / "figures" / f"{name}.{kind}" for name in figures.ALL for kind in ("png", "svg"))
    for path in (*drawings, page.parent / "post.md", page):
        show_whole(str(path))
    if arguments.open:
        open_page(page)
    return 0
