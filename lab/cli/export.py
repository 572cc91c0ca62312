"""`lab export`: runs for others, and for other programs, without the names of their owners."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.redact import say_replaced
from lab.cli.terminal import open_run, show_whole

if TYPE_CHECKING:
    import pandas as pd

    from lab.results.public import PublicRecords
    from lab.results.run_folder import RunFolder

SUMMARY = "runs for others, or as a table for other programs, without the names of hosts, accounts and shares"
EXAMPLES = (
    Example("lab export", "the newest run, as a folder beside you that can be given away"),
    Example("lab export demo --output demo-run", "the newest run of the sweep demo, as the new folder demo-run"),
    Example("lab export -2 -1 --to csv --output runs.csv", "the trials of two runs as one table"),
    Example("lab export demo --to json --tidy", "a row for each number of each trial"),
    Example("lab export --schema trial", "the JSON Schema of a line of trials.jsonl"),
)
FORMATS = ("folder", "csv", "json", "parquet")
SCHEMAS = ("run", "trial", "samples", "table", "contribution")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = f"the runs (default: the newest): {options.NAMES_OF_RUNS}; or example, which comes with the lab"
    parser.add_argument("runs", nargs="*", metavar="RUN", help=text)
    options.add_results(parser)
    text = "a run folder, or all trials as one table (default: %(default)s); parquet needs pyarrow"
    parser.add_argument("--to", choices=FORMATS, default="folder", help=text)
    text = "the new folder or file (default: NAME-public in the current folder; standard output for csv and json)"
    parser.add_argument("--output", type=Path, metavar="PATH", help=text)
    options.add_flag(parser, "--tidy", "a table with a row for each number of each trial")
    options.add_no_redact(parser)
    text = "print the JSON Schema of run.json (run), a line of trials.jsonl (trial) or samples.jsonl (samples), the "
    text += "output of --to json (table), or contribution.json (contribution), and export nothing"
    parser.add_argument("--schema", choices=SCHEMAS, metavar="NAME", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Write the runs, say which names were replaced, and print the path. Raises BadInput."""
    from lab.base.masking import Masker
    from lab.results.public import Public, PublicRecords

    _check(arguments)
    if arguments.schema:
        from lab.schemas import json_schemas

        print(json_schemas.schema_text(arguments.schema), end="")
        return 0
    folders, masker = [open_run(name, arguments.results) for name in arguments.runs or [None]], Masker()
    path: Path | None = arguments.output
    if arguments.no_redact:
        _write_table(folders, arguments)
    else:
        if arguments.to == "folder":
            public = Public(folders[0], masker)
            path = path or Path(f"{public.label}-public")
            public.copy_to(path)
        else:
            _write_table((PublicRecords(folder, masker) for folder in folders), arguments)
        say_replaced(masker, folders)
    if path:
        show_whole(str(path))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise BadInput for options that do not go together."""
    if arguments.schema and (arguments.runs or arguments.output):
        raise BadInput("--schema: is the same for all runs, and printed", "give neither RUN nor --output with it")
    if arguments.to == "folder":
        if len(arguments.runs) > 1:
            raise BadInput("a run folder is of one run", "give one, or --to csv, json or parquet")
        if arguments.no_redact:
            raise BadInput("--no-redact: is for a table; with all names, the run folder itself is that", "`cp -r` it")
        if arguments.tidy:
            raise BadInput("--tidy: is for a table", "give --to csv, json or parquet, too")
    elif arguments.to == "parquet" and not arguments.output:
        raise BadInput("Parquet is no text", "give --output FILE")
    elif arguments.output and os.path.lexists(arguments.output):
        raise BadInput(f"{arguments.output}: is there already", "name a new file")


def _write_table(runs: Iterable[RunFolder | PublicRecords], arguments: argparse.Namespace) -> None:
    """Write the trials as one table, into the file or to standard output."""
    from lab.base import durable
    from lab.results import export_table

    table = export_table.table(runs)
    table = export_table.tidy(table) if arguments.tidy else table
    if arguments.to == "parquet":
        export_table.write_parquet(table, arguments.output)
        return
    text = _csv(table) if arguments.to == "csv" else export_table.as_json(table)
    if arguments.output:
        durable.create(arguments.output, text.encode())
    else:
        sys.stdout.write(text)


def _csv(table: pd.DataFrame) -> str:
    """The table as CSV without text that a spreadsheet would take for a formula."""
    from lab.report.tables import no_formula

    plain = table.rename(columns=no_formula)
    for name, kind in plain.dtypes.items():
        if kind == "string":
            plain[name] = plain[name].map(no_formula, na_action="ignore")
    return plain.to_csv(index=False)
