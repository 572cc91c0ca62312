"""A run with names and passwords wherever a host can put text, and what looks for them in all that comes out."""

import base64
import dataclasses
import gzip
import html
import json
import re
import types
import typing
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from lab.results.effective import Effective
from lab.results.json_object import JsonObject
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder, Trial
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
AROUND = {  # names that nothing lists, and where they stand: below a folder that is listed, and around a listed name
    "wedding.mov": "/Volumes/Tank Two/family/wedding.mov", "beach.jpg": "Holiday Photos/beach.jpg: no space",
    "oldmarsgate2": "oldmarsgate2", "annabelles": "annabelles",
}  # fmt: skip
LEAST = 5  # characters of a name that is looked for in bytes
PLANTED = [
    *(name for names in NAMES.values() for name in names), *SHAPED, "nas-of-ann", "tiny-nas", "musik", *AROUND,
    *(name for names in NAMED.values() for name in names if len(name) >= LEAST), *BESIDE, *PASSWORDS,
]  # fmt: skip
PLACES = [*AROUND.values(), "/Users/annabelle/x", "smb://annabelle@nas-of-ann.fritz.box/Holiday%20Photos"]
_LISTED = [*(name for names in NAMES.values() for name in names), *SHAPED, "nas-of-ann", "tiny-nas", "musik", *PLACES]
SENTENCE = f"names, {', '.join(_LISTED)}."
TEXT = "\n".join([SENTENCE, *NAMED, *WITH_PASSWORDS])


def planted_in(kind: type[JsonObject]) -> dict[str, Any]:
    """A JSON object whose every text is the planted one."""
    values: dict[str, Any] = {}
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        nested = [member for member in members if isinstance(member, type) and issubclass(member, JsonObject)]
        if nested:
            values[field.name] = planted_in(nested[0])
        elif str in members:
            values[field.name] = TEXT
        elif any(typing.get_origin(member) is tuple for member in members):
            values[field.name] = [TEXT]
    return values | {"of another version": [TEXT, {"deep": TEXT}]}


def write_planted(results: Path, trials: Sequence[Trial] = (), **described: Any) -> RunFolder:
    """A run of before that has all of it in every text that a host, or a hosts file, can fill, and in its logs.

    It has these ``trials`` beside, or invented ones.
    """
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
    """How a name may be written in a file."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, name)
        yield from (spelt.encode() for spelt in (text, quote(text), html.escape(text), json.dumps(text)[1:-1]))


def leaks(folder: Path, planted: Sequence[str] = tuple(PLANTED)) -> list[tuple[str, str]]:
    """What is planted and stands in files of a folder, in whatever spelling, in data URLs and in packed files too."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.name, name) for path in files for name in found_in(b"".join(_contents(path)), planted)]


def found_in(content: bytes, planted: Sequence[str] = tuple(PLANTED)) -> list[str]:
    """What is planted and stands in these bytes."""
    # a megabyte of base64 has any five letters in it now and then
    content = re.sub(rb"base64,([A-Za-z0-9+/=]+)", lambda match: base64.b64decode(match[1]), content)
    lines = b"\n".join(dict.fromkeys(content.lower().splitlines()))  # most come again and again
    lines += unquote_to_bytes(lines)
    return [name for name in planted if any(way in lines for way in {way.lower() for way in spellings(name)})]


def _contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is packed in it: in an archive, a table, the texts of a picture."""
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
