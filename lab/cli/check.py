"""`lab check`: what both hosts are, what they can do, and what is in the way."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.wrapped import wrap
from lab.cli.terminal import HOSTS, RESULTS, columns, console, say

LEVEL = 8  # columns of the longest
COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    jumbo = "raise the MTU of both hosts for a moment, to see whether the path carries jumbo frames"
    parser.add_argument("--jumbo", action="store_true", help=jumbo)
    hardware = "compare what the lab takes for granted about a Mac with what this one says; changes nothing"
    parser.add_argument("--hardware", action="store_true", help=hardware)
    share = "with --hardware: write what the hosts said into a new text file, masked, to be read and sent"
    parser.add_argument("--share", type=Path, metavar="FILE", help=share)


def run(arguments: argparse.Namespace) -> int:
    """Look at both hosts; 1 where there is a problem."""
    from lab.check import doctor

    if arguments.share and not arguments.hardware:
        raise BadInput("--share: it is for what --hardware finds", "give both")
    findings, facts = doctor.check(
        arguments.hosts or HOSTS, RESULTS if arguments.jumbo else None, say, arguments.hardware, arguments.share
    )
    if arguments.json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings], **facts}, indent=1))
    output, width = console(), columns(sys.stdout)
    for finding in findings if not arguments.json else ():
        remedy = f"  -> {finding.remedy}" if finding.remedy else ""
        text = f" {finding.subject}: {finding.message}{remedy}"
        if width:
            text = "\n".join(wrap(text, width - LEVEL, " " * (LEVEL + 1)))
        output.print(f"[{COLOURS[finding.level]}]{finding.level:{LEVEL}}[/]", end="")
        output.print(text, markup=False, highlight=False, soft_wrap=True, emoji=False)
    return 1 if any(finding.level == "problem" for finding in findings) else 0
