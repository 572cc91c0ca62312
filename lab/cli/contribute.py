"""`lab contribute`: make a run a contribution to a collection, or verify contributions."""

import argparse
from pathlib import Path

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.redact import say_replaced
from lab.cli.terminal import open_run, say, show, show_json, show_whole
from lab.contribution.flaw import Flaw

SUMMARY = "a run without names for a collection, with what can be verified of it; --verify looks at those of others"
EXAMPLES = (
    Example("lab contribute", "the newest run, as a folder beside you that can be given to a collection"),
    Example("lab contribute demo --output ours/demo", "the newest run of the sweep demo, as the new folder ours/demo"),
    Example("lab contribute --verify theirs/*", "if what others gave adds up: exit code 1, and a list, if not"),
)
ADDS_UP = "adds up"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = f"the run (default: the newest): {options.NAMES_OF_RUNS}; with --verify contributions, also as zip files"
    parser.add_argument("runs", nargs="*", metavar="RUN", help=text)
    options.add_results(parser)
    text = "the new folder (default: the run's name with -contribution behind it, in the current folder)"
    parser.add_argument("--output", type=Path, metavar="FOLDER", help=text)
    text = "verify contributions instead: schema, SHA-256, medians, ceilings, order, times, names; runs nothing of them"
    options.add_flag(parser, "--verify", text)
    options.add_flag(parser, "--json", "with --verify: print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Write a contribution, or verify some; 1 if anything does not add up. Raises BadInput."""
    if arguments.verify:
        return _verify(arguments)
    if arguments.json:
        raise BadInput("--json: is of --verify", "give --verify, too")
    if len(arguments.runs) > 1:
        raise BadInput("a contribution is of one run", "give one; with --verify any number of folders")
    from lab.base.masking import Masker
    from lab.contribution.record import contribute
    from lab.contribution.verify import verify

    folder, masker = open_run(next(iter(arguments.runs), None), arguments.results), Masker()
    name = folder.path.name if folder.label == str(folder.path) else Path(folder.label).name
    place: Path = arguments.output or Path(f"{name}-contribution")
    contribute(folder, place, masker)
    say_replaced(masker, [folder])
    flaws = verify(place)
    for flaw in flaws:
        say(str(flaw))
    show_whole(str(place))
    if flaws:
        say("a collection will refuse it for what stands above")
    return 1 if flaws else 0


def _verify(arguments: argparse.Namespace) -> int:
    """Verify the contributions, each also against the contributions before it."""
    from lab.contribution.files import opened
    from lab.contribution.verify import Collection, describe_lacking, read_records, verify

    if arguments.output or not arguments.runs:
        message = "--verify: takes folders of contributions, and writes nothing"
        raise BadInput(message, "`lab contribute --verify FOLDER`")
    collection = Collection()
    verdicts: dict[str, list[Flaw]] = {}
    lacking: dict[str, str] = {}
    for name in dict.fromkeys(arguments.runs):
        with opened(Path(name)) as (folder, flaws):
            verdicts[name] = flaws or verify(folder, collection)
            if not verdicts[name]:
                records = read_records(folder)
                collection.add(name, records)
                lacking[name] = describe_lacking(records)
    if arguments.json:
        show_json({name: [flaw.to_json() for flaw in flaws] for name, flaws in verdicts.items()})
    for name, flaws in verdicts.items() if not arguments.json else ():
        if not flaws:
            show(f"{name}: {ADDS_UP}{lacking[name]}")
            continue
        show(f"{name}: refused, {len(flaws)} {'thing does' if len(flaws) == 1 else 'things do'} not add up:")
        for flaw in flaws:
            show(f"  {flaw}")
    return 1 if any(verdicts.values()) else 0
