"""A recorded folder: the sizes and the structure of its source, and nothing of a name."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from lab.base.errors import BadInput
from lab.cli.main import main
from lab.design.manifest import read_manifest
from lab.workloads.recording import record


@pytest.fixture
def source(tmp_path: Path) -> Path:
    top = tmp_path / "secret source"
    for number in range(40):
        folder = top / f"album {number % 7}" / ("deep" if number % 3 else ".")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"me-and-you-{number}.jpg").write_bytes(os.urandom(1 + 997 * number))
    (top / "empty folder").mkdir()
    (top / "nothing").touch()
    (top / os.fsdecode(b"latin-\xe9")).write_bytes(b"x" * 77)
    (top / "link").symlink_to("/etc/passwd")
    (top / "up").symlink_to("..")
    os.mkfifo(top / "pipe")
    return top


def test_it_is_compared_with_its_source(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workload", "record", str(source), str(tmp_path / "tree.txt")]) == 0
    printed = capsys.readouterr()
    manifest = read_manifest(tmp_path / "tree.txt")
    find = ["find", str(source), "-type", "f", "-printf", "%s %d\n"]  # the lab does not use it
    listed = subprocess.run(find, capture_output=True, check=True, text=True)
    recorded = Counter(f"{file.size_bytes} {file.path.count('/') + 1}" for file in manifest.files)
    assert recorded == Counter(listed.stdout.splitlines())
    folders = subprocess.run(["find", source, "-mindepth", "1", "-type", "d"], capture_output=True, check=True)
    assert len(manifest.folders) == len(folders.stdout.splitlines())
    by_folder = Counter(Counter(file.path.rpartition("/")[0] for file in manifest.files).values())
    of_source = Counter(
        sum(path.is_file() and not path.is_symlink() for path in folder.iterdir())
        for folder in [source, *(path for path in source.rglob("*") if path.is_dir() and not path.is_symlink())]
    )
    assert by_folder == Counter({count: times for count, times in of_source.items() if count})
    assert f"tree.txt: 42 files of {manifest.size_bytes:,} bytes in" in printed.out
    assert [f"left out: {left_out}" in printed.err for left_out in ("1 pipes", "2 symbolic links")] == [True, True]


def test_nothing_of_a_name_is_in_it(source: Path, tmp_path: Path) -> None:
    main(["workload", "record", str(source), str(tmp_path / "tree.txt")])
    text = (tmp_path / "tree.txt").read_text()
    for word in ("secret", "album", "me-and", "jpg", "latin", "empty", "passwd", "deep"):
        assert word not in text
    names = {file.path for file in record(source)[0].files}
    assert names.isdisjoint(file.path for file in record(source)[0].files)  # the key of each recording is its own


def test_what_is_no_folder_with_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    for name, why in {"none": "no such folder", "file": "not a folder", "empty": "holds no file"}.items():
        with pytest.raises(BadInput, match=why):
            record(tmp_path / name)
    (tmp_path / "empty" / "x").write_text("x")
    (tmp_path / "there").write_text("mine")
    assert main(["workload", "record", str(tmp_path / "empty"), str(tmp_path / "there")]) == 1
    assert "there" in capsys.readouterr().err
    assert (tmp_path / "there").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads all")
def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "file").write_text("x")
    assert record(tmp_path)[1] == {"folders that cannot be read": 1}
