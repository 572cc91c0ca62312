"""A dataset with links, pipes and files of others in it: nothing beyond it is touched, and no file of others goes."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.commands import lab, must_end_within, refusal
from support.datasets import content_of, parquet_files

from lab.base import durable
from lab.base.errors import BadInput
from lab.dataset.add import add
from lab.dataset.compact import compact
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.register import TABLES
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")
SWEEP = "sweep=synthetic"


@pytest.fixture
def mine(tmp_path: Path, dataset: Dataset) -> Iterator[Path]:
    """A folder beyond the dataset, of files that are called as those of the lab, and are like them, too."""
    folder = tmp_path / "mine"
    shutil.copytree(dataset.path, folder / "copy")
    joined = f"{SWEEP}/joined=1-{'0' * 12}.parquet"
    for name in ("run=run-1.parquet", "sub/run=x.parquet", "measurements.parquet", joined):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(parquet_files(dataset)[0], folder / name)
    before = content_of(folder)
    yield folder
    assert content_of(folder) == before


def writers(another: RunFolder) -> list[list[str]]:
    return [["add", str(another.path)], ["compact"]]


@pytest.mark.parametrize("place", [*TABLES, *(f"{table}/{SWEEP}" for table in TABLES)])
@pytest.mark.parametrize("where", ["mine/copy/trials", "nowhere"])
def test_no_command_writes_or_removes_anything_behind_a_link(
    dataset: Dataset, another: RunFolder, mine: Path, capsys: pytest.CaptureFixture[str], place: str, where: str
) -> None:
    shutil.rmtree(dataset.path / place)
    (dataset.path / place).symlink_to(mine.parent / where)
    before = content_of(dataset.path)
    for words in writers(another):
        error = refusal(capsys, "dataset", *words, "--dataset", str(dataset.path))
        assert f"{dataset.path / place}: a link, or no folder: nothing is written or removed there" in error
        assert "move the whole folder of the dataset" in error
    assert content_of(dataset.path) == before
    if not place.startswith("observed"):  # which is read where tools were measured
        code, _, error = lab(capsys, "dataset", "show", "--dataset", str(dataset.path), "--table", "limits")
        assert (code, "is a link, and so not of the dataset" in error) == (2, True)


def test_a_dataset_that_is_itself_a_link_is_one(
    dataset: Dataset, another: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That is the folder that a person named, on a larger disk."""
    (tmp_path / "link").symlink_to(dataset.path)
    for words in writers(another):
        assert lab(capsys, "dataset", *words, "--dataset", str(tmp_path / "link"))[0] == 0
    assert [path.name for path in parquet_files(dataset) if not path.name.startswith("joined=")] == []


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("command", [add, compact])
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    dataset: Dataset, another: RunFolder, engine: Engine, mine: Path, monkeypatch: pytest.MonkeyPatch,
    command: Callable[..., object], table: str,
) -> None:  # fmt: skip
    swap = dataset.path / table / SWEEP
    enter = durable.Folder.enter

    def swapped(folder: durable.Folder, name: str, *remedy: str) -> durable.Folder:
        if folder.path / name == swap:
            shutil.rmtree(swap)
            swap.symlink_to(mine)
        return enter(folder, name, *remedy)

    with dataset.claimed():
        monkeypatch.setattr(durable.Folder, "enter", swapped)
        with pytest.raises(BadInput, match="a link, or no folder: nothing is written there"):
            add(dataset, another) if command is add else compact(engine, dataset)


def plug(path: Path, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # a name of such a file has 108 bytes at most
        server.bind(path.name)
        os.chdir(here)


def sparse(path: Path, _: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


PLANTS: dict[str, Callable[[Path, Path], object]] = {
    "pipe": lambda path, _: os.mkfifo(path),
    "plug": plug,
    "link": Path.symlink_to,
    "link to zeros": lambda path, _: path.symlink_to("/dev/zero"),
    "hard link": Path.hardlink_to,
    "folder": lambda path, _: path.mkdir(),
    "sparse": sparse,
}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", ["dataset.json", "register.jsonl", "cases.jsonl", f"trials/{SWEEP}/run=run-1.parquet"])
def test_no_file_of_a_dataset_is_read_or_written_through_what_is_planted(
    dataset: Dataset, another: RunFolder, mine: Path, capsys: pytest.CaptureFixture[str], name: str, plant: str
) -> None:
    (dataset.path / name).unlink()
    PLANTS[plant](dataset.path / name, mine / "copy" / name)
    with must_end_within(60):
        for words in [["show"], ["compact"], ["compare", "run-0", "run-1"], *writers(another)]:
            code, _, error = lab(capsys, "dataset", *words, "--dataset", str(dataset.path))
            if plant == "hard link" and words == ["compact"]:
                assert (dataset.path / name).exists() or code == 0
            elif plant != "hard link" and not (words[0] == "add" and name.startswith("trials")):
                assert (code, str(dataset.path) in error) == (2, True)


def test_only_files_of_the_lab_are_removed(dataset: Dataset, engine: Engine) -> None:
    """What crashes left goes: whole files that the register does not name, and such as were being written."""
    place = dataset.path / "trials" / SWEEP
    whole, noise = (place / "run=run-0.parquet").read_bytes(), b"PAR1 and mine"
    ours = {
        "run=left.parquet": whole, "run=left.1.parquet": whole, f"joined=4-{'a' * 12}.parquet": whole,
        f".run=left.parquet.{'b' * 12}": whole[:100], f".joined=4-{'a' * 12}.parquet.{'b' * 12}": b"",
    }  # fmt: skip
    theirs = {
        "2025.parquet": whole, "part-0.parquet": whole, "run=left.parquet.txt": whole, "joined=4.parquet": whole,
        "run=left.PARQUET": whole, "run=left.parquet~": whole, "arun=left.parquet": whole, "run=left\n.parquet": whole,
        ".run=left.parquet.swp": whole, "run=mine.parquet": noise, f".run=left.parquet.{'c' * 12}": b"mine",
        "notes.parquet.txt": b"mine", f".run=left.parquet.{'b' * 12}.txt": b"",
    }  # fmt: skip
    for name, content in (ours | theirs).items():
        (place / name).write_bytes(content)
    names = ("run=x.parquet", "trials/run=x.parquet", "mine/sweep=x/run=x.parquet")
    elsewhere = [dataset.path / name for name in names]
    for path in [*elsewhere, place / "sub" / "run=x.parquet", dataset.path / "trials" / "other" / "run=x.parquet"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(whole)
    (place / "run=folder.parquet").mkdir()
    (place / "run=link.parquet").symlink_to(elsewhere[0])
    with dataset.claimed():
        assert compact(engine, dataset) == (6, 3)
    remaining = {path.name for path in place.iterdir()}
    assert remaining & ours.keys() == set()
    assert remaining >= {*theirs, "sub", "run=folder.parquet", "run=link.parquet"}
    assert all(path.exists() for path in elsewhere)


def test_files_of_other_accounts_stay(dataset: Dataset, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    leftover = Path(shutil.copy(parquet_files(dataset)[0], dataset.path / "trials" / SWEEP / "run=left.parquet"))
    with dataset.claimed(), monkeypatch.context() as patched:
        patched.setattr("lab.dataset.compact.os.geteuid", lambda: os.getuid() + 1)
        compact(engine, dataset)
    assert leftover.exists()
    (dataset.path / "register.jsonl").unlink()  # nothing is removed without a register
    before, again = parquet_files(dataset), Dataset(dataset.path)
    with again.claimed():
        assert compact(engine, again) == (0, 0)
    assert parquet_files(dataset) == before


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "../mine/run=run-1.parquet", f"trials/{SWEEP}/../../../mine/run=run-1.parquet",
        f"observed/{SWEEP}/run=run-0.parquet", "trials/sweep=other/run=run-0.parquet", f"trials/{SWEEP}/mine.parquet",
        f"trials//{SWEEP}/run=run-0.parquet", f"trials/{SWEEP}/sub/run=run-0.parquet", f"trials/{SWEEP}/a\nb.parquet",
        f"trials/{SWEEP}/run=\u001b[2J.parquet", f"trials/{SWEEP}/run=run-0.parquet\n",
    ],
)  # fmt: skip
def test_a_register_names_files_of_its_tables_alone(
    dataset: Dataset, mine: Path, another: RunFolder, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    register = dataset.path / "register.jsonl"
    first, second = (json.loads(line) for line in register.read_text().splitlines())
    first["files"][0]["path"] = path
    register.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    for words in [["show"], ["compare", "run-0", "run-1"], *writers(another)]:
        error = refusal(capsys, "dataset", *words, "--dataset", str(dataset.path))
        assert "register.jsonl: line 1: path " in error
        assert "\x1b" not in error


def test_a_run_does_not_replace_the_files_of_another(dataset: Dataset, another: RunFolder) -> None:
    """Two ids may make one name: where a piece of a long run has its number, or where capitals are no difference."""
    before = content_of(dataset.path / "trials")
    (another.path / "run.json").write_text(json.dumps({**another.run, "id": "RUN-1"}))
    with dataset.claimed(), pytest.raises(BadInput, match="is there already, of a run whose id differs"):
        add(dataset, RunFolder(another.path))
    assert content_of(dataset.path / "trials") == before
