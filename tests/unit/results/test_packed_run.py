"""Zip files of runs that may be anybody's: their files are taken by name, each up to a size, and nothing else."""

from __future__ import annotations

import gc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.web_site import Site, content_of, zipped

from lab.base.errors import BadInput
from lab.results import open_run, packed_run
from lab.results.fetched_run import Fetched
from lab.results.run_folder import RunFolder


def refusal(name: str | Path) -> str:
    with pytest.raises(BadInput) as raised:
        open_run(name)
    return str(raised.value)


def test_nothing_but_the_files_of_a_run_is_taken_from_a_zip_file(tmp_path: Path, run: RunFolder) -> None:
    others = dict.fromkeys(
        ("../escaped", "/tmp/h-escaped", "commands.log", "journal.jsonl", "report/run.json", "a/b/run.json"), b"x"
    )
    others.pop("report/run.json")
    (tmp_path / "one.zip").write_bytes(zipped(content_of(run) | others))
    opened = open_run(tmp_path / "one.zip")
    assert {path.name for path in opened.path.iterdir()} == set(content_of(run))
    assert not (tmp_path / "escaped").exists()
    assert {path.name for path in opened.path.parent.iterdir()} == {"run"}


def test_a_link_in_a_zip_file_is_a_file_that_is_no_run(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("run.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("trials.jsonl", "")
    assert "run.json: cannot be read" in refusal(tmp_path / "one.zip")


def bomb(files: dict[str, bytes]) -> bytes:
    return zipped(files | {"trials.jsonl": b"0" * (packed_run.MOST_BYTES["trials.jsonl"] + 1)})


def many(files: dict[str, bytes]) -> bytes:
    return zipped(files | {f"file-{number}": b"" for number in range(packed_run.MOST_LISTED)})


def two_ends(files: dict[str, bytes]) -> bytes:
    return zipped(files) + zipped(files)


def two_runs(files: dict[str, bytes]) -> bytes:
    return zipped({f"{folder}/{name}": content for folder in "ab" for name, content in files.items()})


def without_trials(files: dict[str, bytes]) -> bytes:
    return zipped({"run.json": files["run.json"], "elsewhere/trials.jsonl": files["trials.jsonl"]})


def by_lzma(files: dict[str, bytes]) -> bytes:
    return zipped(files, zipfile.ZIP_LZMA)


def cut(files: dict[str, bytes]) -> bytes:
    return zipped(files)[:-30]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (bomb, "trials.jsonl is larger than 64 MiB"),
        (many, "it lists more than 1000 files"),
        (two_ends, "it does not end as a zip file does"),
        (two_runs, "it holds 2 run.json"),
        (without_trials, "it holds no trials.jsonl beside run.json"),
        (by_lzma, "packed by an unusual method"),
        (cut, "it does not end as a zip file does"),
        (lambda files: b"", "it does not end as a zip file does"),
        (lambda files: b"<html>", "it does not end as a zip file does"),
    ],
)
def test_a_zip_file_that_is_no_run_is_refused(
    site: Site, run: RunFolder, spoil: Callable[[dict[str, bytes]], bytes], why: str
) -> None:
    site.serve("/one.zip", spoil(content_of(run)))
    message = refusal(f"{site.address}/one.zip")
    assert f"{site.address}/one.zip: not a packed run: " in message
    assert why in message


def test_a_large_zip_file_is_refused_by_its_path(tmp_path: Path) -> None:
    with (tmp_path / "one.zip").open("wb") as file:
        file.truncate(packed_run.MOST_ZIP_BYTES + 1)
    assert "larger than 64 MiB" in refusal(tmp_path / "one.zip")


def test_nothing_is_left_of_what_was_refused(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    site.serve("/one.zip", b"<html>")
    with pytest.raises(BadInput):
        Fetched(f"{site.address}/one.zip")
    gc.collect()
    assert list(tmp_path.iterdir()) == []
