"""Files of a dataset, nearly right: each command reads them or refuses them with a message, in bounded time."""

import io
import json
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.datasets import Shape, dataset_of, note_file, parquet_files, tool_trials, write_runs
from support.examples import bounded, in_one_folder, mutated
from support.runs_to_compare import write_history
from support.synthetic_runs import write_run

from lab.cli import main as cli
from lab.dataset.folder import Dataset

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
FEW, MORE = in_one_folder(10), in_one_folder(6)
COMMANDS = (
    ["show"], ["show", "--json"], ["show", "--table", "limits"], ["show", "--table", "requests"], ["history", "nas"],
    ["compare", "run-0", "run-1"], ["compact"],
)  # fmt: skip
TEXTS = ["", "ok", "void", "other", "\x1b[2J", "\0", "x" * 5000, "9" * 400, "–", "run-1", "b1-1", "certain", "=1+1"]
WHOLES = [-1, 0, 1, 10**6, 2**31 - 1, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
FRACTIONS = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.5, 5e-324, 1e308, -1e308]


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of three sweeps: two runs of cases, one of tools, and a history."""
    folder = tmp_path_factory.mktemp("original")
    runs = write_runs(folder / "results", [Shape(seed=1, lost=0.2), Shape(seed=2, option="smb.signing", shots=1)])
    runs.append(write_run(folder / "tools", tool_trials(7, 2), name="tools", id="of-tools"))
    runs += write_history(folder / "history", [1.0, 0.8])
    dataset_of(folder / "dataset", runs)
    return folder / "dataset"


def use(original: Path, place: Path) -> Path:
    """A fresh copy of the dataset for an example."""
    shutil.rmtree(place, ignore_errors=True)
    return shutil.copytree(original, place)


def run_any(draw: Any, folder: Path) -> None:
    """A drawn command ends in bounds: with exit code 0, or with a message."""
    words = draw(st.sampled_from(COMMANDS))
    with bounded(), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        code = cli.main(["dataset", *words, "--dataset", str(folder)])
    message = errors.getvalue()
    assert code in (0, 1, 2)
    assert (code == 0) == (not message), message
    assert "Traceback" not in message
    assert len(message) < 5000
    assert "\x1b[2J" not in message + out.getvalue()


@pytest.mark.parametrize("name", ["dataset.json", "register.jsonl", "cases.jsonl"])
@FEW
@given(data=st.data())
def test_a_file_of_lines(original: Path, tmp_path: Path, name: str, data: st.DataObject) -> None:
    folder = use(original, tmp_path / "dataset")
    (folder / name).write_bytes(data.draw(mutated([(folder / name).read_bytes()])))
    run_any(data.draw, folder)


@pytest.mark.parametrize("name", ["register.jsonl", "cases.jsonl"])
@MORE
@given(data=st.data())
def test_a_key_of_a_line(original: Path, tmp_path: Path, name: str, data: st.DataObject) -> None:
    """A key is missing, unknown, or has a value of another type."""
    folder = use(original, tmp_path / "dataset")
    lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    node: Any = data.draw(st.sampled_from(lines))
    while inner := [value for value in (node.values() if isinstance(node, dict) else node)
                    if value and type(value) in (dict, list)]:  # fmt: skip
        if data.draw(st.booleans()):
            break
        node = data.draw(st.sampled_from(inner))
    value: Any = data.draw(st.sampled_from([None, True, {}, [], "", *TEXTS, *WHOLES, 0.5, [[]], "\ud800"]))
    key = data.draw(st.sampled_from([*node, "unknown", "smb.other"] if isinstance(node, dict) else range(len(node))))
    if data.draw(st.booleans()):
        node[key] = value
    elif key in node or isinstance(node, list):
        del node[key]
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run_any(data.draw, folder)


def use_with_table(original: Path, place: Path, draw: Any) -> tuple[Path, Path]:
    """A copy of the dataset, and one of its Parquet files."""
    names = [path.relative_to(original) for path in parquet_files(Dataset(original))]
    folder = use(original, place)
    return folder, folder / draw(st.sampled_from(names))


def changed(draw: Any, table: Any) -> Any:
    """A table with a column missing, renamed, of another type, or with other values."""
    name = draw(st.sampled_from(table.column_names))
    place, column = table.column_names.index(name), table[name].combine_chunks()
    kind = draw(st.sampled_from(["values", "values", "values", "type", "missing", "name", "rows", "order"]))
    if kind == "missing":
        return table.remove_column(place)
    if kind == "name":
        names = [*table.column_names[:place], draw(st.sampled_from(TEXTS)), *table.column_names[place + 1 :]]
        return table.rename_columns(names)
    if kind in ("rows", "order"):
        rows = range(len(table))
        some = st.permutations(rows) if kind == "order" or not rows else st.lists(st.sampled_from(rows), max_size=50)
        return table.take(pa.array(draw(some), pa.int64()))
    if kind == "type":
        values = draw(st.sampled_from([["x"], [1], [0.5], [True], [[1]], [{"a": 1}], [None], [b"x"]]))
        return table.set_column(place, name, pa.array(values * len(table)))
    return table.set_column(place, name, pa.array(_spoilt(draw, column.to_pylist(), column.type), column.type))


def _spoilt(draw: Any, values: Sequence[Any], kind: Any) -> list[Any]:
    of_kind: dict[str, Sequence[Any]] = {"string": TEXTS, "double": FRACTIONS, "bool": [True, False]}
    others: list[Any] = [None, *of_kind.get(str(kind), WHOLES)]
    if str(kind) == "int32":
        others = [value for value in others if value is None or -(2**31) <= value < 2**31]
    if str(kind).startswith("timestamp"):
        others = [None, 0, 2**62]
    other, every = draw(st.sampled_from(others)), draw(st.booleans())
    place = draw(st.integers(0, len(values) - 1)) if values else 0
    return [other if every or number == place else value for number, value in enumerate(values)]


@MORE
@given(data=st.data())
def test_a_table(original: Path, tmp_path: Path, data: st.DataObject) -> None:
    folder, path = use_with_table(original, tmp_path / "dataset", data.draw)
    table = parquet.read_table(path)
    spoilt = changed(data.draw, table).replace_schema_metadata(table.schema.metadata)
    parquet.write_table(spoilt, path, compression="zstd")
    note_file(Dataset(folder), path)
    run_any(data.draw, folder)


@FEW
@given(data=st.data())
def test_bytes_of_a_table(original: Path, tmp_path: Path, data: st.DataObject) -> None:
    folder, path = use_with_table(original, tmp_path / "dataset", data.draw)
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=5)):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    run_any(data.draw, folder)
