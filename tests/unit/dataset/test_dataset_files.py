"""What is in a dataset, that adding comes whole or not at all, and what is said of files that are not as they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.commands import lab
from support.datasets import Shape, write_runs
from support.paths import ROOT
from support.saved_runs import write_history

from lab.base.errors import BadInput, LabError
from lab.dataset import tables
from lab.dataset.add import add
from lab.dataset.engine import started
from lab.dataset.folder import Dataset, name_of
from lab.dataset.pooled import Pooled
from lab.results import export_table
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    return write_runs(tmp_path / "results", [Shape(seed=1, lost=0.1), Shape(seed=2, option="smb.signing")])


@pytest.fixture
def dataset(tmp_path: Path, runs: list[RunFolder]) -> Dataset:
    made = Dataset.at(tmp_path / "dataset")
    with made.claimed():
        for run in runs:
            add(made, run)
    return made


def effects(dataset: Dataset) -> int:
    with started() as engine:
        sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
        return len(sweep.summary) + len(sweep.effects)


def files(dataset: Dataset) -> list[Path]:
    return sorted(dataset.path.rglob("*.parquet"))


def test_a_file_has_the_columns_and_values_of_an_exported_table(dataset: Dataset, runs: list[RunFolder]) -> None:
    exported = export_table.table([runs[1]]).set_index("trial_id")
    trials = parquet.read_table(dataset.path / "trials" / "sweep=synthetic" / "run=run-1.parquet").to_pandas()
    observed = parquet.read_table(dataset.path / "observed" / "sweep=synthetic" / "run=run-1.parquet").to_pandas()
    own = set(tables.OWN)
    assert own < set(trials)
    assert (set(trials) - own) | set(observed) == set(exported) | {"trial_id"}
    in_order = [tuple(row) for row in trials[["case_number", "block_number", "position"]].to_numpy().tolist()]
    assert in_order == sorted(in_order)
    for name in ("elapsed_s", "mtu_bytes", "option.smb.signing", "effective.mount", "client_cpu", "case_id"):
        ours = trials.set_index("trial_id")[name].sort_index()
        theirs = exported[name].sort_index()
        assert ours.isna().tolist() == theirs.isna().tolist(), name
        assert ours.dropna().tolist() == theirs.dropna().tolist(), name
    watched = observed.set_index("trial_id")["observed.client.cpu_cores"].sort_index()
    assert watched.tolist() == exported["observed.client.cpu_cores"].dropna().sort_index().tolist()
    metadata = parquet.read_schema(files(dataset)[0]).metadata
    assert (metadata[b"dataset_schema"], metadata[b"schema"]) == (b"1", b"2")


def test_blocks_of_a_sweep_are_numbered_over_its_runs_and_cases_over_the_dataset(dataset: Dataset) -> None:
    numbers = [parquet.read_table(file)["block_number"].unique().to_pylist() for file in files(dataset)[2:]]
    assert [sorted(some) for some in numbers] == [[0, 1, 2], [3, 4, 5]]
    levels = dataset.register.cases
    assert len({json.dumps(one, sort_keys=True) for one in levels}) == len(levels)
    assert sum("smb.signing" in one for one in levels) == 4  # at its default it is the case of the run without it


def test_adding_twice_is_once_and_other_trials_of_the_same_run_are_refused(
    dataset: Dataset, runs: list[RunFolder]
) -> None:
    before = {path: path.read_bytes() for path in files(dataset)}
    with dataset.claimed():
        assert not add(dataset, runs[0])
        lines = runs[0].trials_path.read_bytes().splitlines(keepends=True)
        runs[0].trials_path.write_bytes(b"".join(lines[:-1]))
        with pytest.raises(BadInput, match=r"run run-0 is in .* already, with other trials"):
            add(dataset, runs[0])
    assert {path: path.read_bytes() for path in files(dataset)} == before
    assert list(Dataset(dataset.path).register.runs) == ["run-0", "run-1"]


def test_a_run_that_goes_on_is_added_only_where_that_is_asked_for(tmp_path: Path) -> None:
    [run] = write_runs(tmp_path / "results", [Shape(seed=1)], finished_at=None)
    dataset = Dataset.at(tmp_path / "dataset")
    with dataset.claimed():
        with pytest.raises(BadInput, match="not finished"):
            add(dataset, run)
        assert add(dataset, run, with_unfinished=True)


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from lab.dataset.add import add
from lab.dataset.folder import Dataset
from lab.results.run_folder import RunFolder
import pyarrow.parquet
dataset, run, copies = map(Path, sys.argv[1:])
real = os.fsync
for allowed in range(40):
    shutil.copytree(dataset, copies / f"{allowed:02}")
    if not (child := os.fork()):
        calls = 0
        def fsync(descriptor):
            global calls
            calls += 1
            if calls > allowed:
                os.kill(os.getpid(), signal.SIGKILL)
            real(descriptor)
        os.fsync = fsync
        copy = Dataset(copies / f"{allowed:02}")
        with copy.claimed():
            add(copy, RunFolder(run))
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def test_killed_at_any_fsync_the_dataset_is_as_it_was_or_has_all(dataset: Dataset, tmp_path: Path) -> None:
    [more] = write_runs(tmp_path / "more", [Shape(seed=3, tools=("rsync",))])
    (more.path / "run.json").write_text(json.dumps({**more.run, "id": "run-2"}))
    before, every = effects(dataset), ["run-0", "run-1", "run-2"]
    (tmp_path / "copies").mkdir()
    words = [sys.executable, "-c", KILLED, *map(str, (dataset.path, more.path, tmp_path / "copies"))]
    subprocess.run(words, cwd=ROOT, check=True)
    copies = sorted((tmp_path / "copies").iterdir())
    assert len(copies) > 6
    assert list(Dataset(copies[-1]).register.runs) == every
    whole = effects(Dataset(copies[-1]))
    assert whole > before
    for copy in copies[:-1]:
        again = Dataset(copy)
        is_there = list(again.register.runs) == every
        assert effects(again) == (whole if is_there else before)
        with again.claimed():
            assert add(again, RunFolder(more.path)) != is_there
        assert list(Dataset(copy).register.runs) == every
        assert effects(again) == whole


def test_a_full_disk_leaves_the_dataset_as_it_was(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [more] = write_runs(tmp_path / "more", [Shape(seed=3)])
    (more.path / "run.json").write_text(json.dumps({**more.run, "id": "run-2"}))
    before = {path: path.read_bytes() for path in dataset.path.rglob("*") if path.is_file()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with dataset.claimed(), pytest.raises(OSError, match=r"No space left on device: .*(cases|run=run-2)"):
            add(dataset, RunFolder(more.path))
    assert {path: path.read_bytes() for path in dataset.path.rglob("*") if path.is_file()} == before


def test_what_was_written_before_the_disk_was_full_goes(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [more] = write_runs(tmp_path / "more", [Shape(seed=3)])
    (more.path / "run.json").write_text(json.dumps({**more.run, "id": "run-2"}))
    before, write = files(dataset), tables.write

    def full(table: pa.Table, path: Path) -> int:
        if "observed" in path.parts:
            raise OSError(28, "No space left on device", str(path))
        return write(table, path)

    monkeypatch.setattr("lab.dataset.add.write", full)
    with dataset.claimed(), pytest.raises(OSError, match="No space left"):
        add(dataset, RunFolder(more.path))
    assert files(dataset) == before


def rewrite(path: Path, table: pa.Table, **about: str) -> None:
    changed = {key.encode(): value.encode() for key, value in about.items()}
    metadata = {**(parquet.read_schema(path).metadata or {}), **changed}
    parquet.write_table(table.replace_schema_metadata(metadata), path)


def note_size(dataset: Dataset, path: Path) -> None:
    """Have the register say that a forged file is what was written."""
    register = dataset.path / "register.jsonl"
    lines = [json.loads(line) for line in register.read_text().splitlines()]
    for file in (file for line in lines for file in line.get("files", ())):
        if dataset.path / file["path"] == path:
            file["size_bytes"] = path.stat().st_size
    register.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def other_schema(path: Path) -> None:
    rewrite(path, parquet.read_table(path), dataset_schema="7")


def fewer_rows(path: Path) -> None:
    rewrite(path, parquet.read_table(path).slice(1))


def no_column(path: Path) -> None:
    rewrite(path, parquet.read_table(path).drop_columns(["elapsed_s"]))


def other_type(path: Path) -> None:
    table = parquet.read_table(path)
    place = table.column_names.index("elapsed_s")
    rewrite(path, table.set_column(place, "elapsed_s", pa.array(["1"] * len(table))))


def unknown_case(path: Path) -> None:
    table = parquet.read_table(path)
    rewrite(path, table.set_column(0, "case_number", pa.array([10**6] * len(table), pa.int32())))


def unknown_block(path: Path) -> None:
    table = parquet.read_table(path)
    rewrite(path, table.set_column(1, "block_number", pa.array([-5] * len(table), pa.int32())))


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (truncate, "not a whole file of Parquet"),
        (zero, "not a whole file of Parquet"),
        (other_schema, "is of schema 7 of a dataset, not of 1"),
        (fewer_rows, "rows, and had"),
        (no_column, "column elapsed_s is missing: should be double"),
        (other_type, "column elapsed_s is string: should be double"),
        (unknown_case, "case_number 1000000: no run that was added has it"),
        (unknown_block, "block_number -5: no run that was added has it"),
        (a_link, "is a link"),
        (Path.unlink, "No such file"),
    ],
)
def test_a_file_that_is_not_what_it_was_is_named(dataset: Dataset, spoil: object, said: str, noted: bool) -> None:
    path = dataset.path / "trials" / "sweep=synthetic" / "run=run-1.parquet"
    spoil(path)  # type: ignore[operator]
    if noted and path.exists():
        note_size(dataset, path)
    elif spoil not in (zero, a_link, Path.unlink):
        said = "bytes, and had"
    with pytest.raises(LabError) as caught:
        effects(dataset)
    assert said in str(caught.value)
    assert "run=run-1.parquet" in str(caught.value)
    assert "lab dataset add" in caught.value.remedy


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"run":{"run_id":1}}', "not of a dataset"),
        ('{"files":[{"table":"trials","sweep":"synthetic","path":"../../etc/passwd","rows":1,"size_bytes":1,'
         '"first_block":0,"blocks":1}]}', "not inside of the dataset"),
        ("[" * 100_000, "not of a dataset"),
    ],
)  # fmt: skip
def test_a_register_that_no_lab_wrote_is_refused(dataset: Dataset, line: str, said: str) -> None:
    with (dataset.path / "register.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadInput, match=said):
        effects(dataset)


def test_half_a_line_of_the_register_is_none_and_the_next_run_is_added(dataset: Dataset, tmp_path: Path) -> None:
    register = dataset.path / "register.jsonl"
    lines = register.read_bytes().splitlines(keepends=True)
    register.write_bytes(lines[0] + lines[1][:50])
    again = Dataset(dataset.path)
    assert list(again.register.runs) == ["run-0"]
    with again.claimed():
        assert add(again, RunFolder(sorted((tmp_path / "results").iterdir())[1]))
    assert list(Dataset(dataset.path).register.runs) == ["run-0", "run-1"]


@pytest.mark.parametrize("name", ["../../x", "a/b", "Ünder the sea", "x" * 5000, "..", "*", "a[1]"])
def test_any_name_of_a_sweep_and_a_run_is_a_name_of_a_file(tmp_path: Path, name: str) -> None:
    assert "/" not in name_of(name)
    assert len(name_of(name)) < 200
    [run] = write_runs(tmp_path / "results", [Shape(seed=1)])
    (run.path / "run.json").write_text(json.dumps({**run.run, "id": name[:1000], "name": name[:1000]}))
    dataset = Dataset.at(tmp_path / "data[set]*")
    with dataset.claimed():
        assert add(dataset, RunFolder(run.path))
    with started() as engine:
        assert len(Pooled(engine, dataset, name[:1000]).effects)


def test_the_commands_add_show_and_join(
    runs: list[RunFolder], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lab(capsys, "dataset", "show")[0] == 2
    code, out, _ = lab(capsys, "dataset", "add", *(str(run.path) for run in runs))
    assert (code, out.splitlines()) == (0, [str(run.path) for run in runs])
    code, out, err = lab(capsys, "dataset", "add", str(runs[0].path))
    assert (code, out) == (0, "")
    assert "is there already" in err
    code, out, _ = lab(capsys, "dataset", "show")
    assert code == 0
    assert "sweep synthetic · 2 runs" in out
    assert "SYNTHETIC" in out
    code, out, _ = lab(capsys, "dataset", "compact")
    assert (code, out) == (0, "4 files before, 2 now\n")
    code, out, _ = lab(capsys, "dataset", "show", "--json")
    [told] = json.loads(out)
    assert (told["sweep"], told["runs"], told["blocks"]) == ("synthetic", 2, 6)
    assert told["effects"][0]["factor"] == "protocol"
    code, _, err = lab(capsys, "dataset", "show", "other")
    assert code == 2
    assert "has no run of the sweep other: it has synthetic" in err


def test_a_run_is_compared_by_the_beginning_of_its_id(dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--dataset", str(dataset.path)]
    code, out, _ = lab(capsys, "dataset", "compare", "run-0", "run-1", *place)
    assert code == 0
    assert "run-1 over run-0" in " ".join(out.split())
    assert "AFP cp write" in out
    [told] = json.loads(lab(capsys, "dataset", "compare", "run-0", "run-1", "--json", *place)[1])
    assert (told["run"], told["pooled"][0]["protocol"]) == ("run-1", "afp")
    code, _, err = lab(capsys, "dataset", "compare", "run-0", *place)
    assert code == 2
    assert "compared with nothing" in err


def test_a_folder_of_something_else_is_no_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = lab(capsys, "dataset", "add", "example", "--dataset", str(tmp_path))
    assert code == 2
    assert "holds something else than a dataset" in err
    (tmp_path / "dataset.json").write_text('{"schema": 99}')
    code, _, err = lab(capsys, "dataset", "show", "--dataset", str(tmp_path))
    assert code == 2
    assert "is newer than this lab's" in err


def test_without_its_packages_it_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "duckdb" else object())
    code, _, err = lab(capsys, "dataset", "add", "example", "--dataset", str(tmp_path / "dataset"))
    assert code == 2
    assert "needs duckdb, which is not installed" in err
    assert "pip install file-share-lab[dataset]" in err


def test_runs_of_two_places_are_said_to_be_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        [run] = write_runs(tmp_path / str(number), [Shape(seed=number)], title=f"place {number}", instance=None)
        (run.path / "run.json").write_text(json.dumps({**run.run, "id": str(number)}))
        assert lab(capsys, "dataset", "add", str(run.path))[0] == 0
    code, out, _ = lab(capsys, "dataset", "show", "--table", "speeds")
    assert code == 0
    assert "not all of one place: what differs between them is in the numbers" in " ".join(out.split())
    assert "place 2" in out
    assert "5 places" in out
    assert "place 3" not in out


def test_a_history_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = write_history(tmp_path / "results", [*[1.0] * 9, *[0.8] * 9])
    for number, run in enumerate(runs):
        (run.path / "run.json").write_text(json.dumps({**run.run, "id": str(number)}))
    assert lab(capsys, "dataset", "add", *(str(run.path) for run in runs))[0] == 0
    code, out, _ = lab(capsys, "dataset", "history", "nas")
    assert code == 0
    assert "write fell by" in out
    assert "Changed then and only then" not in out
