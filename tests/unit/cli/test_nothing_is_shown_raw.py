"""What a host or a file put into any field, key or name does nothing to a terminal, page, picture or spreadsheet.

The text of :mod:`support.planted` stands in every field of every file that the commands read; the fields come from the
types, so a new one is covered. Whatever a command prints is then looked at; what is written of whole runs, in
tests/scenarios/cli/test_runs_full_of_plants.py.
"""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from support import planted
from support.input_files import HOSTS, SWEEP
from support.planted import EVIL, assert_plain, keys_of, lab, planted_fields
from support.synthetic_runs import trial, write_run

from lab.base.errors import BadInput
from lab.cli.progress import shown
from lab.design.blocks import Slot
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.sweep_file import Sweep
from lab.hosts.hosts_file import Hosts
from lab.local import state
from lab.local.state import Lab
from lab.platforms.linux.settings import LinuxMtu
from lab.report.fitted_table import rich_table
from lab.report.tables import TextTable
from lab.results import run_folder
from lab.results.trial import FIELDS
from lab.run.runner import Progress
from lab.settings.journal import Record

NOBODY = re.sub("(?m)^host = .*", "host = 127.0.0.1\nport = 1", HOSTS)  # nothing listens there


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


def test_runs_that_cannot_be_compared_are_named_so(capsys: pytest.CaptureFixture[str]) -> None:
    runs = planted.write_planted("a"), write_run(Path("results"), [trial(protocol=EVIL, tool=EVIL)]).path
    assert "no case has a good trial in both" in lab(capsys, "compare", "--unfinished", *runs)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_a_trial_alone(capsys: pytest.CaptureFixture[str], field: str) -> None:
    for name, value in (("text", EVIL), ("list", [EVIL]), ("object", {EVIL: {EVIL: EVIL}})):
        folder = write_run(Path("results") / name, [trial()])
        folder.trials_path.write_text(json.dumps(trial().to_json() | {field: value}) + "\n")
        assert lab(capsys, "show", folder.path)


@pytest.mark.parametrize("key", planted.KEYS, ids=lambda key: key[:12])
def test_a_key_of_run_json_alone_is_read_or_refused(key: str) -> None:
    """What all commands print of such a run is looked at in tests/breadth/report/test_every_way_out.py."""
    for folder in planted.runs_with(key):
        try:
            run_folder.load(folder.path)
        except BadInput as error:
            assert_plain(error.brief())


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_lines(is_terminal: bool) -> None:
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


def test_names_of_fields_folders_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(Path("results"), [trial()])
    for content in (EVIL, json.dumps({EVIL: 1}), json.dumps(EVIL), json.dumps(trial().to_json() | {EVIL: 1})):
        folder.trials_path.write_text(content + "\n")
        assert "trials.jsonl" in lab(capsys, "show", folder.path)
    name = EVIL.replace("/", "")[:80]
    for line in ("show NAME", "report NAME", "compare NAME NAME", "plan NAME", "NAME", "show --NAME",
                 "run --resume NAME", "run x --on-failure NAME", "check --hosts NAME", "local status NAME",
                 "local down --name NAME"):  # fmt: skip
        assert "plant" in lab(capsys, *(word.replace("NAME", name) for word in line.split()))


@pytest.mark.parametrize(("section", "key"), list(keys_of(Hosts)))
def test_a_key_of_a_hosts_file(capsys: pytest.CaptureFixture[str], section: str, key: str) -> None:
    Path("a.toml").write_text(SWEEP)
    lines = [line for line in NOBODY.splitlines() if not line.startswith(f"{key} =")]
    at = lines.index(f"[{section}]") + 1 if f"[{section}]" in lines else len(lines)
    missing = [f"[{section}]"] if f"[{section}]" not in lines else []
    for text in (EVIL.replace("\r", "").split("\n")[0].replace(";", ""), "x\u202e\x9b31m"):
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
    """In each value of a line, and in its keys: whatever the restoring of them prints."""
    first = Record(1, "client", LinuxMtu("eth0"), "1500", "9000", "0123abcd", "boot").as_json()
    folder = write_run(Path("results"), [], hosts_file="hosts.ini", instance=None)
    Path("hosts.ini").write_text(NOBODY)
    for path in [*planted.leaves(first), None]:
        record = planted.replaced(first, path, EVIL) if path else {EVIL: EVIL}
        folder.journal_path.write_text(json.dumps(record) + "\n")
        assert lab(capsys, "restore")
    folder.journal_path.write_text(EVIL + "\n" + json.dumps(first) + "\n")
    assert lab(capsys, "restore")


def test_the_state_of_a_local_lab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "need_root", lambda: None)
    own = {"pid": 1, "started": state.Process.of(1).started}
    base = planted_fields(Lab, EVIL) | {"supervisor": own, "cleaner": own, "backend": "namespaces"}
    base |= {"hosts": dict.fromkeys(state.HOSTS, own), "platforms": dict.fromkeys(state.HOSTS, EVIL)}
    path = state.directory("default")
    path.mkdir(parents=True)
    (path / "state.json").write_text(json.dumps(base))
    assert "plant" in lab(capsys, "local", "status")
    for key in [*base, EVIL]:
        (path / "state.json").write_text(json.dumps(base | {key: EVIL}))
        assert lab(capsys, "local", "status")
