"""The options and arguments that several commands have."""

import argparse
from pathlib import Path

from lab.cli.terminal import HOSTS, RESULTS

SWEEP_HELP = "a sweep file, or the name of a sweep that comes with the lab, such as demo or macs"
NAMES_OF_RUNS = "a path, a sweep's name (its newest run), the beginning of a folder's name, or -2 (the last but one)"


def add_hosts(parser: argparse.ArgumentParser, text: str = f"the hosts file (default: {HOSTS})") -> None:
    """Add --hosts."""
    parser.add_argument("--hosts", type=Path, metavar="FILE", help=text)


def sweep_file(text: str) -> Path:
    """The path of a sweep; that of ``./demo`` stays one, and is not the name of a sweep that comes with the lab."""
    path = Path(text)
    return path if str(path) == text else path.absolute()


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add --results."""
    text = "the folder of the runs (default: %(default)s)"
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help=text)


def add_no_redact(parser: argparse.ArgumentParser) -> None:
    """--no-redact, of whatever writes what others may read."""
    text = "leave names of hosts, accounts and shares in it, and addresses; else each is replaced, alike everywhere"
    parser.add_argument("--no-redact", action="store_true", help=text)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the run that a command reads."""
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help=f"the run (default: the newest): {NAMES_OF_RUNS}; a zip file or an address of one; or example, which "
        "comes with the lab",
    )


def hosts_file(arguments: argparse.Namespace) -> Path:
    """The hosts file that was named, or that of this folder. Raises BadInput for one among the results, and for one of
    this folder that runs a program here.
    """
    return named_hosts_file(arguments) or _of_this_folder(arguments.results)


def named_hosts_file(arguments: argparse.Namespace) -> Path | None:
    """The hosts file that was named. Raises BadInput for one among the results."""
    return _outside(arguments.hosts, arguments.results) if arguments.hosts else None


def _of_this_folder(results: Path) -> Path:
    from lab.hosts.sections import check_unnamed

    check_unnamed(_outside(HOSTS, results))
    return HOSTS


def _outside(path: Path, results: Path) -> Path:
    from lab.hosts.sections import check_place

    check_place(path, results)
    return path


def chosen_run(name: str, arguments: argparse.Namespace) -> Path:
    """The folder of a run that was named. Raises BadInput where it is none."""
    from lab.results.run_names import find_run

    return find_run(name, arguments.results)
