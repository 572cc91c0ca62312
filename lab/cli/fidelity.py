"""`lab fidelity`: which attributes of files survive a copy over a share."""

import argparse
import itertools
import sys

from lab.base.secret_texts import without_secrets
from lab.cli import options
from lab.cli.command import Example
from lab.cli.redact import say_replaced
from lab.cli.terminal import WIDTH_OF_A_FILE, columns, say, show, show_json, show_whole

SUMMARY = "what survives a copy: names, dates, access, extended attributes, links; untimed"
EXAMPLES = (
    Example("lab fidelity", "every protocol, tool and direction that two hosts can do, as a matrix"),
    Example("lab fidelity --protocol smb --tool rsync-a --strict", "one way; exit code 1 if it does not keep all"),
    Example("lab fidelity --protocol smb --option smb.time_machine=default,false", "without or with Samba's vfs_fruit"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_hosts(parser)
    options.add_results(parser)
    every = "may be given several times (default: all)"
    options.add_list(parser, "--protocol", "NAME", f"a protocol; {every}")
    text = f"a tool: cp, cp-a (Linux), cp-p and ditto (macOS), rsync-a or rsync-all; {every}"
    options.add_list(parser, "--tool", "NAME", text)
    text = f"write is client to server; {every}"
    parser.add_argument("--direction", action="append", default=[], choices=("write", "read"), help=text)
    text = "a store of the server: ram, disk, ext4, xfs or btrfs; may be given several times (default: ram, disk)"
    options.add_list(parser, "--store", "NAME", text)
    text = "an option of a mount or a server and its levels, as in a sweep; may be given several times"
    options.add_list(parser, "--option", "NAME=LEVELS", text)
    options.add_json(parser)
    options.add_flag(parser, "--strict", "exit code 1 if anything was lost, changed or refused")
    options.add_no_redact(parser)


def run(arguments: argparse.Namespace) -> int:
    """Survey, print the matrix and, last, the run folder; 1 if a place failed, or --strict finds a loss."""
    from lab.fidelity import page, survey
    from lab.fidelity.places import Asked
    from lab.local import state
    from lab.results.public import masker_of

    asked = Asked(arguments.protocol, arguments.tool, arguments.direction, arguments.store, arguments.option)
    folder, surveyed = survey.start(options.hosts_file(arguments), arguments.results, asked, say, state.is_gone)
    result = page.masked(surveyed, without_secrets)
    masker = None if arguments.no_redact else masker_of(folder, page.texts_of(result))
    page.write(folder, result, masker)
    if masker:
        say_replaced(masker, [folder])
    if arguments.json:
        show_json(result.to_json())
    else:
        for line in page.matrix_lines(result.copies, columns(sys.stdout) or WIDTH_OF_A_FILE):
            show_whole(line)
        show_whole("")
        texts = (page.legend_lines(result.copies), page.engine_lines(result.engines), page.answer_lines(result.copies))
        for line in (page.KEY, *itertools.chain(*texts)):
            show(line)
        show(f"What was changed or refused, and how: {folder.report_path / 'fidelity.html'}")
        show_whole(str(folder.path))
    return 1 if result.failures or (arguments.strict and not result.is_whole) else 0
