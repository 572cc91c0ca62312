"""Runs with names and passwords wherever a host can put text, and every command that could publish them."""

import base64
import gzip
import html
import json
import re
import shutil
import types
import typing
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest

from lab.results.effective import Effective
from lab.results.json_object import JsonObject
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder, Trial
from support.commands import lab
from support.planted_messages import BESIDE, NAMED, PASSWORDS, WITH_PASSWORDS
from support.synthetic_runs import RUN, append_all, make_trials, trial

NAMES = {
    "host": ["marsgate", "nas-of-ann.fritz.box"],
    "user": ["annabelle", "Zoë Müller"],
    "share": ["Holiday Photos"],
    "path": ["/Volumes/Tank Two/family"],
    "device": ["ata-WDC_WD40EFRX-68N32N0_WD-WCC7K1234567"],
}
SHAPED = ["10.20.30.41", "a4:83:e7:12:34:56", "fe80::a683:e7ff:fe12:3456", "C02XK1JZJGH5", "ann@example.net",
          "3F2504E0-4F89-41D3-9A0C-0305E82C3301"]  # fmt: skip
AROUND = {  # names that no list has, and their places: below a listed folder, or around a listed name
    "wedding.mov": "/Volumes/Tank Two/family/wedding.mov", "beach.jpg": "Holiday Photos/beach.jpg: no space",
    "oldmarsgate2": "oldmarsgate2", "annabelles": "annabelles",
}  # fmt: skip
LEAST = 5  # characters that a name needs to be looked for in bytes
PLANTED = [
    *(name for names in NAMES.values() for name in names), *SHAPED, "nas-of-ann", "tiny-nas", "musik", *AROUND,
    *(name for names in NAMED.values() for name in names if len(name) >= LEAST), *BESIDE, *PASSWORDS,
]  # fmt: skip
PLACES = [*AROUND.values(), "/Users/annabelle/x", "smb://annabelle@nas-of-ann.fritz.box/Holiday%20Photos"]
_LISTED = [*(name for names in NAMES.values() for name in names), *SHAPED, "nas-of-ann", "tiny-nas", "musik", *PLACES]
SENTENCE = f"names, {', '.join(_LISTED)}."
TEXT = "\n".join([SENTENCE, *NAMED, *WITH_PASSWORDS])


def planted_in(kind: type[JsonObject]) -> dict[str, Any]:
    """A JSON object with the planted text in every field."""
    values: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(kind).items():
        members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        nested = [member for member in members if isinstance(member, type) and issubclass(member, JsonObject)]
        if nested:
            values[name] = planted_in(nested[0])
        elif str in members:
            values[name] = TEXT
        elif any(typing.get_origin(member) is tuple for member in members):
            values[name] = [TEXT]
    return values | {"of another version": [TEXT, {"deep": TEXT}, dict.fromkeys([TEXT, *TEXT.splitlines()], 0.5)]}


def write_planted(results: Path, trials: Sequence[Trial] = (), **described: Any) -> RunFolder:
    """A run with the planted text in every field that hosts can fill, and in its logs; ``trials`` are added."""
    strange = trial(
        trial_id="b9-001", block=9, status="failed", elapsed_s=None, reason=TEXT,
        effective=planted_in(Effective), observed=planted_in(Observed),
    )  # fmt: skip
    folder = RunFolder.create(results, "synthetic", RUN)
    usual = trials or make_trials(2, combinations=[("afp", "cp"), ("smb", "cp"), ("ssh", "rsync")])
    append_all(folder, [*usual, strange])
    (folder.path / "run.json").write_text(json.dumps({**folder.run, **_planted_run(), **described}))
    course = {"trial_id": "b1-001", "client": {"processes": [[0.5, {f"{line} 77": 0.1 for line in TEXT.splitlines()}]]}}
    folder.samples_path.write_text(json.dumps(course) + "\n")
    for name in ("commands.log", "trials.torn", "notes.txt"):
        (folder.path / name).write_text(TEXT)
    return RunFolder(folder.path)


def _planted_run() -> dict[str, Any]:
    hosts = {
        role: {name: TEXT if isinstance(value, str) else value for name, value in facts.items()}
        for role, facts in RUN["hosts"].items()
    }
    hosts["client"] |= {"hostname": "marsgate", "user": "annabelle", "home": "/Users/annabelle", "platform": "linux",
                        "tools": {"rsync": TEXT}, "about": {"model": TEXT}}  # fmt: skip
    hosts["client"]["disks"] = {line: {"bytes": 1} for line in TEXT.splitlines()}
    hosts["server"] |= {"hostname": "nas-of-ann.fritz.box", "user": "Zoë Müller", "platform": "linux"}
    return {
        "names": NAMES, "hosts": hosts, "title": SENTENCE, "ended": TEXT, "saved_as": "annabelle",
        "closed": {"smb": TEXT}, "caveats": {"ram": TEXT}, "left_out": {"afp-cp-write": TEXT},
        "sweep_text": "".join(f"# {line}\n" for line in TEXT.splitlines()), "hosts_file": "/Users/annabelle/hosts.ini",
        "sweep_file": "/home/annabelle/s.toml",
        "target": {"server": "tiny-nas", "share": "musik", "path": TEXT},
        "link": {"client": TEXT}, "seal": "0" * 64, "hosts_digest": "1" * 64,
    }  # fmt: skip


def spellings(name: str) -> Iterator[bytes]:
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, name)
        yield from (spelt.encode() for spelt in (text, quote(text), html.escape(text), json.dumps(text)[1:-1]))


def leaks(folder: Path, planted: Sequence[str] = tuple(PLANTED)) -> list[tuple[str, str]]:
    """The planted names in a folder's files, in any spelling, also inside data URLs and packed files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.name, name) for path in files for name in found_in(b"".join(_contents(path)), planted)]


def found_in(content: bytes, planted: Sequence[str] = tuple(PLANTED)) -> list[str]:
    # a megabyte of base64 contains any five letters by chance
    content = re.sub(rb"base64,([A-Za-z0-9+/=]+)", lambda match: base64.b64decode(match[1]), content)
    lines = b"\n".join(dict.fromkeys(content.lower().splitlines()))  # most lines are repeated
    lines += unquote_to_bytes(lines)
    return [name for name in planted if any(way in lines for way in {way.lower() for way in spellings(name)})]


def _contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is packed in it: an archive, a table, the texts of a picture."""
    yield (content := path.read_bytes())
    if zipfile.is_zipfile(path):  # xlsx too
        with zipfile.ZipFile(path) as archive:
            yield from (member.encode() + archive.read(member) for member in archive.namelist())
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    if content[:4] == b"PAR1":
        from pyarrow import parquet

        table = parquet.read_table(path)
        yield f"{table.to_pylist()} {table.schema.metadata}".encode()
    if content[:4] == b"\x89PNG":
        from PIL import Image

        with Image.open(path) as picture:
            yield str(picture.info).encode()


# {run} and {other} are planted runs. Output goes to the folder or file `out`, or to standard output
PUBLISHED = {
    "report": ("report {run} --to out", "report {run} --to out --format gist --front-matter yaml"),
    "export": ("export {run} --to folder --output out", "export {run} {other} --to json"),
    "compare": ("compare {run} {other} --to out --json",),
    "contribute": ("contribute {run} --output out",),
}
PUBLISHED_FURTHER = {
    "report": ("report {run} --to out --format post --front-matter toml",),
    "export": (
        "export {run} {other} --to csv --output out", "export {run} --to json --tidy --output out",
        "export {run} {other} --to parquet --output out",
    ),
    "compare": ("compare {run} {other} --over-pairs --to out --json", "compare published {example} --to out --json"),
}  # fmt: skip
WITH_HOSTS, WITH_KERNELS = {"fidelity"}, {"notebook"}  # tests/unit/fidelity and tests/breadth/notebook have these
SHOWN = {
    "show": ("show {run} --full", "show {run} --json", "show {run} --table lost", "show {run} --table remarks"),
    "list": ("list", "list --json"),
    "compare": ("compare {run} {other} --json",),
    "export": ("export {run} --to json --no-redact",),
}
SHOWN_FURTHER = {
    "show": ("show {run}",),
    "compare": ("compare {run} {other}", "compare {run} {other} --to out --no-redact"),
    "export": ("export {run} --to csv --no-redact",),
    "published": ("published {run}", "published {run} --json"),
    "history": ("history annabelle --plot out.svg", "history annabelle --json"),
    "dataset": ("dataset add {run} {other}", "dataset show", "dataset show --json", "dataset history annabelle"),
    "report": ("report {run} --to out --no-redact",),
}
# These write nothing about an existing run
NO_WAY_OUT = {"measure", "init", "check", "plan", "run", "restore", "workload", "fleet", "host", "local", "completion"}


def write_two(results: Path) -> tuple[Path, Path]:
    """Two planted runs on different hosts, so that they can be compared as pairs."""
    hosts = {role: {**facts, "hostname": f"pair-{role}", "cpu": "another"} for role, facts in RUN["hosts"].items()}
    first = write_planted(results)
    return first.path, write_planted(results, id="f" * 32, hosts=hosts, title=f"{SENTENCE} 2").path


def assert_names_nobody(line: str, folder: Path, capsys: pytest.CaptureFixture[str], example: Path = Path()) -> None:
    """Run a line of PUBLISHED in this folder, and check all that it wrote and printed."""
    run, other = write_two(folder / "results")
    code, output, errors = lab(capsys, *line.format(run=run, other=other, example=example).split())
    assert code == line.startswith("contribute")  # invented trials do not add up
    assert "a name was left" not in errors
    out = folder / "out"
    written = out if out.is_dir() else folder / "alone"
    if out.is_file():
        written.mkdir()
        shutil.move(out, written / "out")
    assert leaks(written) == []
    assert found_in(output.encode(), PASSWORDS) == []
    assert "--json" in line or found_in(output.encode()) == []  # JSON on standard output is for the owner
    assert "nas-of-ann (host): host-1\n" in errors
    assert "warning: the title is published as it is" in errors
    assert found_in(errors.encode(), PASSWORDS) == []


def assert_shows_no_password(lines: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run lines of SHOWN in this folder, and look for passwords in all that they wrote and printed."""
    run, other = write_two(folder / "results")
    for line in lines:
        code, output, errors = lab(capsys, *line.format(run=run, other=other).split())
        assert code == 0, errors
        assert found_in(f"{output}{errors}".encode(), PASSWORDS) == []
    shutil.rmtree(folder / "results")
    assert leaks(folder, PASSWORDS) == []
