"""Real runs of an earlier lab, in ``tests/captures/runs``: their tables, plans and comparisons stay the same.

Only the last digits of a fraction may differ, because the numerical library adds in another order on another processor.
A new factor adds a key or a column, which is no difference. ``LAB_KEEP=1`` keeps what was changed on purpose.
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
from support.commands import Command
from support.paths import RUN_CAPTURES, unpack_run

from lab.base.errors import BadInput
from lab.design.blocks import Ordering
from lab.design.sweep_file import load_sweep
from lab.hosts.hosts_file import load_hosts
from lab.results.run_folder import RunFolder
from lab.run.begin.compatibility import check_fit
from lab.run.begin.look import plan_of
from lab.run.transfer.recorded import check_recorded

FRACTION = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
pytestmark = pytest.mark.usefixtures("empty_place")
RUNS = ("demo", "guests", "macs", "faulty", "interrupted", "old-schema")


def assert_kept(name: str, file: str, text: str) -> None:
    """The text is the kept one, apart from new keys or columns."""
    packed = RUN_CAPTURES / name / f"{file}.gz"
    kept = gzip.decompress(packed.read_bytes()).decode()
    known = (only_columns_of if packed.stem.endswith(".csv") else only_keys_of_text)(kept, text)
    if os.environ.get("LAB_KEEP") and known != kept:
        packed.write_bytes(gzip.compress(text.encode(), mtime=0))
        known = kept = text
    assert FRACTION.sub("#", known) == FRACTION.sub("#", kept)
    fractions, kept_fractions = ([float(text) for text in FRACTION.findall(content)] for content in (known, kept))
    assert fractions == pytest.approx(kept_fractions, rel=1e-9, abs=1e-9)


def only_keys_of_text(kept: str, text: str) -> str:
    """JSON with only the keys that it had when it was kept, as it was written then."""
    old = json.loads(kept)
    known = only_keys_of(old, json.loads(text))
    return kept if known == old else json.dumps(known, indent=1) + "\n"


def only_keys_of(kept: Any, value: Any) -> Any:
    """The value with only the keys that it had when it was kept: keys are added, and none goes or changes."""
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
    """The plan without new factors, where it names them among others."""
    kept = json.loads(gzip.decompress((RUN_CAPTURES / name / "plan.json.gz").read_bytes()))
    for factor in plan["factors"].keys() - kept["factors"].keys():
        (level,) = plan["factors"][factor]
        for stratum in plan["strata"]:
            stratum["factors"] = [other for other in stratum["factors"] if other != factor]
        plan["cannot_tell"] = [text.replace(f", {factor} {level}", "") for text in plan["cannot_tell"]]
    return plan


def only_columns_of(kept: str, text: str) -> str:
    """A table with only the columns that it had when it was kept."""
    columns = next(csv.reader(kept.splitlines()))
    known = io.StringIO()
    writer = csv.DictWriter(known, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv.DictReader(io.StringIO(text)))
    return known.getvalue()


def unpack(name: str) -> None:
    """Unpack the run folder ``name``, its sweep and its hosts file into the working folder."""
    unpack_run(name, Path(name))
    shutil.copy(RUN_CAPTURES / name / "sweep.toml", f"{name}.toml")
    shutil.copy(RUN_CAPTURES / name / "hosts.ini", f"{name}.ini")


@pytest.mark.parametrize("name", RUNS)
def test_an_old_run_shows_the_same(name: str, done: Command) -> None:
    unpack(name)
    assert_kept(name, "show.json", done("show", name, "--json"))


@pytest.mark.parametrize("name", RUNS)
def test_the_sweep_of_an_old_run_makes_the_same_plan(name: str, done: Command) -> None:
    unpack(name)
    plan = without_new_factors(name, json.loads(done("plan", f"{name}.toml", "--json")))
    assert_kept(name, "plan.json", json.dumps(plan, indent=1) + "\n")
    # the lab of these hosts is gone: only the keys and passwords that the hosts file names are missing
    with pytest.raises(BadInput, match="identity: there is no key /run/file-share-lab/"):
        check_fit(load_hosts(Path(f"{name}.ini")), load_sweep(Path(f"{name}.toml")), Path())


@pytest.mark.parametrize("name", RUNS)
def test_an_old_run_can_be_resumed_in_its_order(name: str) -> None:
    unpack(name)
    folder, sweep = RunFolder(Path(name)), load_sweep(Path(f"{name}.toml"))
    assert folder.ordering is Ordering.INDEPENDENT
    check_recorded(folder, sweep, plan_of(folder, sweep))


@pytest.mark.usefixtures("empty_figures")
@pytest.mark.parametrize("name", ["demo", "faulty"])
def test_the_table_of_an_old_run_is_the_same(name: str, done: Command) -> None:
    unpack(name)
    done("report", name, "--no-redact")
    assert_kept(name, "table.csv", (Path(name) / "report" / "table.csv").read_text())


def test_two_old_runs_compare_the_same(done: Command) -> None:
    unpack("demo")
    unpack("demo-again")
    compared = json.loads(done("compare", "demo", "demo-again", "--json"))
    assert_kept("demo-again", "compare.json", json.dumps(compared, indent=1) + "\n")
