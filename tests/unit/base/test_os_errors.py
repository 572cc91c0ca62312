"""A full disk is named by the file that did not fit; and nobody is told `[Errno 22]`, or a path twice."""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.input_files import SWEEP
from support.memory_host import lab_signals
from support.synthetic_runs import trial, write_run

import lab
from lab.base.errors import BadInput
from lab.base.os_errors import explain, naming, reason_of, remedy
from lab.base.validation import read_text
from lab.cli.main import main

FULL = Path("/dev/full")
PLACE = Path(lab.__file__).parent
SYSTEM = {"OSError", "ConnectionError", "FileNotFoundError", "PermissionError", "TimeoutError", "Exception"}
# On a measured host nothing of the lab's can be imported: there the words are taken out of the error by hand
BY_HAND = {"base/private.py", "fidelity/on_host_copies.py", "fidelity/on_host_probes.py"}


def test_a_write_that_fails_names_its_file() -> None:
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: '/dev/full'$"), naming(FULL):
        FULL.write_text("x")
    with pytest.raises(FileNotFoundError, match="'/no/such'"), naming(FULL):
        Path("/no/such").read_text()


def test_an_error_of_the_system_is_told_in_words_without_what_python_adds(tmp_path: Path) -> None:
    full = OSError(28, "No space left on device", "results/run.json")
    assert explain(full) == "results/run.json: No space left on device"
    assert remedy(full, "go on") == "make room on that disk of this machine; then go on"
    assert [remedy(PermissionError(13, "Permission denied", "x"), text) for text in ("", "go on")] == ["", "go on"]
    with pytest.raises(FileNotFoundError) as caught:
        Path("/no/such/file").read_text()
    assert reason_of(caught.value) == "No such file or directory"
    assert explain(caught.value) == "/no/such/file: No such file or directory"
    assert reason_of(ValueError("no number")) == explain(OSError("no number")) == "no number"
    path = tmp_path / "hosts.ini"
    os.mkfifo(path)
    with pytest.raises(BadInput) as refused:
        read_text(path, "")
    assert str(refused.value) == f"{path}: cannot be read: not an ordinary file"


@pytest.mark.parametrize("command", ["show", "show --json", "compare", "plan", "plan --order"])
def test_a_full_standard_output_is_one_line_and_exit_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    trials = [trial(), trial(trial_id="b1-2", direction="read", case_id="x")]
    folder, other = write_run(tmp_path, trials), write_run(tmp_path, trials)
    (tmp_path / "a.toml").write_text(SWEEP)
    name, *options = command.split()
    files = {"show": [folder.path], "compare": [folder.path, other.path], "plan": [tmp_path / "a.toml"]}[name]
    with FULL.open("w") as full, lab_signals():
        monkeypatch.setattr(sys, "stdout", full)
        code = main([name, *map(str, files), *options])
    assert (code, capsys.readouterr().err) == (1, "standard output: No space left on device\n")


def test_no_message_holds_an_error_of_the_system_as_python_prints_it() -> None:
    files = {str(path.relative_to(PLACE)): path.read_text() for path in PLACE.rglob("*.py")}
    printed = [
        f"{name}:{line}: give reason_of(error) or explain(error)"
        for name, text in files.items()
        if "Error" in text and name not in BY_HAND
        for handler in ast.walk(ast.parse(text))
        if isinstance(handler, ast.ExceptHandler) and handler.name and handler.type
        if SYSTEM & {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        for line in _printed(handler)
    ]
    assert printed == []


def _printed(handler: ast.ExceptHandler) -> Iterator[int]:
    """The lines where the error itself becomes text."""
    for node in ast.walk(handler):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr")
        values = [node.value] if isinstance(node, ast.FormattedValue) else node.args if is_call else []  # type: ignore[attr-defined]
        yield from (value.lineno for value in values if isinstance(value, ast.Name) and value.id == handler.name)
