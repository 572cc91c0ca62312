"""Every way out of a run, as a line to type, and what is looked for in what comes of it."""

import shutil
from pathlib import Path

import pytest

from support.commands import lab
from support.planted_messages import PASSWORDS
from support.planted_names import SENTENCE, found_in, leaks, write_planted
from support.synthetic_runs import RUN

# {run} and {other} are planted runs. What each writes is the folder or the file `out`, or on standard output
PUBLISHED = {
    "report": ("report {run} --to out", "report {run} --to out --format gist --front-matter yaml"),
    "export": ("export {run} --to folder --output out", "export {run} {other} --to json"),
    "compare": ("compare {run} {other} --to out --json",),
    "contribute": ("contribute {run} --output out",),
}
PUBLISHED_FURTHER = {
    "report": ("report {run} --to out --format post --front-matter toml",),
    "export": (
        "export {run} {other} --to csv --output out", "export {run} --to json --tidy --output out",
        "export {run} {other} --to parquet --output out",
    ),
    "compare": ("compare {run} {other} --over-pairs --to out --json", "compare published {example} --to out --json"),
}  # fmt: skip
WITH_HOSTS, WITH_KERNELS = {"fidelity"}, {"notebook"}  # tests/unit/fidelity and tests/breadth/notebook have these
SHOWN = {
    "show": ("show {run} --full", "show {run} --json", "show {run} --table lost", "show {run} --table remarks"),
    "list": ("list", "list --json"),
    "compare": ("compare {run} {other} --json",),
    "export": ("export {run} --to json --no-redact",),
}
SHOWN_FURTHER = {
    "show": ("show {run}",),
    "compare": ("compare {run} {other}", "compare {run} {other} --to out --no-redact"),
    "export": ("export {run} --to csv --no-redact",),
    "published": ("published {run}", "published {run} --json"),
    "history": ("history annabelle --plot out.svg", "history annabelle --json"),
    "dataset": ("dataset add {run} {other}", "dataset show", "dataset show --json", "dataset history annabelle"),
    "report": ("report {run} --to out --no-redact",),
}
# These write nothing of a run that is there
NO_WAY_OUT = {"measure", "init", "check", "plan", "run", "restore", "workload", "fleet", "host", "local", "completion"}


def write_two(results: Path) -> tuple[Path, Path]:
    """Two planted runs, on other hosts, so that they are compared as pairs, too."""
    hosts = {role: {**facts, "hostname": f"pair-{role}", "cpu": "another"} for role, facts in RUN["hosts"].items()}
    first = write_planted(results)
    return first.path, write_planted(results, id="f" * 32, hosts=hosts, title=f"{SENTENCE} 2").path


def assert_names_nobody(line: str, folder: Path, capsys: pytest.CaptureFixture[str], example: Path = Path()) -> None:
    """Type a line of PUBLISHED in this folder, and look into all that it wrote and printed."""
    run, other = write_two(folder / "results")
    code, output, errors = lab(capsys, *line.format(run=run, other=other, example=example).split())
    assert code == line.startswith("contribute")  # invented trials do not add up
    assert "a name was left" not in errors
    out = folder / "out"
    written = out if out.is_dir() else folder / "alone"
    if out.is_file():
        written.mkdir()
        shutil.move(out, written / "out")
    assert leaks(written) == []
    assert found_in(output.encode(), PASSWORDS) == []
    assert "--json" in line or found_in(output.encode()) == []  # what is printed then is the owner's
    assert "nas-of-ann (host): host-1\n" in errors
    assert "warning: the title is published as it is" in errors
    assert found_in(errors.encode(), PASSWORDS) == []


def assert_shows_no_password(lines: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Type lines of SHOWN in this folder, and look for passwords in all that they wrote and printed."""
    run, other = write_two(folder / "results")
    for line in lines:
        code, output, errors = lab(capsys, *line.format(run=run, other=other).split())
        assert code == 0, errors
        assert found_in(f"{output}{errors}".encode(), PASSWORDS) == []
    shutil.rmtree(folder / "results")
    assert leaks(folder, PASSWORDS) == []
