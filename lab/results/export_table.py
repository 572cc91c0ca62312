"""Trials of runs as one table for other programs: a row a trial, a typed column a quantity, its unit in its name.

What stands in objects inside a trial has columns of its own, named by its path: ``observed.client.cpu_cores``. A column
that no trial has a value for is left out. Facts of the run, and of its hosts, stand in every row.
"""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pandas as pd

from lab import __version__
from lab.base.errors import BadInput
from lab.hosts import ROLES
from lab.results.effective import Effective
from lab.results.json_object import JsonObject, json_types
from lab.results.observed import Observed
from lab.results.trial import SCHEMA, RunJson, Trial

INSTALL = "pip install file-share-lab[parquet]"
Kind: TypeAlias = type[str | int | float | bool]
Row: TypeAlias = dict[str, object]
DTYPES: Mapping[Kind, str] = {str: "string", int: "Int64", float: "Float64", bool: "boolean"}
# Facts of a run that stand in every row, by the column: the key of run.json
OF_RUN = {
    "run_id": "id", "run_name": "name", "run_started_at": "started_at", "run_title": "title",
    "code_version": "code_version",
}  # fmt: skip
OF_HOST: Mapping[str, Kind] = {
    "platform": str,
    "os": str,
    "kernel": str,
    "cpu": str,
    "cores": int,
    "memory_bytes": int,
    "link_bits_per_s": int,
}
# Columns whose unit their field leaves to whoever reads its description; without a value for "default"
NAMED = {"mtu": "mtu_bytes", "tcp_space": "tcp_buffer_bytes"}
MOST_COLUMNS = 1000  # there are 300 names; a host, or another version of the lab, may have had others
OBJECTS: Mapping[str, type[JsonObject]] = {"effective": Effective, "observed": Observed}


@functools.cache
def kinds() -> dict[str, Kind]:
    """The type of each column, but for those of options and of keys that another version of the lab wrote."""
    found: dict[str, Kind] = dict.fromkeys(OF_RUN, str)
    found |= {f"{role}_{name}": kind for role in ROLES for name, kind in OF_HOST.items()}
    for name, hint in typing.get_type_hints(Trial).items():
        if name in OBJECTS:
            found |= dict(_kinds_of(OBJECTS[name], name))
        elif name != "options":
            found[NAMED.get(name, name)] = int if name in NAMED else _kind(json_types(hint))
    return found


def _kinds_of(owner: type[JsonObject], path: str) -> Iterator[tuple[str, Kind]]:
    for name, hint in typing.get_type_hints(owner).items():
        members = json_types(hint)
        nested = next((member for member in members if issubclass(member, JsonObject)), None)
        if nested:
            yield from _kinds_of(nested, f"{path}.{name}")
        elif name != "other":
            yield f"{path}.{name}", _kind(members)


def _kind(members: frozenset[type]) -> Kind:
    """The type that holds all values of a field: a list is text."""
    kept = members - {type(None)}
    if len(kept) == 1:
        return next((kind for kind in (bool, int) if kind in kept), str)
    return float if kept <= {int, float} else str


class Source(Protocol):
    """What a table is made of: a RunFolder, or what may be shown of one."""

    @property
    def label(self) -> str: ...  # noqa: D102

    @property
    def run(self) -> RunJson: ...  # noqa: D102

    def records(self) -> list[dict[str, Any]]: ...  # noqa: D102


def table(runs: Iterable[Source]) -> pd.DataFrame:
    """The trials of runs, in their order. Raises BadInput where one cannot be read.

    Each run is made columns of before the next is asked for: rows of a thousand of them would take gigabytes.
    """
    frames = [frame for frame in map(_frame, runs) if len(frame)]
    if not frames:
        return pd.DataFrame()
    frame = pd.concat(frames, ignore_index=True)
    known = [name for name in kinds() if name in frame]
    return _typed(frame[known + sorted(map(str, set(frame) - set(known)))])


def _frame(run: Source) -> pd.DataFrame:
    """The trials of one run, in the columns that it has a value for."""
    facts = facts_of(run)
    return _frame_of([_row(record, facts) for record in run.records()], run.label)


def object_frame(name: str, records: Iterable[Mapping[str, Any]], label: str) -> pd.DataFrame:
    """What stands in one of OBJECTS of trials, in the columns that any of them has a value for: a row each.

    Raises BadInput, which names the run by its ``label``, for more than MOST_COLUMNS.
    """
    return _frame_of([dict(_flat(record, name)) for record in records], label)


def _frame_of(rows: Sequence[Row], label: str) -> pd.DataFrame:
    names = {name for row in rows for name in row}
    if len(names) > MOST_COLUMNS:
        raise BadInput(f"{label}: {len(names):,} names of what was observed or in effect: at most {MOST_COLUMNS:,}")
    return _typed(pd.DataFrame(rows, dtype=object).dropna(axis="columns", how="all"))


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({name: DTYPES[kinds().get(str(name), str)] for name in frame})


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each number of each trial: ``run_id``, ``trial_id``, the ``quantity`` and its ``value``."""
    frame = frame if len(frame) else frame.reindex(columns=["run_id", "trial_id"])
    numbers = [name for name in frame.select_dtypes("number") if name not in ("block", "position")]
    long = frame.melt(["run_id", "trial_id"], numbers, "quantity", "value").dropna(subset="value")
    return long.astype({"quantity": "string", "value": "Float64"}).reset_index(drop=True)


def as_json(frame: pd.DataFrame) -> str:
    """The table as a JSON object: the schema, the type of each column, and the rows, without what they lack."""
    names: Mapping[str, str] = {"string": "string", "Int64": "integer", "Float64": "number", "boolean": "boolean"}
    columns = {str(name): names[str(dtype)] for name, dtype in frame.dtypes.items()}
    rows = [{key: value for key, value in row.items() if not pd.isna(value)} for row in frame.to_dict("records")]
    return json.dumps({"schema": SCHEMA, "columns": columns, "rows": rows}, allow_nan=False, indent=0)


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """The table as a file of Parquet, which has the schema of the trials in its metadata. Raises BadInput without
    pyarrow.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise BadInput("Parquet is written by pyarrow, which is not installed", f"`{INSTALL}`") from error
    made = pa.Table.from_pandas(frame, preserve_index=False)
    about = {b"schema": str(SCHEMA).encode(), b"written_by": f"file-share-lab {__version__}".encode()}
    parquet.write_table(made.replace_schema_metadata({**(made.schema.metadata or {}), **about}), path)


def facts_of(source: Source) -> Row:
    """The facts of a run, and of its hosts, that stand in each of its rows, by their columns."""
    run = source.run
    facts: Row = {column: run.get(key) for column, key in OF_RUN.items()}
    facts["run_id"] = facts["run_id"] or Path(source.label).name
    for role in ROLES:
        host = run.get("hosts", {}).get(role.value, {})
        facts |= {f"{role}_{name}": _fitting(host.get(name), kind) for name, kind in OF_HOST.items()}
    return facts


def _row(record: Mapping[str, Any], facts: Row) -> Row:
    options = {f"option.{name}": level for name, level in record["options"].items()}
    apart = (*OBJECTS, "options")
    plain = {NAMED.get(name, name): value for name, value in record.items() if name not in apart}
    plain["tcp_buffer_bytes"] = _fitting(plain["tcp_buffer_bytes"], int)
    inside = dict(part for name in OBJECTS for part in _flat(record[name], name))
    return {**facts, **plain, **options, **inside}


def _flat(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, object]]:
    for key, part in value.items():
        name = f"{path}.{key}"
        if isinstance(part, dict):
            yield from _flat(part, name)
        else:
            yield name, _fitting(part, kinds().get(name, str))


def _fitting(value: object, kind: Kind) -> object:
    """A value as its column has it: JSON for a list, and none where it is of another type."""
    if kind is str:
        return value if isinstance(value, str | None) else json.dumps(value)
    if not isinstance(value, int | float):
        return None
    return value if kind is bool else kind(value)
