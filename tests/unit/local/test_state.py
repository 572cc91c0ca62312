"""The state file of a local lab: what was saved is loaded, and a damaged one says what to remove."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from support.made_up_labs import LINUX, lab_of
from support.memory_host import lab_signals

from lab.base.errors import BadInput
from lab.cli import main as cli
from lab.local import lifecycle, root_image, state
from lab.local.state import Process

PROCESS = {"pid": 1, "started": 2}
GOOD: dict[str, Any] = {
    "name": "mine", "instance": "0123", "supervisor": PROCESS, "cleaner": PROCESS,
    "hosts": {"client": PROCESS, "server": PROCESS}, "rate": "1gbit", "delay": "none", "hosts_file": "/x/hosts.ini",
    "platforms": LINUX, "backend": "namespaces", "why": "", "ssh_address": "::1", "rates": {},
}  # fmt: skip


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the state file of the lab named mine would be."""
    monkeypatch.setattr(state, "RUN", tmp_path)
    monkeypatch.setattr(state, "need_root", lambda: None)
    monkeypatch.setattr(root_image, "cache_directory", lambda: tmp_path / "cache")
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine" / "state.json"


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_what_was_saved_is_loaded(file: Path) -> None:
    assert state.load("mine") is None
    lab = lab_of()
    lab.save()
    assert state.load("mine") == lab
    assert json.loads(file.read_text()) == GOOD


CHANGES: list[dict[str, Any]] = [
    {"supervisor": 1}, {"supervisor": {}}, {"supervisor": {"pid": "1", "started": 2}},
    {"cleaner": {"pid": 1, "started": 1e999}},
    {"hosts": {}}, {"hosts": {"client": PROCESS}}, {"hosts": None}, {"hosts_file": None}, {"rate": 1}, {"more": 1},
    {"platforms": {"client": "linux"}}, {"platforms": None}, {"backend": None}, {"why": None}, {"ssh_address": 1},
]  # fmt: skip
DAMAGED = [b"", b"{", b"[]", b"null", b"1", b"\xff", b"[" * 100_000, b"9" * 5000]
DAMAGED += [json.dumps(GOOD | changes).encode() for changes in CHANGES]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_one_names_the_folder_to_remove(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    for use in (state.load, lifecycle.down, lambda name: lifecycle.run_inside(name, "client", ["true"])):
        with pytest.raises(BadInput) as caught:
            use("mine")
        parts = (rf"{file}: damaged \(", "lab.local.supervisor mine", f"if not, remove {file.parent}")
        assert re.fullmatch(".*".join(parts), str(caught.value), re.DOTALL)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_one_of_another_user_ends_nothing(file: Path, other: subprocess.Popen[bytes]) -> None:
    """It would name any process, with its start, as a lab's, and any file as one to be removed."""
    victim, kept = asdict(Process.of(other.pid)), file.parent.parent / "hosts.ini"
    kept.touch()
    file.write_text(json.dumps(GOOD | {"supervisor": victim, "cleaner": victim, "hosts_file": str(kept)}))
    os.chown(file, 65534, -1)
    with pytest.raises(BadInput, match="belongs to another user, and was written by no lab"):
        lifecycle.down("mine")
    assert (other.poll(), kept.exists()) == (None, True)


def test_no_signal_reaches_a_process_that_has_the_number_of_another(other: subprocess.Popen[bytes]) -> None:
    process = Process.of(other.pid)
    Process(process.pid, process.started + 1).signal(signal.SIGKILL)
    assert other.poll() is None
    process.signal(signal.SIGTERM)
    assert other.wait(60) == -signal.SIGTERM
    process.signal(signal.SIGTERM)  # it has ended


def test_the_status_command_lists_dead_labs_and_explains_others(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab_of(Process(os.getpid(), 1)).save()  # another process had this pid once
    with lab_signals():
        assert cli.main(["local", "status"]) == 0
        died, none = capsys.readouterr().out.splitlines()
        assert died == "mine: has died; `lab local down --name mine` removes what is left of it, /x/hosts.ini too"
        assert none == "no local lab is up"
        lab_of(Process.of(os.getpid()), backend="stone").save()
        assert cli.main(["local", "status"]) == 2
        assert "'stone', unknown here" in capsys.readouterr().err
        file.write_text("{")
        assert cli.main(["local", "status"]) == 2
        assert capsys.readouterr().err.startswith(f"{file}: damaged (")
    file.unlink()
    file.mkdir()
    with pytest.raises(BadInput, match="not an ordinary file"):
        state.load("mine")
