"""The options and arguments that several commands have."""

import argparse
from pathlib import Path

from lab.cli.terminal import HOSTS, RESULTS

SWEEP_HELP = "a sweep file, or the name of a sweep that comes with the lab, such as demo or macs"
NAMES_OF_RUNS = "a path, a sweep's name (its newest run), the beginning of a folder's name, or -2 (the last but one)"
Container = argparse._ActionsContainer  # a parser, or a group of its options


def add_flag(parser: Container, name: str, text: str) -> None:
    parser.add_argument(name, action="store_true", help=text)


def add_json(parser: Container) -> None:
    add_flag(parser, "--json", "print JSON")


def add_list(parser: Container, name: str, metavar: str, text: str) -> None:
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=text)


def add_hosts(parser: Container, text: str = f"the hosts file (default: {HOSTS})") -> None:
    parser.add_argument("--hosts", type=Path, metavar="FILE", help=text)


def add_results(parser: Container) -> None:
    text = "the folder of the runs (default: %(default)s)"
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help=text)


def add_no_redact(parser: Container) -> None:
    text = "keep names of hosts, accounts and shares, and addresses; without it each is replaced, alike everywhere"
    add_flag(parser, "--no-redact", text)


def add_run(parser: Container) -> None:
    text = f"the run (default: the newest): {NAMES_OF_RUNS}; a zip file or an address of one; or example, which comes "
    parser.add_argument("run", nargs="?", metavar="RUN", help=f"{text}with the lab")


def sweep_file(text: str) -> Path:
    """The path of a sweep. ``./demo`` stays a path: only ``demo`` is a sweep that comes with the lab."""
    path = Path(text)
    return path if str(path) == text else path.absolute()


def hosts_file(arguments: argparse.Namespace) -> Path:
    """The hosts file that was named, or the one in the current folder.

    Raises BadInput if the file is among results, or if a file that nobody named runs a program here.
    """
    if path := named_hosts_file(arguments):
        return path
    from lab.hosts.sections import check_place, check_unnamed

    check_place(HOSTS, arguments.results)
    check_unnamed(HOSTS)
    return HOSTS


def named_hosts_file(arguments: argparse.Namespace) -> Path | None:
    """The hosts file that was named. Raises BadInput if it is among results."""
    if not arguments.hosts:
        return None
    from lab.hosts.sections import check_place

    check_place(arguments.hosts, arguments.results)
    return Path(arguments.hosts)


def chosen_run(name: str, arguments: argparse.Namespace) -> Path:
    """The folder of a run that was named. Raises BadInput if there is no such run."""
    from lab.results.run_names import find_run

    return find_run(name, arguments.results)
