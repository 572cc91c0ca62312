"""A run with names planted wherever a host can put text, and what looks for them in all that comes out."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
import types
import typing
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from lab.results.effective import Effective
from lab.results.json_object import JsonObject
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from support.synthetic_runs import RUN, make_trials, trial, write_run

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
PLANTED = [*(name for names in NAMES.values() for name in names), *SHAPED, "nas-of-ann", "tiny-nas", "musik", *AROUND]
PLACES = [*AROUND.values(), "/Users/annabelle/x", "smb://annabelle@nas-of-ann.fritz.box/Holiday%20Photos"]
SENTENCE = f"names, {', '.join([*(name for name in PLANTED if name not in AROUND), *PLACES])}."


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
            values[field.name] = SENTENCE
        elif any(typing.get_origin(member) is tuple for member in members):
            values[field.name] = [SENTENCE]
    return values | {"of another version": [SENTENCE, {"deep": SENTENCE}]}


def write_planted(results: Path, **described: Any) -> RunFolder:
    """A run that has the names in every text that a host, or a hosts file, can fill."""
    strange = trial(
        trial_id="b9-001", block=9, status="failed", elapsed_s=None, reason=SENTENCE,
        effective=planted_in(Effective), observed=planted_in(Observed),
    )  # fmt: skip
    hosts = {role: {name: SENTENCE if isinstance(value, str) else value for name, value in facts.items()}
             for role, facts in RUN["hosts"].items()}  # fmt: skip
    hosts["client"] |= {"hostname": "marsgate", "user": "annabelle", "home": "/Users/annabelle",
                        "tools": {"rsync": SENTENCE}, "about": {"model": SENTENCE}}  # fmt: skip
    hosts["server"] |= {"hostname": "nas-of-ann.fritz.box", "user": "Zoë Müller"}
    run: dict[str, Any] = {
        "names": NAMES, "hosts": hosts, "title": SENTENCE, "ended": SENTENCE,
        "closed": {"smb": SENTENCE}, "caveats": {"ram": SENTENCE}, "left_out": {"afp-cp-write": SENTENCE},
        "sweep_text": f"# {SENTENCE}\n", "hosts_file": "/Users/annabelle/hosts.ini",
        "sweep_file": "/home/annabelle/s.toml",
        "target": {"server": "tiny-nas", "share": "musik", "path": SENTENCE},
        "link": {"client": SENTENCE}, "seal": "0" * 64, "hosts_digest": "1" * 64,
    }  # fmt: skip
    usual = make_trials(2, combinations=[("afp", "cp"), ("smb", "cp"), ("ssh", "rsync")])
    folder = write_run(results, [*usual, strange], **run | described)
    folder.append_samples("b1-001", {"client": {"processes": [[0.5, {f"{SENTENCE} 77": 0.1}]]}})
    return folder


def spellings(name: str) -> Iterator[bytes]:
    """How a name may be written in a file."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, name)
        yield from (spelt.encode() for spelt in (text, quote(text), html.escape(text), json.dumps(text)[1:-1]))


def leaks(folder: Path) -> list[tuple[str, str]]:
    """The names that stand in files of a folder, in whatever spelling, in data URLs too."""
    leaked = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".png"):
        content = path.read_bytes()
        content += b"".join(map(base64.b64decode, re.findall(rb"base64,([A-Za-z0-9+/=]+)", content)))
        content = (content + unquote_to_bytes(content)).lower()
        leaked += [(path.name, name) for name in PLANTED if any(way.lower() in content for way in spellings(name))]
    return leaked
