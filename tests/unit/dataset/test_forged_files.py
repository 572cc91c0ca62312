"""Files of a dataset that were made to take gigabytes, or hours: each is refused before anything of it is unpacked."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from support import forged_parquet as forged
from support.commands import lab
from support.datasets import note_file
from support.examples import bounded

from lab.base.errors import BadInput
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.parquet_file import MOST_ROWS, NEEDED
from lab.dataset.pooled import Pooled

pytest.importorskip("duckdb")
MEMORY_BYTES = 700 << 20  # of which DuckDB may have 400 MiB, and what is made of a million rows 155 bytes each
TRIALS = "trials/sweep=synthetic/run=run-0.parquet"
CODECS = ("snappy", "gzip", "brotli", "lz4", "none")


def needed(table: pa.Table, rows: int) -> pa.Table:
    """The first row so often, in the columns that are read."""
    return pa.table({name: pa.repeat(table[name][0], rows) for name in NEEDED["trials"]})


def made(change: Callable[..., pa.Table], *values: int, **how: object) -> Callable[[Path], None]:
    """Rewrite a file with a changed table."""

    def rewrite(path: Path) -> None:
        metadata = parquet.read_schema(path).metadata
        table = change(parquet.read_table(path), *values).replace_schema_metadata(metadata)
        parquet.write_table(table, path, **{"compression": "zstd", **how})

    return rewrite


def with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def with_options(table: pa.Table, count: int, rows: int = 0) -> pa.Table:
    table = needed(table, rows) if rows else table
    columns = {name: table[name] for name in table.column_names}
    return pa.table(columns | {f"option.x{number}": table["size_bytes"] for number in range(count)})


def with_lists(table: pa.Table) -> pa.Table:
    ends = pa.array(np.arange(len(table) + 1) * 10**5, pa.int32())
    return table.append_column("option.x", pa.ListArray.from_arrays(ends, pa.nulls(27 * 10**5, pa.int8())))


def with_structs(table: pa.Table) -> pa.Table:
    return table.append_column("option", pa.StructArray.from_arrays([table["size_bytes"].combine_chunks()], ["x"]))


def with_a_long_text(table: pa.Table) -> pa.Table:
    """One text of 30 MB in a dictionary, which a reader unpacks as a whole."""
    return with_column(table, "status", pa.array(["x" * (30 << 20), *table["status"].to_pylist()[1:]]))


def with_texts(table: pa.Table, length: int) -> pa.Table:
    return with_column(table, "trial_id", pa.array(["x" * length] * len(table)))


def of_parts(rows: list[int]) -> Callable[[Path], None]:
    """With row groups that say they have so many rows."""

    def change(footer: forged.Struct) -> None:
        (group, *_) = footer[forged.GROUPS][1][1]
        groups = [{**group, forged.GROUP_ROWS: (forged.I64, count)} for count in rows]
        footer[forged.GROUPS] = (forged.LIST, (forged.STRUCT, groups))

    return lambda path: forged.edit(path, change)


def saying(name: str, **fields: int) -> Callable[[Path], None]:
    """With a column that says otherwise of itself."""

    def change(footer: forged.Struct) -> None:
        about = forged.columns(footer)[name]
        for field, value in fields.items():
            number = getattr(forged, field)
            about[number] = (about.get(number, (forged.I64,))[0], value)

    return lambda path: forged.edit(path, change)


def in_place_of_another(path: Path) -> None:
    def change(footer: forged.Struct) -> None:
        columns = forged.columns(footer)
        for number in (forged.DATA_OFFSET, forged.PACKED, forged.DICTIONARY_OFFSET):
            columns["case_id"][number] = columns["status"][number]
            columns["trial_id"][number] = columns["status"][number]

    forged.edit(path, change)


def placed(*pages: bytes, name: str = "elapsed_s", **fields: int) -> Callable[[Path], None]:
    return lambda path: forged.place(path, name, b"".join(pages), **fields)


NUMBERS = b"\2\0\0\0\x36\1" + bytes(8 * 27)  # 27 values, none of which is missing
WHOLE = forged.page(NUMBERS, 27)
FLOOD = forged.page(bytes(40 << 20), 0)
FORGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "many rows": (made(needed, MOST_ROWS + 1), "1,048,577 rows of 11 columns: more than a run has"),
    "equal rows": (made(needed, 100_000), "100,000 rows of 11 columns: more than a run has in so many bytes"),
    "many columns": (made(with_options, 1000), "1,045 columns: at most 1,000"),
    "many cells": (made(with_options, 300, 20_000), "20,000 rows of 311 columns: more than a run has"),
    "lists": (made(with_lists), "is of a type that the lab does not write"),
    "structs": (made(with_structs), "column option.x is of a type that the lab does not write"),
    "a name twice": (made(lambda of: of.append_column("STATUS", of["size_bytes"])), "column STATUS is there twice"),
    **{codec: (made(pa.Table.slice, compression=codec), "the lab writes ZSTD") for codec in CODECS},
    "a long text": (made(with_a_long_text), "bytes where it is unpacked"),
    "long texts": (made(with_texts, 2 << 20, use_dictionary=False, data_page_size=1), "bytes where it is unpacked"),
    "repeated texts": (  # each text is the one before once more, which takes no byte
        made(with_texts, 10**6, use_dictionary=False, column_encoding={"trial_id": "DELTA_BYTE_ARRAY"}), "by encoding 7"
    ),
    "parts of more rows": (of_parts([2**40]), "has 27 rows, and 1,099,511,627,776 in its parts"),
    "parts again": (of_parts([27, 27]), "has 27 rows, and 54 in its parts"),
    "parts of fewer than no rows": (of_parts([2**40, 27 - 2**40]), "has 27 rows, and 27 in its parts"),
    "no parts": (of_parts([]), "has 27 rows, and 0 in its parts"),
    "one place for three": (in_place_of_another, "a column that stands where another one does"),
    "another codec": (saying("status", CODEC=2), "a column by GZIP"),
    "a place before the file": (saying("block_number", DATA_OFFSET=-8), "bytes at byte -8"),
    "a place behind the file": (saying("block_number", DATA_OFFSET=2**40), "a page without a header"),
    "a dictionary elsewhere": (saying("status", DICTIONARY_OFFSET=2**40), "a dictionary that does not stand before"),
    "a long column": (saying("status", PACKED=2**40), "a dictionary of"),
    "a short column": (saying("status", PACKED=20), "a page that is longer than its column"),
    "a gigabyte": (placed(forged.page(NUMBERS, 27, unpacked=1 << 30)), "bytes where it is unpacked"),
    "fewer than no bytes": (placed(forged.page(NUMBERS, 27, unpacked=-1)), "a page of -1 bytes"),
    "a flood": (placed(*[FLOOD] * 100, WHOLE), "bytes where it is unpacked"),
    "a hidden flood": (placed(*[FLOOD] * 100, WHOLE, packed=1000), "a page that is longer than its column"),
    "more values": (placed(forged.page(NUMBERS, 2**31 - 1)), "a column of 2,147,483,647 values for 27 rows"),
    "fewer values": (placed(forged.page(NUMBERS, 26)), "a column of 26 values for 27 rows"),
    "fewer than no values": (placed(forged.page(NUMBERS, -5), forged.page(NUMBERS, 32)), "and -5 values"),
    "a large dictionary": (placed(forged.page(NUMBERS, 10**9, kind=2), WHOLE), "a dictionary of 1,000,000,000"),
    "a second dictionary": (placed(WHOLE, forged.page(NUMBERS, 27, kind=2)), "a dictionary of 27 values for 27 rows"),
    "pages of another kind": (placed(forged.page(NUMBERS, 27, kind=3)), "a page without a header that the lab writes"),
    "an unknown encoding": (placed(forged.page(NUMBERS, 27, encoding=9)), "by encoding 9"),
    "no pages": (placed(b"\xff" * 100), "a page without a header that the lab writes"),
    "a deep header": (placed(b"\x1c" * 30_000), "a page without a header that the lab writes"),
    "an endless number": (placed(b"\x15" + b"\xff" * 30_000), "a page without a header that the lab writes"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_file_that_would_take_more_than_its_bytes_can_is_refused(engine: Engine, dataset: Dataset, name: str) -> None:
    forge, message = FORGED[name]
    forge(dataset.path / TRIALS)
    note_file(dataset, dataset.path / TRIALS)
    again = Dataset(dataset.path)
    with bounded(memory_bytes=128 << 20), pytest.raises(BadInput, match=r"run=run-0") as caught:
        again.check(again.register.files[0], whole=True)
    assert message in caught.value.message, caught.value.message


def test_a_footer_that_is_as_long_as_it_says_is_not_read(dataset: Dataset) -> None:
    path = dataset.path / TRIALS
    content = path.read_bytes()
    for length, more in ((2**31, b""), (len(content) + 1, b""), (0, b""), (8 << 20, bytes(8 << 20))):
        path.write_bytes(content[:-8] + more + length.to_bytes(4, "little") + b"PAR1")
        note_file(dataset, path, rows=27)
        again = Dataset(dataset.path)
        with bounded(memory_bytes=64 << 20), pytest.raises(BadInput, match="it does not end as one does"):
            again.check(again.register.files[0])


def test_as_many_rows_as_their_bytes_can_be_are_read_in_bounds(engine: Engine, dataset: Dataset) -> None:
    """Equal rows in a file that was made longer: what is within all limits costs what a large run costs."""
    path = dataset.path / TRIALS
    noise = pa.array(np.random.default_rng(1).random(MOST_ROWS // 4))
    made(lambda table: needed(table, MOST_ROWS // 4).append_column("option.x", noise))(path)
    note_file(dataset, path)
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    with bounded(30, MEMORY_BYTES):
        assert len(sweep.summary)
        assert len(sweep.some)


@pytest.mark.parametrize("name", ["run_id", "trial_id", "status"])
def test_a_shared_text_is_not_copied(dataset: Dataset, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """In the file it stands once, in its dictionary: of 100 kB, and as much noise, 400 MB would come."""
    path, rows = dataset.path / TRIALS, 4000
    noise = pa.array(np.random.default_rng(1).random(rows))
    first = parquet.read_table(path)[name][0].as_py() if name == "status" else "y" * 10**5
    texts = pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int32()), [first, "x" * 10**5])
    made(lambda table: with_column(needed(table, rows).append_column("option.x", noise), name, texts))(path)
    note_file(dataset, path)
    for words in (["show", "--json"], ["compare", "run-0", "run-1"]):
        with bounded(memory_bytes=MEMORY_BYTES):
            code, _, error = lab(capsys, "dataset", *words, "--dataset", str(dataset.path))
        wrong = f"a text of more than 1,600 bytes in {name}" in error or "more cases or text than any run" in error
        assert (code, wrong) in ((1, True), (0, False))
        assert wrong or name != "status" or words[0] == "show"


def test_one_file_is_not_read_many_times(engine: Engine, dataset: Dataset) -> None:
    """Neither named twice, nor by other names: of a megabyte a million links could be made."""
    register = dataset.path / "register.jsonl"
    lines = [json.loads(line) for line in register.read_text().splitlines()]
    other = dataset.path / TRIALS.replace("run-0", "run-9")
    other.hardlink_to(dataset.path / TRIALS)
    entry = {**lines[0], "run": {**lines[0]["run"], "run_id": "run-9"}}
    entry["files"] = [{**lines[0]["files"][0], "path": str(other.relative_to(dataset.path)), "first_block": 6}]
    register.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, entry]))
    with pytest.raises(BadInput, match="by another name"):
        Pooled(engine, Dataset(dataset.path), "synthetic")
    entry["files"][0]["path"] = TRIALS.replace("run=run-0", "run=RUN-0")
    register.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, entry]))
    with pytest.raises(BadInput, match=r"names trials/.*/run=run-0\.parquet twice"):
        Dataset(dataset.path)
