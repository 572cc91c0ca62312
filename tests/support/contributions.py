"""Contributions of the run that comes with the lab, and of a forger who computes everything again that he can."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.contribution import record
from lab.contribution.record import Contribution, contribute
from lab.contribution.verify import verify
from lab.results import examples
from lab.results.packed_run import RUN, TRIALS
from lab.results.run_folder import RunFolder
from support.paths import RUN_CAPTURES

Lines = list[dict[str, Any]]


def of_example(to: Path, name: str = "example") -> Path:
    """The contribution of a run that comes with the lab."""
    example = examples.find(name)
    assert example is not None
    contribute(example, to)
    return to


def of_kept(name: str, to: Path) -> Path:
    """The contribution of a run of an earlier lab that is kept with the tests, in a new folder."""
    run = to / name
    run.mkdir()
    for packed in (RUN_CAPTURES / name / "run").iterdir():
        (run / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    contribute(RunFolder(run), to / "contribution")
    return to / "contribution"


def change_lines(folder: Path, change: Callable[[Lines], Lines | None]) -> None:
    """Change the trials of a contribution, and nothing else."""
    lines = [json.loads(line) for line in (folder / TRIALS).read_text().splitlines()]
    changed = change(lines)
    (folder / TRIALS).write_text("".join(f"{json.dumps(one)}\n" for one in (lines if changed is None else changed)))


def change_run(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change its run.json, and nothing else."""
    run = json.loads((folder / RUN).read_text())
    change(run)
    (folder / RUN).write_text(json.dumps(run))


def seal(folder: Path) -> None:
    """Compute contribution.json again, as a forger does who knows how: only what happened can tell on him then."""
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
    """Change trials and run.json, compute contribution.json again, and return what is found."""
    if lines:
        change_lines(folder, lines)
    if run:
        change_run(folder, run)
    seal(folder)
    return texts(folder)


def transfers(lines: Lines) -> Lines:
    """The lines that moved files and are good."""
    return [one for one in lines if one["protocol"] not in ("link", "store") and one["status"] == "ok"]


def texts(folder: Path, *more: Any) -> list[str]:
    """What is found, as it is printed."""
    return [str(finding) for finding in verify(folder, *more)]
