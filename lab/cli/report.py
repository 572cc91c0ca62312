"""`lab report`: report.html, post.md, table.csv and figures, in the run folder or elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.cli.terminal import RUN_HELP, open_run, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("run", type=Path, nargs="?", help=RUN_HELP)
    text = (
        "write it there, and nothing into the run folder: for a run of somebody else, or to publish it (of an example: "
        "report-NAME in the current folder)"
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Write the report, and print the paths of its files."""
    from lab.report import figures, run_report
    from lab.results.examples import Example

    folder = open_run(arguments.run)
    # the folder of an example is a temporary one
    default = Path(f"report-{folder.label}") if isinstance(folder, Example) else None
    page = run_report.write(folder, arguments.to or default)
    drawings = sorted(page.parent / "figures" / f"{name}.{kind}" for name in figures.ALL for kind in ("png", "svg"))
    for path in (*drawings, page.parent / "post.md", page):
        show(str(path))
    return 0
