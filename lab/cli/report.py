"""`lab report`: report.html, post.md and what goes with them, or gist.md, in the run folder or elsewhere."""

import argparse
from pathlib import Path

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.redact import public_copies
from lab.cli.terminal import open_page, open_run, report_place, show_whole

SUMMARY = "write report.html, post.md, its appendix, table.csv and figures into the run folder"
FORMATS = ("post", "gist")
EXAMPLES = (
    Example("lab report --open", "the newest run, and its page in the browser"),
    Example("lab report demo --to page", "the newest run of the sweep demo, into the folder page"),
    Example("lab report --front-matter yaml", "post.md begins as Jekyll and Hugo take it"),
    Example("lab report --format gist --to .", "gist.md alone, to paste as text"),
    Example("lab report --no-redact", "with the names of hosts, accounts and shares as they are"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_run(parser)
    options.add_results(parser)
    text = "write the report there, and nothing into the run folder (default for an example: ./report-NAME)"
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)
    text = "post (default): report.html, and post.md of one page with its appendix, table.csv and figures; "
    text += "gist: gist.md alone, one file with no picture and no link to another"
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=text)
    text = "begin post.md, or gist.md, with title, date, description and tags, as generators of sites read them"
    parser.add_argument("--front-matter", choices=("yaml", "toml"), default="", help=text)
    options.add_no_redact(parser)
    options.add_flag(parser, "--open", "open report.html in the browser")


def run(arguments: argparse.Namespace) -> int:
    """Write the report, and print the paths of its files."""
    from lab.report import figures, run_report
    from lab.report.posts import APPENDIX, POST

    if arguments.open and arguments.format == "gist":
        raise BadInput("--open: --format gist writes no page", "leave one of the two out")
    folder = open_run(arguments.run, arguments.results)
    shown = folder if arguments.no_redact else public_copies([folder])[0]
    place = arguments.to or report_place(folder)
    if arguments.format == "gist":
        show_whole(str(run_report.write_gist(folder, place, shown, arguments.front_matter)))
        return 0
    page = run_report.write(folder, place, shown, arguments.front_matter)
    drawings = sorted(page.parent / "figures" / f"{name}.{kind}" for name in figures.ALL for kind in ("png", "svg"))
    for path in (*drawings, *(page.parent / name for name in (APPENDIX, POST)), page):
        show_whole(str(path))
    if arguments.open:
        open_page(page)
    return 0
