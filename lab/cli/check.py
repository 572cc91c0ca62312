"""`lab check`: what both hosts are, what they can do, and what is in the way."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.wrapped import wrap
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import columns, console, say, show, show_json

SUMMARY = "look at both hosts and say what can be measured; changes nothing"
EXAMPLES = (
    Example("lab check", "the hosts of hosts.ini: what is in the way, and what to do about it"),
    Example("lab check --hosts nas.ini --jumbo", "other hosts, and whether the path between them carries jumbo frames"),
    Example("lab check --json", "the same for a program to read"),
)
LEVEL = 8  # columns of the longest
COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_hosts(parser)
    options.add_results(parser)
    options.add_json(parser)
    jumbo = "raise the MTU of both hosts for a moment, to see whether the path carries jumbo frames"
    options.add_flag(parser, "--jumbo", jumbo)
    hardware = "compare what the lab takes for granted about a Mac with what this one says; changes nothing"
    options.add_flag(parser, "--hardware", hardware)
    share = "with --hardware: write what the hosts said into a new text file, without names, to be read and sent"
    parser.add_argument("--share", type=Path, metavar="FILE", help=share)


def run(arguments: argparse.Namespace) -> int:
    """Look at both hosts; 1 if there is a problem."""
    from lab.check import doctor
    from lab.check.finding import verdict

    if arguments.share and not arguments.hardware:
        raise BadInput("--share: it is for what --hardware finds", "give both")
    results = arguments.results if arguments.jumbo else None  # for a journal meanwhile
    findings, facts = doctor.check(options.hosts_file(arguments), results, say, arguments.hardware, arguments.share)
    if arguments.json:
        show_json({"findings": [asdict(finding) for finding in findings], **facts})
    output, width = console(), columns(sys.stdout)
    for finding in findings if not arguments.json else ():
        remedy = f"  -> {finding.remedy}" if finding.remedy else ""
        text = f" {finding.subject}: {finding.message}{remedy}"
        if width:
            text = "\n".join(wrap(text, width - LEVEL, " " * (LEVEL + 1)))
        output.print(f"[{COLOURS[finding.level]}]{finding.level:{LEVEL}}[/]", end="")
        output.print(text, markup=False, highlight=False, soft_wrap=True, emoji=False)
    if not arguments.json:
        show(verdict(findings))
    return 1 if any(finding.level == "problem" for finding in findings) else 0
