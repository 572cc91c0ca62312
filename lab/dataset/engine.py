"""DuckDB as the lab starts it: bounded in memory, on the disk beyond that, without a network, and with its errors said
as the lab's.
"""

import glob
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from lab.base.errors import LabFailure
from lab.base.untrusted import first_line
from lab.dataset.folder import check_installed
from lab.dataset.register import AGAIN, LONGEST_ID

MEMORY_BYTES = 400 << 20  # of DuckDB alone; what is computed of its answers takes as much again
SPILLED_BYTES = 4 << 30  # of what does not fit there: a million trials that are put in order have 1 GB at most
# The speed of a good trial in MB/s, and its share of the ceiling, by the same operations in the same order as in
# lab.results.dataframe; null where there is none
BYTES_PER_S = "(CASE WHEN status = 'ok' AND elapsed_s > 0 THEN size_bytes::DOUBLE / elapsed_s END)"
SPEED = f"({BYTES_PER_S} / 1e6)"
SHARE = f"(CASE WHEN ceiling_bytes_per_s > 0 THEN {BYTES_PER_S} / ceiling_bytes_per_s END)"
LONGEST_TEXT = 4 * LONGEST_ID  # bytes of each text that is read for many rows: in a file it stands once
Tables: TypeAlias = Mapping[str, object]  # frames of pandas that a query may read, by name


class Engine:
    """A connection to DuckDB, and a folder for what does not fit into memory."""

    def __init__(self, connection: Any, scratch: Path):
        self._connection, self.scratch = connection, scratch

    def numbers(self, query: str, parameters: Sequence[object] = (), tables: Tables | None = None) -> dict[str, Any]:
        """The answer as arrays of NumPy, by column. Raises LabFailure."""
        with self._answer(query, parameters, tables) as answer:
            columns: dict[str, Any] = answer.fetchnumpy()
        return columns

    def rows(
        self, query: str, parameters: Sequence[object] = (), tables: Tables | None = None
    ) -> list[tuple[Any, ...]]:
        """The answer as rows of Python's own values, and arrays of NumPy for lists. Raises LabFailure."""
        with self._answer(query, parameters, tables) as answer:
            columns = answer.to_arrow_table().columns
        return list(zip(*map(_cells, columns), strict=True))

    @contextmanager
    def _answer(self, query: str, parameters: Sequence[object], tables: Tables | None) -> Iterator[Any]:
        import duckdb

        cursor = self._connection.cursor()
        try:
            for name, table in (tables or {}).items():
                cursor.register(name, table)
            yield cursor.sql(query, params=list(parameters))
        except duckdb.Error as error:
            raise _failure_of(error) from error
        finally:
            cursor.close()

    def execute(self, query: str, parameters: Sequence[object] = ()) -> None:
        """Run what has no answer, such as COPY. Raises LabFailure."""
        import duckdb

        try:
            self._connection.cursor().execute(query, list(parameters))
        except duckdb.Error as error:
            raise _failure_of(error) from error


@contextmanager
def started() -> Iterator[Engine]:
    """DuckDB, and a temporary folder that goes with it. Raises BadInput where it is not installed."""
    check_installed("duckdb", "pyarrow")
    import duckdb

    with tempfile.TemporaryDirectory(prefix="lab-dataset-") as scratch:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{MEMORY_BYTES}B", "threads": os.cpu_count() or 1, "temp_directory": f"{scratch}/duckdb",
            "max_temp_directory_size": f"{SPILLED_BYTES}B",
            "preserve_insertion_order": False, "autoinstall_known_extensions": False,
            "autoload_known_extensions": False, "allow_community_extensions": False,
        }  # fmt: skip
        connection = duckdb.connect(":memory:", config=settings)
        try:
            connection.execute("SET lock_configuration = true")
            yield Engine(connection, Path(scratch))
        finally:
            connection.close()


def _cells(column: Any) -> list[Any]:
    import pyarrow as pa

    if not pa.types.is_list(column.type):
        values: list[Any] = column.to_pylist()
        return values
    return [cell.values.to_numpy(zero_copy_only=False) if cell.is_valid else None for cell in column]


def reserve(file: IO[bytes], size_bytes: int) -> None:
    """Make a file so long, with room on the disk for all of it: to write into a map beyond that would end the process.

    Raises OSError where it does not fit.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size_bytes)
        return
    piece = bytes(1 << 20)
    for start in range(0, size_bytes, len(piece)):  # macOS
        file.write(piece[: size_bytes - start])


def texts(*columns: str) -> str:
    """Columns of texts as SQL, of which none is longer than any of the lab's: of one each row has a copy in memory."""
    wrong = f"a text of more than {LONGEST_TEXT:,} bytes in "
    return ", ".join(
        f"CASE WHEN strlen({name}) > {LONGEST_TEXT} THEN error('{wrong}{name}') ELSE {name} END AS {name}"
        for name in columns
    )


def escape_paths(paths: Sequence[Path]) -> list[str]:
    """Paths as a parameter of read_parquet, which would take some characters for a pattern."""
    return [glob.escape(str(path)) for path in paths]


def _failure_of(error: Exception) -> LabFailure:
    text = first_line(str(error), 300)
    if "No space left" in text:
        return LabFailure(f"DuckDB: {text}", "make room; TMPDIR names another folder for temporary files")
    if "Out of Memory" in text:
        return LabFailure(f"DuckDB: {text}", f"a file of the dataset has more cases or text than any run: {AGAIN}")
    return LabFailure(f"DuckDB: {text}", AGAIN)
