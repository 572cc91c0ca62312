"""What stands in any key of an input file, a journal or a state, or in a name, does nothing to a terminal."""

import json
import re
from pathlib import Path

import pytest
from support.input_files import HOSTS, SWEEP
from support.planted import EVIL, keys_of, leaves, planted_fields, replaced
from support.planted_runs import lab
from support.synthetic_runs import trial, write_run

from lab.design.sweep_file import Sweep
from lab.hosts.hosts_file import Hosts
from lab.local import state
from lab.local.state import Lab
from lab.platforms.linux.settings import LinuxMtu
from lab.settings.journal import Record

pytestmark = pytest.mark.usefixtures("empty_place")
NOBODY = re.sub("(?m)^host = .*", "host = 127.0.0.1\nport = 1", HOSTS)  # nothing listens there


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
    """In each value of a line, and in its keys: whatever the restoring of them prints."""
    first = Record(1, "client", LinuxMtu("eth0"), "1500", "9000", "0123abcd", "boot").as_json()
    folder = write_run(Path("results"), [], hosts_file="hosts.ini", instance=None)
    Path("hosts.ini").write_text(NOBODY)
    for path in [*leaves(first), None]:
        record = replaced(first, path, EVIL) if path else {EVIL: EVIL}
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
