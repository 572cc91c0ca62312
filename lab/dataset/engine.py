"""DuckDB as the lab starts it: bounded in memory, beyond that on the disk, without network, with the lab's errors."""

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

MEMORY_BYTES = 400 << 20  # of DuckDB alone; computing with its answers takes as much again
SPILLED_BYTES = 4 << 30  # on the disk: sorting a million trials takes 1 GB at most
# A good trial's speed in MB/s, and its share of the ceiling (null if none), as lab.results.dataframe computes them
BYTES_PER_S = "(CASE WHEN status = 'ok' AND elapsed_s > 0 THEN size_bytes::DOUBLE / elapsed_s END)"
SPEED = f"({BYTES_PER_S} / 1e6)"
SHARE = f"(CASE WHEN ceiling_bytes_per_s > 0 THEN {BYTES_PER_S} / ceiling_bytes_per_s END)"
LONGEST_TEXT = 4 * LONGEST_ID  # bytes of a text that many rows share
Tables: TypeAlias = Mapping[str, object]  # frames of pandas that a query may read, by name


class Engine:
    """A connection to DuckDB, and a folder for what does not fit into memory."""

    def __init__(self, connection: Any, scratch: Path):
        self._connection, self.scratch = connection, scratch

    def numbers(self, query: str, parameters: Sequence[object] = (), tables: Tables | None = None) -> dict[str, Any]:
        """The answer as NumPy arrays by column. Raises LabFailure."""
        with self._answer(query, parameters, tables) as answer:
            columns: dict[str, Any] = answer.fetchnumpy()
        return columns

    def rows(
        self, query: str, parameters: Sequence[object] = (), tables: Tables | None = None
    ) -> list[tuple[Any, ...]]:
        """The answer as rows of Python values, with NumPy arrays for lists. Raises LabFailure."""
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
        """Run a statement without an answer, such as COPY. Raises LabFailure."""
        with self._answer(query, parameters, None):
            pass


@contextmanager
def started() -> Iterator[Engine]:
    """DuckDB with a temporary folder. Raises BadInput if it is not installed."""
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
    """Make a file so long, with room for all of it: writing into a map without room is fatal. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size_bytes)
        return
    piece = bytes(1 << 20)
    for start in range(0, size_bytes, len(piece)):  # macOS
        file.write(piece[: size_bytes - start])


def texts(*columns: str) -> str:
    """Columns of texts as SQL that fails for a long text, because each row gets a copy of its text in memory."""
    wrong = f"a text of more than {LONGEST_TEXT:,} bytes in "
    return ", ".join(
        f"CASE WHEN strlen({name}) > {LONGEST_TEXT} THEN error('{wrong}{name}') ELSE {name} END AS {name}"
        for name in columns
    )


def escape_paths(paths: Sequence[Path]) -> list[str]:
    """Paths as a parameter of read_parquet, which expands patterns."""
    return [glob.escape(str(path)) for path in paths]


def _failure_of(error: Exception) -> LabFailure:
    text, remedy = first_line(str(error), 300), AGAIN
    if "No space left" in text:
        remedy = "make room; TMPDIR names another folder for temporary files"
    elif "Out of Memory" in text:
        remedy = f"a file of the dataset has more cases or text than any run: {AGAIN}"
    return LabFailure(f"DuckDB: {text}", remedy)
