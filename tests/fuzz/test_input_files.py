"""Files of every kind that the lab reads, nearly right: each is read or refused with a message, in bounded time."""

import contextlib
import gzip
import io
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from support.examples import bounded, in_one_folder, mutated
from support.input_files import HOSTS, SWEEP
from support.made_up_labs import lab_of
from support.operations import OLD_VALUES
from support.paths import CAPTURED_RUNS, ROOT, RUN_CAPTURES
from support.trial_lines import judged_alike

from lab.base.errors import LabError
from lab.cli import main as cli
from lab.design import plan, plan_text
from lab.design.sweep_file import load_sweep
from lab.hosts.hosts_file import load_hosts
from lab.local import state
from lab.results.run_folder import RunFolder, load
from lab.run.case.catalogue import CATALOGUE
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import Journal, Record


def captured(file: str) -> list[bytes]:
    return [gzip.decompress((RUN_CAPTURES / name / "run" / f"{file}.gz").read_bytes()) for name in CAPTURED_RUNS]


def first_lines(contents: list[bytes], most: int = 12) -> list[bytes]:
    return [b"".join(content.splitlines(keepends=True)[:most]) for content in contents]


def written_journals() -> list[bytes]:
    """Journals of every kind of change; some changes are restored."""
    journals = []
    kinds = list(OLD_VALUES.items())
    for start in range(0, len(kinds), 8):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "journal.jsonl")
            journal = Journal(path, line_format())
            for number, (operation, old) in enumerate(kinds[start : start + 8], 1):
                journal.intend(Record(number, "client", operation, old, old, "0123abcd", "boot"))
            for record in journal.open[::2]:
                journal.close(record)
            journals.append(path.read_bytes())
    return journals


SWEEPS = [path.read_bytes() for path in sorted((ROOT / "sweeps").glob("*.toml"))] + [SWEEP.encode()]
INIS = [path.read_bytes() for path in sorted(RUN_CAPTURES.glob("*/hosts.ini"))]
INIS += [HOSTS.encode(), (ROOT / "hosts.ini").read_bytes()]
STATE = json.dumps(asdict(lab_of(platforms={"client": "linux", "server": "macos@15"})))


@contextlib.contextmanager
def read_or_refused() -> Iterator[list[str]]:
    """The block ends in bounds, without an error or with a LabError, which is then in the list."""
    messages: list[str] = []
    with bounded():
        try:
            yield messages
        except LabError as error:
            messages.append(str(error))
    assert all(0 < len(message) < 50_000 for message in messages)


@in_one_folder()
@given(mutated(captured("run.json")))
def test_run_json(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with read_or_refused():
        folder = RunFolder(tmp_path)
        assert isinstance(folder.left_out, dict)


@in_one_folder()
@given(mutated(first_lines(captured("trials.jsonl"))))
def test_trials(tmp_path: Path, content: bytes) -> None:
    """Both readers agree on what is a trial, and no number that nobody can have measured comes of one."""
    (tmp_path / "run.json").write_bytes(captured("run.json")[0])
    (tmp_path / "trials.jsonl").write_bytes(content)
    judged_alike(content if content.endswith(b"\n") else content + b"\n")
    counts = []
    with read_or_refused():
        counts.append(len(RunFolder(tmp_path).trials()))
    with read_or_refused():
        frame = load(tmp_path)
        counts.append(len(frame))
        assert not frame.select_dtypes("number").isin([float("inf"), -float("inf")]).any(axis=None)
        assert (frame["MB_per_s"].ge(0) | frame["status"].ne("ok")).all()
    assert len(counts) in (0, 2), "one reader refuses what the other reads"
    assert len(set(counts)) < 2


@in_one_folder(4)
@given(run=mutated(captured("run.json"), 2), trials=mutated(first_lines(captured("trials.jsonl"), 60), 3))
def test_show(tmp_path: Path, run: bytes, trials: bytes) -> None:
    (tmp_path / "run.json").write_bytes(run)
    (tmp_path / "trials.jsonl").write_bytes(trials)
    with bounded(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = cli.main(["show", str(tmp_path)])
    assert (code == 0) == (not errors.getvalue()), errors.getvalue()
    assert "Traceback" not in errors.getvalue()


@in_one_folder()
@given(mutated(written_journals()))
def test_journal(tmp_path: Path, content: bytes) -> None:
    """Reading a journal repairs it, but loses no open change."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)
    with read_or_refused():
        journal = Journal(path, line_format())
        again = Journal(path, line_format())
        assert [record.number for record in again.open] == [record.number for record in journal.open]
        assert journal.next_number() > 0


@in_one_folder()
@given(mutated(INIS))
def test_hosts_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "hosts.ini"
    path.write_bytes(content)
    path.chmod(0o600)
    with read_or_refused() as messages:
        load_hosts(path)
    assert all(message.startswith(f"{path}: ") for message in messages)


@in_one_folder()
@given(mutated(SWEEPS))
def test_sweep_and_plan(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sweep.toml"
    path.write_bytes(content)
    with read_or_refused() as messages:
        sweep = load_sweep(path)
        for line in plan_text.describe(sweep, plan.plan(sweep, CATALOGUE)):
            line.encode()
    assert all(message.startswith(f"{path}: ") for message in messages)


@in_one_folder()
@given(mutated([STATE.encode()]))
def test_state_of_a_local_lab(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine").mkdir(exist_ok=True)
    (tmp_path / "mine" / "state.json").write_bytes(content)
    with pytest.MonkeyPatch.context() as patch, read_or_refused():
        patch.setattr(state, "RUN", tmp_path)
        assert state.load("mine") is not None
