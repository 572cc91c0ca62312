"""What a host or a file put into any field does nothing to a terminal, a page, a picture or a spreadsheet.

The text of :mod:`support.planted` stands in every field of every file that the commands read; the fields come from the
types, so a new one is covered. Whatever a command prints or writes is then looked at.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import typing
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.input_files import HOSTS, SWEEP
from support.memory_host import lab_signals
from support.paths import RUN_CAPTURES
from support.planted import (
    EVIL,
    TEXTS,
    assert_drawing,
    assert_no_formula,
    assert_page_of_the_labs,
    assert_plain,
    assert_post,
    keys_of,
    leaves,
    planted,
    planted_fields,
    replaced,
)
from support.synthetic_runs import RUN, trial, write_run

from lab import stats
from lab.cli import main as cli
from lab.cli import show
from lab.design.factors import OPTIONS, Direction
from lab.design.sweep_file import Sweep
from lab.hosts.hosts_file import Hosts
from lab.local import state
from lab.local.state import Lab
from lab.platforms import Facts
from lab.report.render import rich_table
from lab.report.tables import TextTable
from lab.results import run_folder
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.trial import _RUN_TYPES, FIELDS, WORDS, Trial
from lab.run.progress import shown
from lab.run.runner import Progress

NOBODY = re.sub("(?m)^host = .*", "host = 127.0.0.1\nport = 1", HOSTS)  # nothing listens there


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, and no local lab."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state, "RUN", tmp_path / "labs")
    with lab_signals():
        yield


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


@pytest.mark.parametrize("text", ["x" + EVIL, TEXTS[1]], ids=["text", "formula"])
def test_a_run_folder_full_of_it_is_shown_and_reported(capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = write_planted("a", text)
    assert "plant" in lab(capsys, "show", path, "--full")
    for name in show.TABLES:
        lab(capsys, "show", path, "--table", name)
    assert_plain(lab(capsys, "show", path).rstrip("\n").replace("\n", " "), lines=True)
    lab(capsys, "show", path, "--json")
    assert_plain("\n".join(stats.provenance(run_folder.load(path))))  # which a notebook prints
    lab(capsys, "report", path, "--front-matter", "yaml")
    lab(capsys, "report", path, "--format", "gist", "--front-matter", "toml")
    report = path / "report"
    assert_page_of_the_labs((report / "report.html").read_text(encoding="utf-8"))
    for name in ("post.md", "post-appendix.md", "gist.md"):
        assert_post((report / name).read_text(encoding="utf-8"), folded=name == "gist.md")
    assert_no_formula((report / "table.csv").read_text(encoding="utf-8"))
    drawings = sorted((report / "figures").glob("*.svg"))
    assert len(drawings) == 7
    for drawing in drawings:
        assert_drawing(drawing.read_text(encoding="utf-8"))


def test_a_cell_of_a_table_is_one_line() -> None:
    drawn = rich_table(TextTable([EVIL], [[EVIL]], EVIL), [EVIL])
    texts = [drawn.above, *drawn.below, *drawn.headings, *(cell for row in drawn.rows for cell in row)]
    assert len(texts) == 4
    for text in texts:
        assert_plain(str(text))
        assert "\n" not in str(text)
    for width in (60, 30_000):
        screen = io.StringIO()
        Console(file=screen, width=width, color_system=None).print(drawn)
        assert_plain(screen.getvalue())


def test_two_such_runs_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    runs = "--unfinished", write_planted("a"), write_planted("b", TEXTS[2])
    assert "not finished" in lab(capsys, "compare", *runs[1:])
    assert "plant" in lab(capsys, "compare", *runs)
    lab(capsys, "compare", *runs, "--json")
    lab(
        capsys,
        "compare",
        *runs,
        write_planted("c", TEXTS[1]),
        "--to",
        "page",
        "--no-redact",
        "--fail-if",
        "slower-than 10%",
    )
    assert_drawing(Path("page", "figures", "times-as-fast.svg").read_text(encoding="utf-8"))
    assert_post(Path("page", "compare.md").read_text(encoding="utf-8"))
    assert_page_of_the_labs(Path("page", "compare.html").read_text(encoding="utf-8"))


def test_a_history_of_such_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(12):
        at = f"2030-01-{number + 1:02}T00:00:00+00:00"
        write_planted(f"r{number}", TEXTS[number % len(TEXTS)], saved_as=EVIL, started_at=at)
    assert "plant" in lab(capsys, "history", EVIL, "--fail-if", "slower-than 10%")
    lab(capsys, "history", EVIL, "--json", "--plot", "a.svg")
    assert_drawing(Path("a.svg").read_text(encoding="utf-8"))
    for words in (["elsewhere"], [EVIL, "--fail-if", EVIL], [EVIL, "--plot", EVIL]):
        assert "plant" in lab(capsys, "history", *words)


def test_runs_that_cannot_be_compared_are_named_so(capsys: pytest.CaptureFixture[str]) -> None:
    other = write_run(Path("results"), [trial(protocol=EVIL, tool=EVIL)])
    assert "no case has a good trial in both" in lab(capsys, "compare", "--unfinished", write_planted("a"), other.path)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_a_trial_alone(capsys: pytest.CaptureFixture[str], field: str) -> None:
    for name, value in (("text", EVIL), ("list", [EVIL]), ("object", {EVIL: {EVIL: EVIL}})):
        folder = write_run(Path("results") / name, [trial()])
        folder.trials_path.write_text(json.dumps(trial().to_json() | {field: value}) + "\n")
        assert lab(capsys, "show", folder.path)


@pytest.mark.parametrize("key", [*_RUN_TYPES, "schema", EVIL], ids=lambda key: key[:12])
def test_a_key_of_run_json_alone(capsys: pytest.CaptureFixture[str], key: str) -> None:
    for number, value in enumerate((EVIL, [EVIL], {EVIL: EVIL}, {"client": {EVIL: EVIL}})):
        folder = write_run(Path("results") / str(number), [trial()])
        (folder.path / "run.json").write_text(json.dumps({**RUN, "schema": 2, "name": "x", key: value}))
        other = write_run(Path("others"), [trial()])
        for words in (["show"], ["show", "--full"], ["compare", other.path], ["compare", other.path, "--unfinished"]):
            assert lab(capsys, *words, folder.path)


def test_names_of_fields_folders_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(Path("results"), [trial()])
    for content in (EVIL, json.dumps({EVIL: 1}), json.dumps(EVIL), json.dumps(trial().to_json() | {EVIL: 1})):
        folder.trials_path.write_text(content + "\n")
        assert "trials.jsonl" in lab(capsys, "show", folder.path)
    name = EVIL.replace("/", "")[:80]
    for words in (["show", name], ["report", name], ["compare", name, name], ["plan", name], [name],
                  ["show", f"--{name}"],
                  ["run", "--resume", name], ["run", "x", "--on-failure", name], ["check", "--hosts", name],
                  ["local", "status", name], ["local", "down", "--name", name]):  # fmt: skip
        assert "plant" in lab(capsys, *words)


@pytest.mark.parametrize(("section", "key"), list(keys_of(Hosts)))
def test_a_key_of_a_hosts_file(capsys: pytest.CaptureFixture[str], section: str, key: str) -> None:
    Path("a.toml").write_text(SWEEP)
    one_line_of_it = EVIL.replace("\r", "").split("\n")[0].replace(";", "")
    lines = [line for line in NOBODY.splitlines() if not line.startswith(f"{key} =")]
    at = lines.index(f"[{section}]") + 1 if f"[{section}]" in lines else len(lines)
    missing = [f"[{section}]"] if f"[{section}]" not in lines else []
    for text in (one_line_of_it, "x\u202e\x9b31m"):
        Path("hosts.ini").write_text("\n".join([*lines[:at], *missing, f"{key} = {text}", *lines[at:]]) + "\n")
        lab(capsys, "plan", "a.toml", "--hosts", "hosts.ini")
        if key not in ("host", "proxy_command"):  # nothing listens on that port
            lab(capsys, "check")


def test_sections_and_keys_that_no_hosts_file_has(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(SWEEP)
    for text in (f"[{EVIL}]\nx = y\n", f"[client]\n{EVIL} = 1\n", f"{EVIL}\n", f"[client]\n{EVIL[:30]} = 1\n"):
        Path("hosts.ini").write_text(HOSTS + text)
        assert lab(capsys, "plan", "a.toml", "--hosts", "hosts.ini")


@pytest.mark.parametrize(("section", "key"), [*keys_of(Sweep), ("factors", "smb"), ("", EVIL), ("factors", EVIL)])
def test_a_key_of_a_sweep(capsys: pytest.CaptureFixture[str], section: str, key: str) -> None:
    lines = [line for line in SWEEP.splitlines() if not line.startswith(f"{key} =")]
    at = lines.index(f"[{section}]") + 1 if section else 0
    text = json.dumps(EVIL).replace("\x7f", "\\u007f")
    for value in (text, f"[{text}]", f"{{{text} = {text}}}", f"{{a = [{text}]}}"):
        name = json.dumps(key).replace("\x7f", "\\u007f")
        Path("a.toml").write_text("\n".join([*lines[:at], f"{name} = {value}", *lines[at:]]) + "\n")
        lab(capsys, "plan", "a.toml", "--order")


def test_a_journal(capsys: pytest.CaptureFixture[str]) -> None:
    """In each value of real lines, and in their keys: whatever the restoring of them prints."""
    packed = RUN_CAPTURES / "interrupted" / "run"
    lines = gzip.decompress((packed / "journal.jsonl.gz").read_bytes()).decode().splitlines()
    first = json.loads(lines[0])
    folder = write_run(Path("results"), [], hosts_file="hosts.ini", instance=None)
    Path("hosts.ini").write_text(NOBODY)
    for path in [*leaves(first), None]:
        record = replaced(first, path, EVIL) if path else {EVIL: EVIL}
        folder.journal_path.write_text(json.dumps(record) + "\n")
        assert lab(capsys, "restore", lines=not path or path[0] != "undo")  # which is quoted, to be typed by hand
    folder.journal_path.write_text(EVIL + "\n" + lines[0] + "\n")
    assert lab(capsys, "restore")


def test_the_state_of_a_local_lab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "need_root", lambda: None)
    own = {"pid": 1, "started": state.Process.of(1).started}
    base = planted_fields(Lab, EVIL) | {"holder": own, "cleaner": own, "backend": "namespaces"}
    base |= {"hosts": dict.fromkeys(state.HOSTS, own), "platforms": dict.fromkeys(state.HOSTS, EVIL)}
    for name in ("supervisor",):
        base.pop(name)
    path = state.directory("default")
    path.mkdir(parents=True)
    (path / "state.json").write_text(json.dumps(base))
    assert "plant" in lab(capsys, "local", "status")
    for key in [*base, EVIL]:
        (path / "state.json").write_text(json.dumps(base | {key: EVIL}))
        assert lab(capsys, "local", "status")


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_lines(is_terminal: bool) -> None:
    from lab.design.blocks import Slot
    from lab.design.case import Case

    output = io.StringIO()
    console = Console(file=output, force_terminal=is_terminal, color_system=None, width=30_000)
    fields = {name: value for name, value in planted_fields(Case, EVIL).items() if name != "options"}
    base = Case(protocol="afp", tool="cp", direction=Direction.WRITE, workload="file", size_bytes=1, store="ram", mtu=1,
                tcp_space=1, options=((EVIL, EVIL),))  # fmt: skip
    case = Case(**{**base.__dict__, **fields})
    with shown(console) as display:
        for status in ("ok", "void"):
            done = trial(status=status, reason=EVIL)
            display(Progress(Slot(1, 1, case), 1, 2, 1.0, done, 1, 2))
    printed = output.getvalue()
    assert "[red]x[/red]" in printed
    assert not [raw for raw in ("\x1b]", "\x1b[2J\x9b", "\x9b", "\u202e", "\u2066", "\x08", "\x7f") if raw in printed]
    assert not [line for line in printed.splitlines() if line.startswith("forged")]
