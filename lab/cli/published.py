"""`lab published`: what the posts of 2011 to 2015 measured, recomputed, and beside one's own run."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import open_run, paged, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.stats import Encoded
    from lab.stats.recomputed import Own, Recomputed

SUMMARY = "what the posts of 2011 to 2015 measured, recomputed, and beside one's own run"
EXAMPLES = (
    Example("lab published", "every published figure, its change as it was printed and as it is, and the slips"),
    Example("lab published storage-2011", "beside the newest run of the sweep storage-2011"),
    Example("lab published --table zfs-3", "one published table"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help=f"set the figures beside this run: {options.NAMES_OF_RUNS}"
    )
    options.add_results(parser)
    parser.add_argument("--table", metavar="NAME", help="only this published table, or those that begin so: zfs-3")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the figures; 1 where the run has nothing to set beside them."""
    from lab.report.published import published_json
    from lab.results import run_folder
    from lab.results.published import read_published
    from lab.stats import encode
    from lab.stats.recomputed import beside, recompute

    figures = read_published()
    chosen = [figure for figure in figures if figure.table.startswith(arguments.table or "")]
    if not chosen:
        names = ", ".join(dict.fromkeys(figure.table for figure in figures))
        raise BadInput(f"--table {arguments.table}: no published table", f"there are {names}")
    recomputed, own, trials = recompute(chosen), None, None
    if arguments.run:
        # bound to a name, for a run that comes with the lab goes with it
        folder = open_run(arguments.run, arguments.results)
        trials = encode(run_folder.load(folder.path))
        own = beside(chosen, trials)
    if arguments.json:
        print(json.dumps(published_json(recomputed, own), indent=1))
    else:
        _print(recomputed, own, trials)
    if own is not None and not any(own):
        say(f"{arguments.run}: nothing in it is what was published: a sweep such as storage-2011 or blog-2011 is")
        return 1
    return 0


def _print(recomputed: Sequence[Recomputed], own: Sequence[Own | None] | None, trials: Encoded | None) -> None:
    from lab.report.fitted_table import rich_table
    from lab.report.published import published_tables, sizes, tables_beside
    from lab.stats import provenance

    if own is None or trials is None:
        shown = [rich_table(table) for table in published_tables(recomputed)]
    else:
        where = [*provenance(trials), *filter(None, [sizes(trials)])]
        about = trials.frame.attrs.get("run", {})
        shown = [rich_table(table, where) for table in tables_beside(recomputed, own, about)]
    with paged() as screen:
        for table in shown:
            screen.print(table)
