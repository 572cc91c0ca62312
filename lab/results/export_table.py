"""Trials of runs as one table for other programs: a row for each trial, typed columns with units in their names.

Values inside a trial's objects have columns named by their path, such as ``observed.client.cpu_cores``. Columns without
any value are left out. Every row has the facts of its run and hosts.
"""

import functools
import json
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from lab import __version__
from lab.base.errors import BadInput
from lab.hosts import ROLES
from lab.results.effective import Effective
from lab.results.json_object import JsonObject, json_types
from lab.results.observed import Observed
from lab.results.public import PublicRecords
from lab.results.run_folder import RunFolder
from lab.results.trial import SCHEMA, Trial

INSTALL = "pip install file-share-lab[parquet]"
Kind: TypeAlias = type[str | int | float | bool]
Row: TypeAlias = dict[str, object]
DTYPES: Mapping[Kind, str] = {str: "string", int: "Int64", float: "Float64", bool: "boolean"}
# Columns with facts of the run, and their keys in run.json
OF_RUN = {
    "run_id": "id", "run_name": "name", "run_started_at": "started_at", "run_title": "title",
    "code_version": "code_version",
}  # fmt: skip
OF_HOST: Mapping[str, Kind] = {
    "platform": str, "os": str, "kernel": str, "cpu": str, "cores": int, "memory_bytes": int, "link_bits_per_s": int,
}  # fmt: skip
# Fields whose names have no unit, and their columns; "default" is no value there
NAMED = {"mtu": "mtu_bytes", "tcp_space": "tcp_buffer_bytes"}
MOST_COLUMNS = 1000  # this version has 300
OBJECTS: Mapping[str, type[JsonObject]] = {"effective": Effective, "observed": Observed}


@functools.cache
def kinds() -> dict[str, Kind]:
    """The type of each column, except options and keys of other versions of the lab."""
    columns: dict[str, Kind] = dict.fromkeys(OF_RUN, str)
    columns |= {f"{role}_{name}": kind for role in ROLES for name, kind in OF_HOST.items()}
    for name, hint in typing.get_type_hints(Trial).items():
        if name in OBJECTS:
            columns |= {column: _kind(members) for column, _, members in columns_in(OBJECTS[name], name)}
        elif name != "options":
            columns[NAMED.get(name, name)] = int if name in NAMED else _kind(json_types(hint))
    return columns


def columns_in(owner: type[JsonObject], path: str) -> Iterator[tuple[str, type, frozenset[type]]]:
    """Each column of an object: its name, the class with the field of its last part, and the types of its values."""
    for name, hint in typing.get_type_hints(owner).items():
        members = json_types(hint)
        nested = next((member for member in members if issubclass(member, JsonObject)), None)
        if nested:
            yield from columns_in(nested, f"{path}.{name}")
        elif name != "other":
            yield f"{path}.{name}", owner, members


def _kind(members: frozenset[type]) -> Kind:
    """The type that holds all values of a field. A list is text."""
    kept = members - {type(None)}
    if len(kept) == 1:
        return next((kind for kind in (bool, int) if kind in kept), str)
    return float if kept <= {int, float} else str


def table(runs: Iterable[RunFolder | PublicRecords]) -> pd.DataFrame:
    """The trials of runs. Raises BadInput. Each run becomes columns before the next: rows would take gigabytes."""
    frames = []
    for run in runs:
        facts = facts_of(run)
        frame = _frame_of([_row(record, facts) for record in run.records()], run.label)
        frames += [frame] if len(frame) else []
    if not frames:
        return pd.DataFrame()
    frame = pd.concat(frames, ignore_index=True)
    known = [name for name in kinds() if name in frame]
    return _typed(frame[known + sorted(map(str, set(frame) - set(known)))])


def object_frame(name: str, records: Iterable[Mapping[str, object]], label: str) -> pd.DataFrame:
    """One of OBJECTS of each trial as a row, in the columns with any value. Raises BadInput for too many."""
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
    """The table as a JSON object: the schema, the type of each column, and the rows without missing values."""
    names: Mapping[str, str] = {"string": "string", "Int64": "integer", "Float64": "number", "boolean": "boolean"}
    columns = {str(name): names[str(dtype)] for name, dtype in frame.dtypes.items()}
    rows = [{key: value for key, value in row.items() if not pd.isna(value)} for row in frame.to_dict("records")]
    return json.dumps({"schema": SCHEMA, "columns": columns, "rows": rows}, allow_nan=False, indent=0)


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write the table as Parquet, with the trials' schema in its metadata. Raises BadInput without pyarrow."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise BadInput("Parquet is written by pyarrow, which is not installed", f"`{INSTALL}`") from error
    arrow_table = pa.Table.from_pandas(frame, preserve_index=False)
    about = {b"schema": str(SCHEMA).encode(), b"written_by": f"file-share-lab {__version__}".encode()}
    parquet.write_table(arrow_table.replace_schema_metadata({**(arrow_table.schema.metadata or {}), **about}), path)


def facts_of(source: RunFolder | PublicRecords) -> Row:
    """The facts of a run and its hosts, by column."""
    run = source.run
    facts: Row = {column: run.get(key) for column, key in OF_RUN.items()}
    facts["run_id"] = facts["run_id"] or Path(source.label).name
    for role in ROLES:
        host = run.get("hosts", {}).get(role.value, {})
        facts |= {f"{role}_{name}": _convert(host.get(name), kind) for name, kind in OF_HOST.items()}
    return facts


def _row(record: Mapping[str, Any], facts: Row) -> Row:
    options = {f"option.{name}": level for name, level in record["options"].items()}
    plain = {NAMED.get(name, name): value for name, value in record.items() if name not in (*OBJECTS, "options")}
    plain["tcp_buffer_bytes"] = _convert(plain["tcp_buffer_bytes"], int)
    return {**facts, **plain, **options, **dict(part for name in OBJECTS for part in _flat(record[name], name))}


def _flat(value: Mapping[str, object], path: str) -> Iterator[tuple[str, object]]:
    for key, part in value.items():
        name = f"{path}.{key}"
        if isinstance(part, dict):
            yield from _flat(part, name)
        else:
            yield name, _convert(part, kinds().get(name, str))


def _convert(value: object, kind: Kind) -> object:
    """A value of its column's type: JSON for a list, None for another type."""
    if kind is str:
        return value if isinstance(value, str | None) else json.dumps(value)
    if not isinstance(value, int | float):
        return None
    return value if kind is bool else kind(value)
