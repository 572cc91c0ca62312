"""A run for strangers: names are planted wherever a host can put text, and looked for in all that comes out."""

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

import pytest
from support.synthetic_runs import RUN, make_trials, trial, write_run

from lab.base.errors import BadInput
from lab.report import run_report
from lab.report.compared import page
from lab.report.compared.comparison import Comparison
from lab.results import run_folder
from lab.results.effective import Effective
from lab.results.json_object import JsonObject
from lab.results.observed import Observed
from lab.results.public import Public, public_copies
from lab.results.run_folder import RunFolder

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
    folder = write_run(results, [*make_trials(), strange], **run | described)
    folder.append_samples("b1-001", {"client": {"processes": [[0.5, {f"{SENTENCE} 77": 0.1}]]}})
    return folder


@pytest.fixture
def planted(tmp_path: Path) -> RunFolder:
    return write_planted(tmp_path)


def spellings(name: str) -> Iterator[bytes]:
    """How a name may be written in a file."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, name)
        yield from (spelt.encode() for spelt in (text, quote(text), html.escape(text), json.dumps(text)[1:-1]))


def leaks(folder: Path) -> list[tuple[str, str]]:
    """The names that stand in files of a folder, in whatever spelling, in data URLs too."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".png"):
        content = path.read_bytes()
        content += b"".join(map(base64.b64decode, re.findall(rb"base64,([A-Za-z0-9+/=]+)", content)))
        content = (content + unquote_to_bytes(content)).lower()
        found += [(path.name, name) for name in PLANTED if any(way.lower() in content for way in spellings(name))]
    return found


def test_the_names_are_found_in_the_run_itself(planted: RunFolder) -> None:
    assert {name for _, name in leaks(planted.path)} == set(PLANTED)


def test_no_planted_name_is_in_a_copy_and_the_numbers_are_the_same(planted: RunFolder, tmp_path: Path) -> None:
    shown = Public(planted)
    shown.copy_to(tmp_path / "copy")
    assert leaks(tmp_path / "copy") == []
    assert {name for _, name, _ in shown.replaced} >= set(NAMES["host"] + NAMES["user"] + NAMES["share"])
    ours, theirs = (run_folder.load(path) for path in (planted.path, tmp_path / "copy"))
    for column in ("trial_id", "case_id", "elapsed_s", "MB_per_s", "status", "retransmits"):
        assert ours[column].equals(theirs[column])
    assert not {"names", "seal", "hosts_digest"} & RunFolder(tmp_path / "copy").run.keys()


def test_a_report_is_private_by_default_and_names_all_where_that_is_wanted(planted: RunFolder, tmp_path: Path) -> None:
    run_report.write(planted, tmp_path / "private")
    assert leaks(tmp_path / "private") == []
    run_report.write(planted, tmp_path / "named", planted)
    assert "marsgate" in {name for _, name in leaks(tmp_path / "named")}


def test_a_comparison_is_private_and_a_name_that_one_run_knows_is_masked_in_all(
    planted: RunFolder, tmp_path: Path
) -> None:
    unnamed = write_run(tmp_path / "other", make_trials(), title=f"{SENTENCE} 2", names={}, hosts=RUN["hosts"])
    for folders in ([planted, unnamed], [unnamed, planted]):
        copies = public_copies(folders)
        page.write(Comparison(copies), tmp_path / "page")
        assert leaks(tmp_path / "page") == []
        titles = [copied.run["title"] for copied in sorted(copies, key=lambda copied: len(copied.run["title"]))]
        assert titles[1] == f"{titles[0]} 2"
    page.write(Comparison([planted, unnamed]), tmp_path / "named")
    assert "marsgate" in {name for _, name in leaks(tmp_path / "named")}


def test_a_host_that_is_called_as_every_server_leaves_the_keys_of_a_sweep(tmp_path: Path) -> None:
    text = '[factors]\nserver_sync = ["default"]  # on server.q.lab\n'
    run = write_run(tmp_path, make_trials(1), names={"host": ["server.q.lab", "client.q.lab"]}, sweep_text=text)
    assert Public(run).run["sweep_text"] == text.replace("server.q.lab", "host-1")


def test_the_same_name_has_the_same_mask_everywhere_and_each_time(planted: RunFolder) -> None:
    shown, again = Public(planted), Public(planted)
    assert shown.trials_path.read_bytes() == again.trials_path.read_bytes()
    mask = next(mask for kind, name, mask in shown.replaced if name == "marsgate")
    assert shown.run["hosts"]["client"]["hostname"] == mask
    assert mask in shown.run["title"]
    assert mask in shown.trials()[-1].reason


def test_what_the_lab_itself_writes_stays(tmp_path: Path) -> None:
    run = write_run(tmp_path, [trial(effective={"cipher": "chacha20-poly1305@openssh.com", "mount": "gvfs"})],
                    code_version="0.1.0+eede04230824", names={"user": ["lab"], "host": ["client"]})  # fmt: skip
    shown = Public(run)
    assert shown.run["code_version"] == run.run["code_version"]
    assert shown.trials()[0].effective == run.trials()[0].effective


def test_a_copy_goes_over_nothing(planted: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(BadInput, match="mine: is there already"):
        Public(planted).copy_to(tmp_path / "mine")


def test_a_run_that_cannot_be_read_is_told_by_its_own_path(planted: RunFolder) -> None:
    with planted.trials_path.open("a") as file:
        file.write("{}\n")
    with pytest.raises(BadInput, match=re.escape(str(planted.trials_path))):
        Public(planted)
