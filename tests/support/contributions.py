"""Contributions of the runs that come with the lab, and of a forger who recomputes all that can be recomputed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.base.present import present
from lab.contribution import record
from lab.contribution.record import Contribution, contribute
from lab.contribution.verify import verify
from lab.results import examples
from lab.results.packed_run import RUN, TRIALS
from lab.results.run_folder import RunFolder
from support.paths import unpack_run

Lines = list[dict[str, Any]]


def contribute_example(to: Path, name: str = "example") -> Path:
    contribute(present(examples.find(name)), to)
    return to


def contribute_kept(name: str, to: Path) -> Path:
    """The contribution of an old run that is kept with the tests."""
    contribute(RunFolder(unpack_run(name, to / name)), to / "contribution")
    return to / "contribution"


def change_lines(folder: Path, change: Callable[[Lines], Lines | None]) -> None:
    lines = [json.loads(line) for line in (folder / TRIALS).read_text().splitlines()]
    changed = change(lines)
    (folder / TRIALS).write_text("".join(f"{json.dumps(trial)}\n" for trial in (lines if changed is None else changed)))


def change_run(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    run = json.loads((folder / RUN).read_text())
    change(run)
    (folder / RUN).write_text(json.dumps(run))


def seal(folder: Path) -> None:
    """Recompute contribution.json, so that only the content itself can give a forgery away."""
    (folder / record.NAME).unlink(missing_ok=True)
    run = RunFolder(folder)
    made = Contribution(
        schema=record.SCHEMA, lab="forged", files={path.name: record.digest_file(path) for path in folder.iterdir()},
        raw_trials_sha256="0" * 64, measured_sha256=record.digest_trials(run.records()),
        hosts=record.hosts_of(run.run), medians=record.medians_of(run),
    )  # fmt: skip
    (folder / record.NAME).write_bytes(record.write(made))


def forge(
    folder: Path,
    lines: Callable[[Lines], Lines | None] | None = None,
    run: Callable[[dict[str, Any]], object] | None = None,
) -> list[str]:
    """Change trials and run.json, seal the contribution, and return the findings."""
    if lines:
        change_lines(folder, lines)
    if run:
        change_run(folder, run)
    seal(folder)
    return texts(folder)


def transfers(lines: Lines) -> Lines:
    """The good trials that moved files."""
    return [trial for trial in lines if trial["protocol"] not in ("link", "store") and trial["status"] == "ok"]


def matching(pattern: str, findings: list[str]) -> list[str]:
    return [text for text in findings if re.search(pattern, text)]


def texts(folder: Path, *more: Any) -> list[str]:
    return [str(finding) for finding in verify(folder, *more)]
