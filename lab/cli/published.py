"""`lab published`: what the posts of 2011 to 2015 measured, recomputed, and beside one's own run."""

import argparse

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import open_run, paged, say, show_json

SUMMARY = "what the posts of 2011 to 2015 measured, recomputed, and beside one's own run"
EXAMPLES = (
    Example("lab published", "every published figure, its change as it was printed and as it is, and the slips"),
    Example("lab published storage-2011", "beside the newest run of the sweep storage-2011"),
    Example("lab published --table zfs-3", "one published table"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = f"set the figures beside this run: {options.NAMES_OF_RUNS}"
    parser.add_argument("run", nargs="?", metavar="RUN", help=text)
    options.add_results(parser)
    parser.add_argument("--table", metavar="NAME", help="only this published table, or those that begin so: zfs-3")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the figures; 1 if the run has nothing to set beside them."""
    from lab.report.fitted_table import rich_table
    from lab.report.published import published_json, published_tables, sizes, tables_beside
    from lab.results import run_folder
    from lab.results.published import read_published
    from lab.stats import encode, provenance
    from lab.stats.recomputed import beside, recompute

    figures = read_published()
    chosen = [figure for figure in figures if figure.table.startswith(arguments.table or "")]
    if not chosen:
        names = ", ".join(dict.fromkeys(figure.table for figure in figures))
        raise BadInput(f"--table {arguments.table}: no published table", f"there are {names}")
    recomputed, own = recompute(chosen), None
    tables, notes = published_tables(recomputed), []
    if arguments.run:
        folder = open_run(arguments.run, arguments.results)  # kept, because an example's folder goes with it
        trials = encode(run_folder.load(folder.path))
        own = beside(chosen, trials)
        tables = tables_beside(recomputed, own, trials.frame.attrs.get("run", {}))
        notes = [*provenance(trials), *filter(None, [sizes(trials)])]
    if arguments.json:
        show_json(published_json(recomputed, own))
    else:
        with paged() as screen:
            for table in tables:
                screen.print(rich_table(table, notes))
    if own is not None and not any(own):
        say(f"{arguments.run}: nothing in it is what was published: a sweep such as storage-2011 or blog-2011 is")
        return 1
    return 0
