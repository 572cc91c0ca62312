"""`lab measure`: how fast one share is from this machine, and what holds it back."""

import argparse
import time

from lab.base.errors import LabError
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import console, print_answer, say, show, show_json

SUMMARY = "how fast one share is from this machine, and what holds it back; needs no root, and no login on the server"
EXAMPLES = (
    Example("lab measure /Volumes/media", "a share that is mounted already, in a minute"),
    Example("lab measure smb://nas/media --time 30s", "a share that the lab mounts and unmounts"),
    Example("lab measure /mnt/media --server nas", "with a login on the server: its side is looked at, too"),
)

LEAST_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_results(parser)
    text = "a folder of the share, such as /Volumes/media; smb://, nfs:// or afp://; or a host that ssh knows"
    parser.add_argument("target", metavar="TARGET", help=text)
    text = "how long it may take, as 90s or 5min (default: 60 s): no block of transfers begins that would end later"
    parser.add_argument("--time", type=parse_time, default=60.0, metavar="TIME", help=text)
    text = "a login on the server, as ssh knows it: its side is looked at, too"
    parser.add_argument("--server", default="", metavar="HOST", help=text)
    text = "where the password of a URL's account comes from: prompt (the default), env:X, file:PATH or keyring:X"
    parser.add_argument("--password", default="prompt", metavar="SOURCE", help=text)
    parser.add_argument("--save", default="", metavar="NAME", help="keep it as one of a series: `lab history NAME`")
    text = "such as 'write < 80 MB/s' or 'read < 90 %%' (of the link), several joined by `or`: exit code 3 if one holds"
    parser.add_argument("--fail-if", default="", metavar="CONDITION", help=text)
    options.add_json(parser)


def parse_time(text: str) -> float:
    """Seconds, at least LEAST_S."""
    from lab.base.units import parse_seconds

    try:
        seconds = parse_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from error
    if seconds < LEAST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is too short for one transfer each way: at least {LEAST_S:g} s")
    return seconds


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print the answer; 1 if nothing could be measured, 3 if a condition holds."""
    from lab.cli.progress import shown
    from lab.measure.measure import Wish, measure
    from lab.run.lifecycle import Supervision

    conditions = []
    if arguments.fail_if:
        from lab.report.conditions import parse_conditions  # slow to import

        conditions = parse_conditions(arguments.fail_if)
    deadline = time.monotonic() + arguments.time
    wish = Wish(arguments.target, arguments.server, arguments.password, arguments.save)
    try:
        with shown(console()) as display:
            folder, ending = measure(wish, arguments.results, Supervision(display, say, deadline=deadline))
    except LabError as error:
        if arguments.json:
            message, *details = error.brief().splitlines()
            show_json({"error": message, "details": details})
        raise
    if ending.not_ok:
        say(f"{ending.not_ok} trials failed or are void: `lab show {folder.path} --table lost` lists them")
    from lab.report.conditions import exit_code, judge, speeds_of
    from lab.results import run_folder

    judgements = judge(conditions, speeds_of(run_folder.load(folder.path))) if conditions else []
    if arguments.json:
        from lab.report import terminal

        fail_if = {"fail_if": [judgement.to_json() for judgement in judgements]} if judgements else {}
        show_json({**terminal.show_json(folder), **fail_if})
    else:
        print_answer(folder)
        for judgement in judgements:
            show(judgement.sentence)
        show(str(folder.path))
    if ending.early or not any(trial.status == "ok" for trial in folder.trials()):
        return 1
    return exit_code(judgements)
