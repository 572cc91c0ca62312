"""`lab report`: report.html, post.md, table.csv and figures in the run folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.cli.terminal import open_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("run", type=Path, nargs="?", help="a run folder (default: the newest)")


def run(arguments: argparse.Namespace) -> int:
    """Write the report, and print the paths of its files."""
    from lab.report import run_report

    folder = open_run(arguments.run)
    page = run_report.write(folder)
    for path in (*sorted((folder.report_path / "figures").iterdir()), folder.report_path / "post.md", page):
        print(path)
    return 0
