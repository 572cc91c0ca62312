"""Real runs of an earlier lab: what is shown, planned, compared and exported of them stays the same.

Only the last digits of a fraction may differ: they are other ones on another processor, for the numerical library adds
in another order there.
A new factor adds a key or a column to all of it, which is no difference. What changes on purpose is kept anew by
``LAB_KEEP=1``.

Kept in ``tests/captures/runs``: a sweep on the local lab (``demo``, and once more), one between guests, one between
emulated Macs, one with void and failed trials, one cut short, and one of the first schema.
"""

import csv
import gzip
import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.paths import RUN_CAPTURES

from lab.base.errors import BadInput
from lab.cli import main as cli
from lab.design.blocks import Ordering
from lab.design.sweep_file import load_sweep
from lab.hosts.hosts_file import load_hosts
from lab.results.run_folder import RunFolder
from lab.run.begin.compatibility import check_fit
from lab.run.begin.look import plan_of
from lab.run.runner import check_recorded

FRACTION = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
RUNS = ("demo", "guests", "macs", "faulty", "interrupted", "old-schema")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def assert_kept(name: str, file: str, text: str) -> None:
    """The text is the one that was kept, but for keys or columns that have come since."""
    packed = RUN_CAPTURES / name / f"{file}.gz"
    kept = gzip.decompress(packed.read_bytes()).decode()
    known = (only_columns_of if packed.stem.endswith(".csv") else only_keys_of_text)(kept, text)
    if os.environ.get("LAB_KEEP") and known != kept:
        packed.write_bytes(gzip.compress(text.encode(), mtime=0))
        known = kept = text
    assert FRACTION.sub("#", known) == FRACTION.sub("#", kept)
    fractions, kept_fractions = (list(map(float, FRACTION.findall(one))) for one in (known, kept))
    assert fractions == pytest.approx(kept_fractions, rel=1e-9, abs=1e-9)


def only_keys_of_text(kept: str, text: str) -> str:
    """JSON with those keys alone that it had when it was kept, as it was written then."""
    known, old = only_keys_of(json.loads(kept), json.loads(text)), json.loads(kept)
    return kept if known == old else json.dumps(known, indent=1) + "\n"


def only_keys_of(kept: Any, value: Any) -> Any:
    """The value with those keys alone that it had when it was kept: keys are added, and none goes or changes."""
    if isinstance(kept, dict) and isinstance(value, dict):
        return {key: only_keys_of(part, value[key]) for key, part in kept.items() if key in value}
    if isinstance(kept, list) and isinstance(value, list):
        if all(isinstance(part, list) and len(part) == 2 for part in kept):  # options: pairs of name and level
            names = [name for name, _ in kept]
            value = [part for part in value if part[0] in names]
        if len(kept) == len(value):
            return [only_keys_of(old, part) for old, part in zip(kept, value, strict=True)]
    return value


def without_new_factors(name: str, plan: Any) -> Any:
    """The plan without the factors that have come since it was kept, where it names them among others."""
    kept = json.loads(gzip.decompress((RUN_CAPTURES / name / "plan.json.gz").read_bytes()))
    for factor in plan["factors"].keys() - kept["factors"].keys():
        (level,) = plan["factors"][factor]
        for stratum in plan["strata"]:
            stratum["factors"] = [other for other in stratum["factors"] if other != factor]
        plan["cannot_tell"] = [text.replace(f", {factor} {level}", "") for text in plan["cannot_tell"]]
    return plan


def only_columns_of(kept: str, text: str) -> str:
    """A table with those columns alone that it had when it was kept."""
    columns = next(csv.reader(kept.splitlines()))
    known = io.StringIO()
    writer = csv.DictWriter(known, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv.DictReader(io.StringIO(text)))
    return known.getvalue()


def unpack(name: str) -> None:
    """The run folder ``name``, and beside it its sweep and its hosts file, in the working folder."""
    folder = Path(name)
    folder.mkdir()
    for packed in (RUN_CAPTURES / name / "run").iterdir():
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    shutil.copy(RUN_CAPTURES / name / "sweep.toml", f"{name}.toml")
    shutil.copy(RUN_CAPTURES / name / "hosts.ini", f"{name}.ini")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", RUNS)
def test_an_old_run_shows_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(name)
    assert_kept(name, "show.json", printed(capsys, "show", name, "--json"))


@pytest.mark.parametrize("name", RUNS)
def test_its_sweep_makes_the_same_plan(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(name)
    plan = without_new_factors(name, json.loads(printed(capsys, "plan", f"{name}.toml", "--json")))
    assert_kept(name, "plan.json", json.dumps(plan, indent=1) + "\n")
    # the hosts of a lab that is gone are still those of a hosts file; only their keys and passwords are gone too
    with pytest.raises(BadInput, match="identity: there is no key /run/file-share-lab/"):
        check_fit(load_hosts(Path(f"{name}.ini")), load_sweep(Path(f"{name}.toml")), Path())


@pytest.mark.parametrize("name", RUNS)
def test_it_can_be_gone_on_with_in_the_order_that_it_began(name: str) -> None:
    unpack(name)
    folder = RunFolder(Path(name))
    assert folder.ordering is Ordering.INDEPENDENT
    sweep = load_sweep(Path(f"{name}.toml"))
    check_recorded(folder, sweep, plan_of(folder, sweep))


@pytest.mark.usefixtures("empty_figures")
@pytest.mark.parametrize("name", ["demo", "faulty"])
def test_its_table_is_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(name)
    printed(capsys, "report", name, "--no-redact")
    assert_kept(name, "table.csv", (Path(name) / "report" / "table.csv").read_text())


def test_two_old_runs_compare_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    unpack("demo")
    unpack("demo-again")
    compared = json.loads(printed(capsys, "compare", "demo", "demo-again", "--json"))
    assert_kept("demo-again", "compare.json", json.dumps(compared, indent=1) + "\n")
