"""`lab compare`: the cases of runs over those of a first one, such as a new kernel over an old one."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.browser import open_page
from lab.cli.command import Example
from lab.cli.replaced import public_copies, public_copy
from lab.cli.terminal import console, open_run, say, show, show_whole

if TYPE_CHECKING:
    from lab.report.compared.comparison import Comparison, PairsOfHosts
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
FAILED = 3  # the exit code where a condition holds
PLACE = Path("comparison")  # of the page that --open alone asks for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    text = f"the one before: {options.NAMES_OF_RUNS}; or published: the tables of 2011 to 2015"
    parser.add_argument("a", metavar="A", help=text)
    parser.add_argument("b", metavar="B", help="the one after, named so too")
    parser.add_argument("more", nargs="*", default=[], metavar="C", help="more runs, each compared with A")
    text = (
        "the runs are of one sweep on several pairs of hosts: effects and speeds over the pairs, how far pairs differ, "
        "and what cannot be told from the pair"
    )
    parser.add_argument("--over-pairs", action="store_true", help=text)
    options.add_results(parser)
    text = "write compare.html, compare.md and figures into this folder, too"
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)
    options.add_no_redact(parser)
    text = f"open compare.html in the browser (in the folder {PLACE}, where --to names no other)"
    parser.add_argument("--open", action="store_true", help=text)
    text = (
        "'slower-than 10%%': exit code 3 where a protocol, tool and direction is slower than in A by more than that, "
        "beyond chance"
    )
    parser.add_argument("--fail-if", metavar="CONDITION", help=text)
    text = "compare a run that is still going on, or was killed, too: by the blocks that it has"
    parser.add_argument("--unfinished", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison, and write its page where that is wanted; the exit code of its condition."""
    if arguments.a == PUBLISHED and not _names_a_run(PUBLISHED, arguments.results):
        return _beside_published(arguments)
    if arguments.over_pairs:
        return _over_pairs(arguments)
    from lab.report.compared.answer import judge_slower
    from lab.report.compared.comparison import Comparison, check_comparable
    from lab.report.conditions import parse_slower_than

    percent = parse_slower_than(arguments.fail_if) if arguments.fail_if is not None else None
    folders = _open(arguments)
    check_comparable(folders, with_unfinished=arguments.unfinished)
    comparison = Comparison(folders)
    code, verdicts = judge_slower(comparison, percent) if percent is not None else (0, [])
    if arguments.json:
        fail_if = {"slower_than_pct": percent, "met": code == FAILED, "why": verdicts}
        _print_json(comparison, {} if percent is None else {"fail_if": fail_if})
    else:
        _print(comparison, verdicts, only_answer=_place(arguments) is not None)
    if place := _place(arguments):
        _write(folders, comparison, place, arguments)
    return code


def _open(arguments: argparse.Namespace) -> list[RunFolder]:
    return [open_run(name, arguments.results) for name in (arguments.a, arguments.b, *arguments.more)]


def _over_pairs(arguments: argparse.Namespace) -> int:
    """The same of one sweep on several pairs of hosts, where no run is the base."""
    from lab.report.compared.comparison import MOST_RUNS_OVER_PAIRS, PairsOfHosts, check_comparable, identity

    if arguments.fail_if is not None:
        raise BadInput("--fail-if: not with --over-pairs: no run is the base of it", "compare two runs")
    folders, place = _open(arguments), _place(arguments)
    check_comparable(folders, with_unfinished=arguments.unfinished, most=MOST_RUNS_OVER_PAIRS)
    pairs = PairsOfHosts(folders)
    if arguments.json:
        from lab.report.compared.as_json import pairs_json

        print(json.dumps(pairs_json(pairs), indent=1))
    else:
        _print_pairs(pairs, only_answer=place is not None)
    if place:
        from lab.report.compared.page import write_pairs

        identities = [identity(folder.run) for folder in folders]
        shown = pairs if arguments.no_redact else PairsOfHosts(public_copies(folders), identities)
        _show_files(write_pairs(shown, place), arguments)
    return 0


def _print_pairs(pairs: PairsOfHosts, *, only_answer: bool) -> None:
    from lab.report.compared.pairs_answer import answer, confounded
    from lab.report.compared.pairs_tables import pairs_tables

    if not only_answer:
        console().print(*pairs_tables(pairs))
        return
    for sentence in (*answer(pairs), *confounded(pairs)):
        show(sentence)


def _place(arguments: argparse.Namespace) -> Path | None:
    """The folder of the page, where one is wanted."""
    place: Path | None = arguments.to or (PLACE if arguments.open else None)
    return place


def _print_json(comparison: Comparison, more: dict[str, object]) -> None:
    from lab.report.compared.as_json import comparison_json

    print(json.dumps(comparison_json(comparison) | more, indent=1))


def _print(comparison: Comparison, verdicts: list[str], *, only_answer: bool) -> None:
    """The answer, and where no page has them the tables; then whether the condition holds."""
    from lab.report.compared.answer import answer
    from lab.report.compared.tables import comparison_tables

    if only_answer:
        for sentence in answer(comparison):
            show(sentence)
    else:
        console().print(*comparison_tables(comparison))
    for verdict in verdicts:
        show(verdict)


def _write(folders: list[RunFolder], comparison: Comparison, place: Path, arguments: argparse.Namespace) -> None:
    """Write the page, without names unless they are wanted."""
    from lab.report.compared.comparison import Comparison
    from lab.report.compared.page import write_comparison

    shown = comparison if arguments.no_redact else Comparison(public_copies(folders))
    _show_files(write_comparison(shown, place), arguments)


def _show_files(paths: list[Path], arguments: argparse.Namespace) -> None:
    """Print the paths of files, the last of which is the page, and open that where it is wanted."""
    for path in paths:
        (say if arguments.json else show_whole)(str(path))
    if arguments.open:
        open_page(paths[-1])


def _names_a_run(name: str, results: Path) -> bool:
    """Whether a run is called so: then that is meant."""
    from lab.results.run_names import paths_of_runs, sweep_of

    return os.path.lexists(name) or name in map(sweep_of, paths_of_runs(results))


def _beside_published(arguments: argparse.Namespace) -> int:
    """The same of one run over the published tables."""
    from lab.report.compared import published

    for name, is_given in (
        ("--fail-if", arguments.fail_if), ("C", arguments.more), ("--over-pairs", arguments.over_pairs),
    ):  # fmt: skip
        if is_given:
            why = "the published tables have no blocks, and stand beside one run"
            raise BadInput(f"{name}: not with {PUBLISHED}: {why}", f"`lab compare {PUBLISHED} RUN`")
    folder = open_run(arguments.b, arguments.results)
    comparison = published.PublishedComparison(folder)
    place = _place(arguments)
    if arguments.json:
        print(json.dumps(published.published_comparison_json(comparison), indent=1))
    elif place:
        for sentence in published.answer(comparison):
            show(sentence)
    else:
        console().print(*published.published_comparison_tables(comparison))
    if place:
        shown = comparison if arguments.no_redact else published.PublishedComparison(public_copy(folder))
        _show_files(published.write_published(shown, place), arguments)
    return 0
