"""Zip files of runs that may be anybody's: their files are taken by name, each up to a size, and nothing else."""

import contextlib
import gc
import io
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.web_site import Site, content_of, refusal, zipped

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_FILE_BYTES
from lab.results import open_run, packed_run
from lab.results.fetched_run import Fetched
from lab.results.run_folder import RunFolder

Spoil = Callable[[dict[str, bytes]], bytes]


def test_nothing_but_the_files_of_a_run_is_taken_from_a_zip_file(tmp_path: Path, run: RunFolder) -> None:
    others = ("../escaped", "/escaped", "commands.log", "journal.jsonl", "a/b/run.json")
    (tmp_path / "one.zip").write_bytes(zipped(content_of(run) | dict.fromkeys(others, b"x")))
    opened = open_run(tmp_path / "one.zip")
    assert {path.name for path in opened.path.iterdir()} == set(content_of(run))
    assert not (tmp_path / "escaped").exists()
    assert {path.name for path in opened.path.parent.iterdir()} == {"run"}


def test_a_link_in_a_zip_file_is_no_run_and_a_large_zip_file_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("run.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("trials.jsonl", "")
    assert "run.json: cannot be read" in refusal(tmp_path / "one.zip")
    with (tmp_path / "one.zip").open("wb") as file:
        file.truncate(packed_run.MOST_ZIP_BYTES + 1)
    assert "larger than 64 MiB" in refusal(tmp_path / "one.zip")


def bomb(files: dict[str, bytes]) -> bytes:
    return zipped(files | {"trials.jsonl": b"0" * (packed_run.MOST_BYTES["trials.jsonl"] + 1)})


def many(files: dict[str, bytes]) -> bytes:
    return zipped(files | {f"file-{number}": b"" for number in range(packed_run.MOST_LISTED)})


def encrypted(files: dict[str, bytes]) -> bytes:
    packed = bytearray(zipped(files))
    for signature, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        packed[packed.index(signature) + place] |= 1
    return bytes(packed)


def doubled(files: dict[str, bytes]) -> bytes:
    return zipped(files | {"trials.jsonX": b"another"}).replace(b"trials.jsonX", b"trials.jsonl")


def sized(packed: bytes, change: Callable[[list[int]], object]) -> bytes:
    """With other numbers in the last record: disks, entries here and in all, bytes and start of the list, comment."""
    start = packed.rindex(b"PK\5\6")
    numbers = list(struct.unpack_from("<4x4H2IH", packed, start))
    change(numbers)
    return packed[:start] + b"PK\5\6" + struct.pack("<4H2IH", *numbers) + packed[start + 22 :]


def lying(**lies: int) -> Spoil:
    places = {"disk": 0, "here": 2, "listed": 3, "list_bytes": 4, "list_start": 5, "comment": 6}

    def lie(numbers: list[int]) -> None:
        for name, by in lies.items():
            numbers[places[name]] += by

    return lambda files: sized(zipped(files), lie)


def by_zip64(files: dict[str, bytes], count: int = 0) -> bytes:
    """A list that is as long as it likes, by ZIP64, behind which the old record is that of a small zip file."""
    packed = zipped(files)
    start = packed.rindex(b"PK\5\6")
    *_, listed, list_bytes, list_start, _ = struct.unpack_from("<4x4H2IH", packed, start)
    more = struct.pack("<4s4B4H3L5H2L", b"PK\1\2", *[20, 0] * 2, *[0] * 4, *[0] * 3, *[0] * 5, 0, 0) * count
    entries = (listed + count, listed + count, list_bytes + len(more), list_start)
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, *entries)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, start + len(more), 1)
    moved_start = len(packed) + len(more) + 54 - list_bytes
    honest = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, listed, listed, list_bytes, moved_start, 0)
    return packed[:start] + more + record + locator + honest


def far_away(files: dict[str, bytes]) -> bytes:
    """A file that begins, by an extra field of ZIP64, where no file of any system can."""
    packed = bytearray(zipped(files))
    start = packed.index(b"PK\1\2")
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    packed[start + 30 : start + 32] = struct.pack("<H", len(extra))
    packed[start + 42 : start + 46] = b"\xff" * 4
    place = start + 46 + len("run.json")
    packed[place:place] = extra
    return sized(bytes(packed), lambda numbers: numbers.__setitem__(4, numbers[4] + len(extra)))


@pytest.mark.parametrize(("spoil", "why"), [
    (bomb, "trials.jsonl is larger than 64 MiB"),
    (lambda files: bomb(files | {"run.json": b" " * (MOST_FILE_BYTES + 1)}), "run.json is larger than"),
    (lambda files: zipped(files, zipfile.ZIP_STORED).replace(b"trial_id", b"Trial_id", 1), "Bad CRC-32"),
    (many, "it lists more than 1000 files"),
    (lambda files: zipped(files) + zipped(files), "it does not end as a zip file does"),
    (lambda files: zipped({f"{folder}/{name}": content for folder in "ab" for name, content in files.items()}),
     "it holds 2 run.json"),
    (lambda files: zipped({"run.json": b"{}", "elsewhere/trials.jsonl": files["trials.jsonl"]}),
     "it holds no trials.jsonl beside run.json"),
    (lambda files: zipped({"run.json": b"{}"}), "it holds no trials.jsonl beside run.json"),
    (lambda files: zipped(files, zipfile.ZIP_LZMA), "packed by an unusual method"),
    (lambda files: zipped(files, zipfile.ZIP_BZIP2), "packed by an unusual method"),
    (encrypted, "is encrypted"),
    (doubled, "it holds trials.jsonl twice"),
    (by_zip64, "its last record is of ZIP64"),
    (lambda files: by_zip64(files, 300_000), "its last record is of ZIP64"),
    (far_away, "run.json begins behind the end"),
    (lying(listed=-1, here=-1), "it lists 3 files, and says 2"),
    (lying(listed=1, here=1), "it lists 3 files, and says 4"),
    (lying(here=1), "does not say where its list of files is"),
    (lying(disk=1), "does not say where its list of files is"),
    (lying(list_bytes=-1), "does not say where its list of files is"),
    (lying(list_bytes=1, list_start=-1), "Bad magic number"),
    (lying(list_start=1), "does not say where its list of files is"),
    (lying(comment=1), "does not say where its list of files is"),
    (lambda files: zipped(files) + b"more", "does not say where its list of files is"),
    (lambda files: b"#!/bin/sh\n" + zipped(files), "does not say where its list of files is"),
    (lambda files: zipped(files)[:-30], "it does not end as a zip file does"),
    (lambda files: b"", "it does not end as a zip file does"),
    (lambda files: b"<html>", "it does not end as a zip file does"),
])  # fmt: skip
def test_a_zip_file_that_is_no_run_is_refused(site: Site, run: RunFolder, spoil: Spoil, why: str) -> None:
    site.serve("/one.zip", spoil(content_of(run)))
    _, _, reason = refusal(f"{site.address}/one.zip").partition(f"{site.address}/one.zip: not a packed run: ")
    assert why in reason


def test_a_zip_file_may_have_a_comment(tmp_path: Path, run: RunFolder) -> None:
    packed = io.BytesIO(zipped(content_of(run)))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.comment = b"c" * 65535
    (tmp_path / "one.zip").write_bytes(packed.getvalue())
    assert open_run(tmp_path / "one.zip").run == run.run


def small_files(files: dict[str, bytes]) -> bytes:
    """As many as fit into a list that has the bytes of a run's, which says that they are few."""
    count = packed_run.MOST_LIST_BYTES // 47 - 10
    packed = zipped(files | {chr(33 + number % 90): b"" for number in range(90)})
    start, end = packed.index(b"PK\1\2"), packed.rindex(b"PK\5\6")
    longer = packed[:end] + packed[start + 47 : start + 94] * count + packed[end:]
    return sized(longer, lambda numbers: numbers.__setitem__(4, numbers[4] + 47 * count))


def one_large_field(files: dict[str, bytes]) -> bytes:
    """A list whose entries have extra fields and names as long as can be."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        for number in range(2):
            entry = zipfile.ZipInfo(f"{number}{'n' * 60_000}")
            entry.extra = struct.pack("<HH", 7, 0) * 15_000
            archive.writestr(entry, b"")
    return packed.getvalue()


def quoted(files: dict[str, bytes]) -> bytes:
    """Entries that all begin at the same bytes, which are a bomb."""
    packed = bytearray(zipped({"trials.jsonl": b"0" * (packed_run.MOST_BYTES["trials.jsonl"] - 1), **files}))
    for entry in re.finditer(b"PK\1\2", bytes(packed)):
        packed[entry.start() + 42 : entry.start() + 46] = bytes(4)
    return bytes(packed)


LISTS = [small_files, one_large_field, quoted, many, bomb, lambda files: by_zip64(files, 300_000)]


@pytest.mark.parametrize("make", LISTS)
def test_what_python_makes_of_a_list_takes_few_megabytes(tmp_path: Path, run: RunFolder, make: Spoil) -> None:
    (tmp_path / "one.zip").write_bytes(make(content_of(run)))
    tracemalloc.start()
    try:
        with contextlib.suppress(BadInput):
            open_run(tmp_path / "one.zip")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_nothing_is_left_of_what_was_refused(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    site.serve("/one.zip", b"<html>")
    with pytest.raises(BadInput):
        Fetched(f"{site.address}/one.zip")
    gc.collect()
    assert list(tmp_path.iterdir()) == []
