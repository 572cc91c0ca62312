"""`lab init`: write a hosts file by six questions; then run `lab check`, and print the next commands."""

import argparse
import sys

from lab.base.errors import BadInput
from lab.cli import check, options
from lab.cli.command import Example
from lab.cli.terminal import HOSTS, RESULTS, show, show_whole

SUMMARY = "find what can be found, ask six questions, write a hosts file and check it"
EXAMPLES = (
    Example("lab init", "writes hosts.ini, and says what to type next"),
    Example("lab init --hosts nas.ini", "another file, for another pair of machines"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_hosts(parser, f"the hosts file to write (default: {HOSTS})")


def run(arguments: argparse.Namespace) -> int:
    """Ask, write, and check; the exit code is that of `lab check`."""
    path = arguments.hosts or HOSTS
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        remedy = f"type it at a terminal, or fill in the lines marked <-- of the {HOSTS} that comes with the lab"
        raise BadInput("lab init: it asks questions, and there is no terminal to ask at", remedy)

    from lab.init import hosts_file, next_step
    from lab.init.interview import interview
    from lab.init.questions import Questions
    from lab.init.surroundings import look_around

    hosts_file.check_place(path)
    answers = interview(Questions(input, show), look_around(show))
    hosts_file.write(path, answers)
    show("")
    show(f"{path} is written; `lab check` looks at these hosts now")
    code = 1
    try:
        words = {"json": False, "jumbo": False, "hardware": False, "share": None}
        code = check.run(argparse.Namespace(hosts=path, results=RESULTS, **words))
    finally:  # the file is there, even if the check failed
        show("")
        for line in next_step.describe(answers, path, problems=code != 0):
            show_whole(line)
    return code
