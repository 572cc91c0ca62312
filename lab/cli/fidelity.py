"""`lab fidelity`: what of files survives a copy over a share."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from lab.base.secret_texts import without_secrets
from lab.cli import options
from lab.cli.command import Example
from lab.cli.replaced import say_replaced
from lab.cli.terminal import WIDTH_OF_A_FILE, columns, say, show, show_whole

if TYPE_CHECKING:
    from lab.fidelity.survey import Survey
    from lab.results.run_folder import RunFolder

SUMMARY = "what survives a copy: names, dates, access, extended attributes, links; untimed"
EXAMPLES = (
    Example("lab fidelity", "every protocol, tool and direction that two hosts can do, as a matrix"),
    Example("lab fidelity --protocol smb --tool rsync-a --strict", "one way; exit code 1 where it does not keep all"),
    Example(
        "lab fidelity --protocol smb --option smb.time_machine=default,false",
        "the same through Samba without and with vfs_fruit, side by side",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    options.add_hosts(parser)
    options.add_results(parser)
    every = "may be given several times (default: all)"
    parser.add_argument("--protocol", action="append", default=[], metavar="NAME", help=f"a protocol; {every}")
    text = f"a tool: cp, cp-a (Linux), cp-p and ditto (macOS), rsync-a or rsync-all; {every}"
    parser.add_argument("--tool", action="append", default=[], metavar="NAME", help=text)
    text = f"write is client to server; {every}"
    parser.add_argument("--direction", action="append", default=[], choices=("write", "read"), help=text)
    text = "what the files lie on, on the server: ram, disk, ext4, xfs or btrfs; "
    text += "may be given several times (default: ram, disk)"
    parser.add_argument("--store", action="append", default=[], metavar="NAME", help=text)
    text = "an option of a mount or a server and its levels, as a sweep has them; may be given several times"
    parser.add_argument("--option", action="append", default=[], metavar="NAME=LEVELS", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    text = "exit code 1 where anything was lost, changed or refused"
    parser.add_argument("--strict", action="store_true", help=text)
    options.add_no_redact(parser)


def run(arguments: argparse.Namespace) -> int:
    """Survey, print the matrix and, last, the run folder; 1 where a place failed, or --strict and not all was kept."""
    from lab.fidelity import page, survey
    from lab.fidelity.page import masked
    from lab.fidelity.places import Asked
    from lab.local import state

    asked = Asked(arguments.protocol, arguments.tool, arguments.direction, arguments.store, arguments.option)
    hosts = options.hosts_file(arguments)
    folder, surveyed = survey.start(hosts, arguments.results, asked, say, state.is_gone)
    result = masked(surveyed, without_secrets)
    masker = None if arguments.no_redact else page.masker_for(folder, result)
    page.write(folder, result, masker)
    if masker:
        say_replaced(masker, [folder])
    if arguments.json:
        print(json.dumps(result.to_json(), indent=1))
    else:
        _print(folder, result)
    return 1 if result.failures or (arguments.strict and not result.is_whole) else 0


def _print(folder: RunFolder, survey: Survey) -> None:
    from lab.fidelity.page import KEY, answer_lines, engine_lines, legend_lines, matrix_lines

    for line in matrix_lines(survey.copies, columns(sys.stdout) or WIDTH_OF_A_FILE):
        show_whole(line)
    show_whole("")
    for line in (KEY, *legend_lines(survey.copies), *engine_lines(survey.engines), *answer_lines(survey.copies)):
        show(line)
    show(f"What was changed or refused, and how: {folder.report_path / 'fidelity.html'}")
    show_whole(str(folder.path))
