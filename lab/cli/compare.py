"""`lab compare`: the cases of runs over the cases of a first one, such as a new kernel over an old one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.redact import public_copies
from lab.cli.terminal import console, open_page, open_run, say, show, show_json, show_whole

if TYPE_CHECKING:
    from lab.results.run_folder import RunFolder

SUMMARY = "the cases of runs over those of run A, such as a new kernel over an old one, and what else differs"
EXAMPLES = (
    Example("lab compare -2 -1", "the newest run over the one before"),
    Example("lab compare results/20260101T120000Z-macs macs", "the newest run of the sweep macs over an older one"),
    Example("lab compare -3 -2 -1 --to switch", "old, new, old again: as a page with figures in the folder switch"),
    Example("lab compare -2 -1 --fail-if 'slower-than 10%'", "for a script: exit code 3 where the newest is slower"),
    Example("lab compare mac-a mac-b mac-c --over-pairs", "one sweep on three pairs of hosts: effects over the pairs"),
    Example("lab compare published storage-2011", "the newest run of the sweep storage-2011 over the tables of 2011"),
)
PUBLISHED = "published"
PLACE = Path("comparison")  # the folder of the page if --open is given without --to


class _Comparison(NamedTuple):
    """A comparison as JSON, sentences, tables and a page; and ``slower-than``: percent, exit code and sentences."""

    to_json: Callable[[], dict[str, object]]
    answer: Callable[[], Iterable[str]]
    tables: Callable[[], Iterable[object]]
    write: Callable[[Path], list[Path]]
    condition: tuple[float, int, Sequence[str]] | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = f"the one before: {options.NAMES_OF_RUNS}; or published: the tables of 2011 to 2015"
    parser.add_argument("a", metavar="A", help=text)
    parser.add_argument("b", metavar="B", help="the one after, named so too")
    parser.add_argument("more", nargs="*", default=[], metavar="C", help="more runs, each compared with A")
    text = "the runs are of one sweep on several pairs of hosts: effects and speeds over pairs, how far pairs differ"
    options.add_flag(parser, "--over-pairs", f"{text}, and what cannot be told from the pair")
    options.add_results(parser)
    text = "write compare.html, compare.md and figures into this folder, too"
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)
    options.add_no_redact(parser)
    options.add_flag(parser, "--open", f"open compare.html in the browser (in the folder {PLACE} without --to)")
    text = "'slower-than 10%%': exit code 3 if a protocol, tool and direction is slower than in A by more than that"
    parser.add_argument("--fail-if", metavar="CONDITION", help=f"{text}, beyond chance")
    text = "compare a run that is still going on, or was killed, too: by the blocks that it has"
    options.add_flag(parser, "--unfinished", text)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison, and write its page if that is wanted; the exit code of its condition."""
    from lab.report.conditions import MET
    from lab.results.run_names import paths_of_runs, sweep_of

    place: Path | None = arguments.to or (PLACE if arguments.open else None)
    compare = _over_pairs if arguments.over_pairs else _over_first
    is_no_path = arguments.a == PUBLISHED and not os.path.lexists(PUBLISHED)
    if is_no_path and PUBLISHED not in map(sweep_of, paths_of_runs(arguments.results)):
        compare = _with_published
    comparison = compare(arguments)
    percent, code, verdicts = comparison.condition or (None, 0, ())
    if arguments.json:
        met = {"slower_than_pct": percent, "met": code == MET, "why": verdicts}
        show_json(comparison.to_json() | ({} if percent is None else {"fail_if": met}))
    else:
        if place:  # the page has the tables
            for sentence in comparison.answer():
                show(sentence)
        else:
            console().print(*comparison.tables())
        for verdict in verdicts:
            show(verdict)
    if place:
        paths = comparison.write(place)
        for path in paths:
            (say if arguments.json else show_whole)(str(path))
        if arguments.open:
            open_page(paths[-1])
    return code


def _open(arguments: argparse.Namespace) -> list[RunFolder]:
    return [open_run(name, arguments.results) for name in (arguments.a, arguments.b, *arguments.more)]


def _over_first(arguments: argparse.Namespace) -> _Comparison:
    from lab.report.compared.answer import answer, judge_slower
    from lab.report.compared.as_json import comparison_json
    from lab.report.compared.comparison import Comparison, check_comparable
    from lab.report.compared.tables import comparison_tables
    from lab.report.conditions import parse_slower_than

    percent = parse_slower_than(arguments.fail_if) if arguments.fail_if is not None else None
    folders = _open(arguments)
    check_comparable(folders, with_unfinished=arguments.unfinished)
    comparison = Comparison(folders)
    condition = None if percent is None else (percent, *judge_slower(comparison, percent))

    def write(place: Path) -> list[Path]:
        from lab.report.compared.page import write_comparison

        return write_comparison(comparison if arguments.no_redact else Comparison(public_copies(folders)), place)

    tables = partial(comparison_tables, comparison)
    return _Comparison(partial(comparison_json, comparison), partial(answer, comparison), tables, write, condition)


def _over_pairs(arguments: argparse.Namespace) -> _Comparison:
    """Runs of one sweep on several pairs of hosts, none of which is the base."""
    from lab.report.compared.as_json import pairs_json
    from lab.report.compared.comparison import check_comparable
    from lab.report.compared.pairs_of_hosts import MOST_RUNS_OVER_PAIRS, PairsOfHosts, answer, confounded, identity
    from lab.report.compared.pairs_tables import pairs_tables

    if arguments.fail_if is not None:
        raise BadInput("--fail-if: not with --over-pairs: no run is the base of it", "compare two runs")
    folders = _open(arguments)
    check_comparable(folders, with_unfinished=arguments.unfinished, most=MOST_RUNS_OVER_PAIRS)
    pairs = PairsOfHosts(folders)

    def write(place: Path) -> list[Path]:
        from lab.report.compared.page import write_pairs

        identities = [identity(folder.run) for folder in folders]
        return write_pairs(pairs if arguments.no_redact else PairsOfHosts(public_copies(folders), identities), place)

    tables = partial(pairs_tables, pairs)
    return _Comparison(partial(pairs_json, pairs), lambda: [*answer(pairs), *confounded(pairs)], tables, write)


def _with_published(arguments: argparse.Namespace) -> _Comparison:
    from lab.report.compared import over_published
    from lab.report.compared.over_published import PublishedComparison

    refused = {"--fail-if": arguments.fail_if, "C": arguments.more, "--over-pairs": arguments.over_pairs}
    for name, value in refused.items():
        if value:
            why = "the published tables have no blocks, and stand beside one run"
            raise BadInput(f"{name}: not with {PUBLISHED}: {why}", f"`lab compare {PUBLISHED} RUN`")
    folder = open_run(arguments.b, arguments.results)
    comparison = PublishedComparison(folder)

    def write(place: Path) -> list[Path]:
        shown = comparison if arguments.no_redact else PublishedComparison(public_copies([folder])[0])
        return over_published.write_published(shown, place)

    to_json = partial(over_published.published_comparison_json, comparison)
    answer = partial(over_published.answer, comparison)
    return _Comparison(to_json, answer, partial(over_published.published_comparison_tables, comparison), write)
