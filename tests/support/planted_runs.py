"""Run folders with a plant in every field of every file, and commands whose output is looked at."""

import json
import typing
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lab.cli import main as cli
from lab.design.factors import OPTIONS
from lab.platforms import Facts
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.results.trial import _RUN_TYPES, WORDS, Trial
from support.planted import EVIL, TEXTS, assert_plain, planted, planted_fields
from support.synthetic_runs import RUN, trial, write_run

KEYS = (*_RUN_TYPES, "schema", EVIL)  # of run.json


def lab(capsys: pytest.CaptureFixture[str], *argv: str | Path, lines: bool = True) -> str:
    """What a command prints on both streams, which is looked at; without ``lines``, it may go over several."""
    with suppress(SystemExit):  # of argparse
        cli.main([str(word) for word in argv])
    printed = capsys.readouterr()
    assert_plain(printed.out, lines=argv[0] not in ("show", "compare", "history"))  # a table wraps what is long
    assert_plain(printed.err, lines=lines)
    assert "Traceback" not in printed.err
    return printed.out + printed.err


def planted_trials(base: Trial, start: str) -> list[dict[str, Any]]:
    """Trials with a text in every field that takes any: few levels of each factor, and what no factor is in full."""
    rows = []
    for number, own in enumerate(TEXTS):
        text = EVIL if number % 2 else start
        fields = {name: value for name, value in planted_fields(Trial, text).items() if name not in WORDS}
        row = base.to_json() | fields
        protocol = "afp" if number % 4 < 2 else text
        options = dict.fromkeys([text, f"{protocol}.{EVIL}", *list(OPTIONS)[number % 4 :: 4]], text)
        everywhere = dict.fromkeys(typing.get_type_hints(Observed), text) if number % 2 else row["observed"]
        in_effect = dict.fromkeys(typing.get_type_hints(Effective), text) if number % 2 else row["effective"]
        row |= {"trial_id": f"{own}{number}", "started_at": base.started_at, "protocol": protocol, "reason": own}
        row |= {"options": options, "observed": everywhere, "effective": in_effect, "block": number // 4 + 1}
        rows.append(row | {"status": ("ok", "ok", "ok", "void", "failed")[number % 5]})
    return rows


def planted_run(text: str, **more: Any) -> dict[str, Any]:
    """The content of run.json with a text in every key."""
    run = {name: planted(next(iter(kinds)), text) for name, kinds in _RUN_TYPES.items()}
    facts = dict.fromkeys(typing.get_type_hints(Facts), text) | {text: text, "platform": "linux"}
    hosts = {"client": facts, "server": facts, text: facts}
    return {
        **run,
        "seed": 1,
        "ceiling_shots": 2,
        "payload_bytes": 2**20,
        "ordering": "mirrored",
        "hosts": hosts,
        "left_out": {text: text},
        "caveats": {"ram": text, text: text},
        "schema": 2,
        text: text,
        **more,
    }


def write_planted(name: str, text: str = EVIL, **run: Any) -> Path:
    """A run folder with plants everywhere."""
    path = Path("results") / name
    path.mkdir(parents=True)
    (path / "run.json").write_text(json.dumps(planted_run(text, **run)))
    rows = planted_trials(trial(), text)
    text_of_file = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (path / "trials.jsonl").write_text(text_of_file, encoding="utf-8", newline="")
    return path


def runs_with(key: str) -> Iterator[RunFolder]:
    """Run folders with a plant in this key of run.json alone, as text, in a list, and in objects."""
    for number, value in enumerate((EVIL, [EVIL], {EVIL: EVIL}, {"client": {EVIL: EVIL}})):
        folder = write_run(Path("results") / str(number), [trial()])
        (folder.path / "run.json").write_text(json.dumps({**RUN, "schema": 2, "name": "x", key: value}))
        yield folder
