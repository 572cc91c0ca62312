"""The files of a contribution: what may be there, what contribution.json says of them, and what is unpacked."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.contributions import matching, texts

from lab.contribution import record
from lab.contribution.files import opened
from lab.results.packed_run import RUN, SAMPLES, TRIALS

pytestmark = pytest.mark.usefixtures("any_name")


@pytest.mark.parametrize("kept", [0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_found(folder: Path, kept: float) -> None:
    content = (folder / TRIALS).read_bytes()
    (folder / TRIALS).write_bytes(content[: int(kept * len(content))])
    flaws = texts(folder)
    for expected in (
        r"line \d+: it has no end: the file was cut off",
        r"line \d+: not a trial",
        "has [0-9,]+ bytes, and",
    ):
        assert matching(f"^{TRIALS}: {expected}", flaws)


def test_what_contribution_json_says_otherwise_is_found(folder: Path) -> None:
    content = json.loads((folder / record.NAME).read_text())
    content["medians"][0]["MB_per_s"] *= 1.001
    content["medians"][1]["n"] += 1
    content["hosts"]["client"]["cpu"] = "A faster one"
    lost = content["medians"].pop(2)
    (folder / record.NAME).write_text(json.dumps(content))
    flaws = texts(folder)
    assert len(flaws) == 4
    assert flaws[0] == f"{record.NAME}: hosts: not what run.json says of them"
    assert any(f"{lost['case_id']}: missing" in text for text in flaws)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 2}', "[" * 100_000, "\udcff", '{"schema": NaN}'])
def test_a_record_that_is_none_is_found(folder: Path, content: str) -> None:
    (folder / record.NAME).write_bytes(content.encode(errors="surrogateescape"))
    assert any(text.startswith(f"{record.NAME}: cannot be read: ") for text in texts(folder))


def without_samples(folder: Path) -> Path:
    (folder / SAMPLES).unlink()
    return folder / SAMPLES


def link(folder: Path, name: str) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda folder: link(folder, TRIALS), f"{TRIALS}: a link, which is not followed"),
    "a link to nowhere": (lambda folder: without_samples(folder).symlink_to("nowhere"), f"{SAMPLES}: a link"),
    "another file": (lambda folder: (folder / "hosts.ini").write_text("x"), "hosts.ini: no file of a contribution"),
    "a folder": (lambda folder: (folder / "report").mkdir(), "report: no file of a contribution"),
    "a pipe": (lambda folder: os.mkfifo(without_samples(folder)), f"{SAMPLES}: no ordinary file"),
    "a large file": (lambda folder: os.truncate(folder / RUN, 1 << 34), f"{RUN}: 17,179,869,184 bytes: at most"),
    "many files": (lambda folder: [(folder / f"{number}.x").write_text("") for number in range(200)],
        "contribution: more than 20 files"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_no_file_of_a_contribution_is_not_opened(folder: Path, name: str) -> None:
    plant, expected = PLANTED[name]
    plant(folder)
    flaws = texts(folder)
    assert any(text.startswith(expected) for text in flaws), flaws


def test_a_file_that_is_not_named_and_a_record_of_a_newer_lab_or_none_are_found(folder: Path, tmp_path: Path) -> None:
    content = json.loads((folder / record.NAME).read_text())
    del content["files"][SAMPLES]
    (folder / record.NAME).write_text(json.dumps(content))
    assert f"{SAMPLES}: not named in {record.NAME}" in texts(folder)
    (folder / record.NAME).write_text(json.dumps(content | {"schema": 9}))
    assert f"{record.NAME}: schema 9: this lab knows 1" in texts(folder)
    (folder / record.NAME).unlink()
    assert texts(folder) == [f"{record.NAME}: missing"]
    assert texts(tmp_path / "nowhere") == ["nowhere: cannot be read: No such file or directory"]


def pack(folder: Path, archive: Path, **more: bytes) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in folder.iterdir():
            if path.name not in more:
                packed.write(path, f"top/{path.name}")
        for name, content in more.items():
            packed.writestr(f"top/{name}", content)
    return archive


def test_a_packed_contribution_is_verified_too_and_a_bomb_is_not_unpacked(folder: Path, tmp_path: Path) -> None:
    with opened(pack(folder, tmp_path / "whole.zip")) as (place, wrong):
        assert (wrong, texts(place)) == ([], [])
    with opened(pack(folder, tmp_path / "bomb.zip", **{RUN: b" " * (9 << 20)})) as (place, wrong):
        assert [str(text) for text in wrong] == ["bomb.zip: not a packed run: run.json is larger than 8 MiB"]
    with opened(pack(folder, tmp_path / "out.zip", **{"../../evil": b"x"})) as (place, wrong):
        assert (wrong, texts(place)) == ([], [])  # of what else it holds nothing is taken
        assert sorted(path.name for path in place.iterdir()) == [record.NAME, RUN, SAMPLES, TRIALS]
    (tmp_path / "none.zip").write_bytes(b"PK")
    with opened(tmp_path / "none.zip") as (place, wrong):
        assert str(wrong[0]).startswith("none.zip: not a packed run: ")
