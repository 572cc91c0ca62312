"""`lab run`: run a sweep, or go on with one."""

import argparse
import re

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import HOSTS, console, print_answer, say, show_whole

SUMMARY = "run a sweep; the last line printed is the run folder"
EXAMPLES = (
    Example("lab run macs", "every case of the sweep, between the hosts of hosts.ini"),
    Example("lab run --resume -1", "go on with the newest run where it stopped"),
    Example("lab run demo --hosts hosts.local.ini --on-failure 3", "in the local lab; three failures in a row end it"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_hosts(parser, f"the hosts file (default: {HOSTS}, or that of the run to resume)")
    options.add_results(parser)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("sweep", type=options.sweep_file, nargs="?", metavar="SWEEP", help=options.SWEEP_HELP)
    group.add_argument("--resume", metavar="RUN", help=f"go on with an interrupted run: {options.NAMES_OF_RUNS}")
    text = "the run to resume is somebody else's, or of a lab without a register: resume it, on the hosts of --hosts"
    options.add_flag(parser, "--trust", text)
    text = "measure a block again, up to twice, where others used over half a core of a host; the first stays, as void"
    options.add_flag(parser, "--repeat-disturbed", text)
    text = "with --resume: measure failed trials again; the first attempt stays in the run, and no longer counts"
    options.add_flag(parser, "--retry-failed", text)
    text = "a device of the server that the sweep writes to, as in [share] devices; its data may be lost. Once for each"
    options.add_list(parser, "--write-to", "DEVICE", text)
    policy = "continue (the default), stop, or a number: stop after so many failed trials in a row"
    parser.add_argument("--on-failure", type=parse_policy, default=None, metavar="POLICY", help=policy)


def parse_policy(text: str) -> int | None:
    """How many failed trials in a row stop a sweep; None if failures never stop it."""
    words = {"continue": None, "stop": 1}
    if text in words:
        return words[text]
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither continue, stop, nor a number of trials from 1 on")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep, print the answer and, last, the run folder; 1 if a trial failed, is void or was not run."""
    from lab.cli.progress import shown
    from lab.local import state
    from lab.run import lifecycle

    if arguments.retry_failed and not arguments.resume:
        raise BadInput("--retry-failed: only a run that is resumed has failed trials", "give --resume RUN with it")
    with shown(console()) as display:
        supervision = lifecycle.Supervision(
            display, say, arguments.on_failure, state.is_gone, arguments.repeat_disturbed,
            retry_failed=arguments.retry_failed, write_to=tuple(arguments.write_to),
        )  # fmt: skip
        if arguments.resume:
            path, hosts = options.chosen_run(arguments.resume, arguments), options.named_hosts_file(arguments)
            folder, ending = lifecycle.resume(hosts, path, supervision, arguments.trust)
        else:
            hosts, results = options.hosts_file(arguments), arguments.results
            folder, ending = lifecycle.start(hosts, arguments.sweep, results, supervision)
    if ending.early:
        say(f"not all was measured: {ending.early}; `lab run --resume {folder.path}` goes on")
    if ending.imprecise:
        say(ending.imprecise)
    if ending.disturbed:
        say(f"disturbed: {ending.disturbed}; `lab run --resume {folder.path} --repeat-disturbed` measures that again")
    if ending.closed:
        say(f"left out: {ending.closed}; once that is done, run the sweep again")
    if ending.not_ok:
        say(f"{ending.not_ok} trials failed or are void: `lab show {folder.path} --table lost` lists them")
    if ending.to_retry:
        say(f"{ending.to_retry} failed: `lab run --resume {folder.path} --retry-failed` measures them again")
    print_answer(folder)
    show_whole(str(folder.path))
    return 1 if ending.not_ok or ending.early or ending.closed else 0
