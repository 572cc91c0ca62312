"""The trials of a run as Parquet: an exported table with numbers of the case in the dataset and block in its sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab import __version__
from lab.base.untrusted import from_json
from lab.dataset.parquet_file import GROUP_ROWS, SCHEMA
from lab.results.export_table import NAMED, OBJECTS, Kind, Row, kinds, object_frame
from lab.results.trial import FIELDS
from lab.results.trial import SCHEMA as TRIAL_SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa

FILE_METADATA = {
    "schema": str(TRIAL_SCHEMA), "dataset_schema": str(SCHEMA), "written_by": f"file-share-lab {__version__}",
}  # fmt: skip
OWN = ("case_number", "block_number")
_FIRST = ("status", "anchor", "size_bytes", "elapsed_s", "ceiling_bytes_per_s")  # in every file
_RISING = ("block_number", "position", "started_at")  # columns whose differences take less room
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Rows:
    """Trials of a frame of :func:`lab.results.run_folder.load`, each with the numbers of its case and block."""

    frame: pd.DataFrame
    case: Numbers
    block: Numbers

    def take(self, order: npt.NDArray[np.intp]) -> Rows:
        """Some rows, in this order."""
        return Rows(self.frame.iloc[order], self.case[order], self.block[order])

    def sorted(self) -> Rows:
        """The rows by case, block and position."""
        return self.take(np.lexsort((self.frame["position"].to_numpy(), self.block, self.case)))


def trials_table(rows: Rows, facts: Row) -> pa.Table:
    """The trials without observed numbers; ``facts`` about the run are in every row."""
    import pyarrow as pa

    frame = rows.frame
    columns: dict[str, Any] = dict(zip(OWN, (rows.case, rows.block), strict=True))
    columns |= {name: _column(frame[name], _kind(name)) for name in _FIRST}
    columns |= {name: _repeated(value, len(frame)) for name, value in facts.items()}
    plain = [name for name in FIELDS if name not in (*OBJECTS, "options", "started_at", *_FIRST)]
    columns |= {NAMED.get(name, name): _column(frame[name], _kind(NAMED.get(name, name))) for name in plain}
    columns["started_at"] = pa.array(frame["started_at"], pa.timestamp("us", "UTC"))
    label = str(facts["run_id"])
    columns |= _levels("option", frame["options"], label) | _levels("effective", frame["effective"], label)
    empty = {name for name in columns.keys() - {*OWN, *_FIRST} if len(frame) and columns[name].null_count == len(frame)}
    return pa.table({name: column for name, column in columns.items() if name not in empty})


def observed_table(rows: Rows, facts: Row) -> pa.Table:
    """The observed numbers by run and trial, of trials that have any."""
    import pyarrow as pa

    records = [from_json(text) if isinstance(text, str) else text for text in rows.frame["observed"].tolist()]
    counted = np.flatnonzero([bool(record) for record in records])
    keys = {
        "run_id": _repeated(facts["run_id"], len(counted)),
        "trial_id": pa.array(rows.frame["trial_id"].to_numpy(object)[counted], pa.string()),
    }
    flat = object_frame("observed", [records[place] for place in counted], str(facts["run_id"]))
    return pa.table(keys | {str(name): _column(flat[name], _kind(str(name))) for name in flat})


def limits_table(verdicts: pd.DataFrame, case: Numbers, first_block: int, facts: Row) -> pa.Table:
    """The verdicts on the cases of a run (:func:`lab.stats.bottleneck.verdicts`), ``case`` being their numbers."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "run_id": _repeated(facts["run_id"], len(verdicts)), "case_number": case,
        "block_number": np.full(len(verdicts), first_block, np.int32),
    }  # fmt: skip
    columns |= {name: _column(verdicts[name], str) for name in ("limited_by", "grade", "evidence")}
    return pa.table(columns | {"headroom": _column(verdicts["headroom"], float), "n": _column(verdicts["n"], int)})


def write(table: pa.Table, file: IO[bytes]) -> int:
    """Write a table into a file; return its size. Raises OSError."""
    from pyarrow import parquet

    table = table.replace_schema_metadata(FILE_METADATA)
    rising = {name: "DELTA_BINARY_PACKED" for name in _RISING if name in table.column_names}
    parquet.write_table(
        table, file, row_group_size=GROUP_ROWS, compression="zstd", column_encoding=rising,
        use_dictionary=[name for name in table.column_names if name not in (*rising, "trial_id")],
    )  # fmt: skip
    return file.tell()


def _kind(name: str) -> Kind:
    return kinds().get(name, str)


def _column(values: pd.Series[Any], kind: Kind) -> pa.Array:
    """A column of an exported table; null for a value of another type, such as ``default`` among bytes."""
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if kind is int and values.dtype == object:
        values = pd.to_numeric(values, errors="coerce").astype("Int64")
    numbers = values.to_numpy(float) if kind is float and values.dtype.kind == "f" else values
    return pa.array(numbers, types[kind], from_pandas=True)


def _repeated(value: object, count: int) -> pa.Array:
    import pyarrow as pa

    kind = pa.scalar(value).type if value is not None else pa.string()
    return pa.repeat(pa.scalar(value, kind), count)


def _levels(name: str, objects: pd.Series[Any], label: str) -> dict[str, pa.Array]:
    """The columns of objects; an object that several rows share is converted once."""
    rows = objects.tolist()
    codes, first = np.unique([id(row) for row in rows], return_index=True)
    numbers = np.searchsorted(codes, [id(row) for row in rows])
    table = _object_table(name, [rows[place] for place in first], label)
    return {column: values.take(numbers) for column, values in table.items()}


def _object_table(name: str, distinct: Sequence[Mapping[str, Any]], label: str) -> dict[str, pa.Array]:
    if name != "option":
        frame = object_frame(name, distinct, label)
        return {str(column): _column(frame[column], _kind(str(column))) for column in frame}
    import pyarrow as pa

    names = dict.fromkeys(option for options in distinct for option in options)
    return {f"option.{key}": pa.array([options.get(key) for options in distinct], pa.string()) for key in names}
