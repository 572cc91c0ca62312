"""Contributions from elsewhere: what adds up is taken, and what does not, or is there already, is refused."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.contributions import (
    Lines,
    change_lines,
    change_run,
    contribute_kept,
    forge,
    matching,
    seal,
    texts,
    transfers,
)
from support.examples import at_most
from support.paths import RUN_CAPTURES

from lab.contribution import record
from lab.contribution.flaw import MOST_FLAWS
from lab.contribution.verify import Collection, read_records, verify
from lab.results.packed_run import RUN, TRIALS


def test_the_runs_that_come_with_the_lab_add_up(whole: Path, whole_delay: Path) -> None:
    assert (texts(whole), texts(whole_delay)) == ([], [])


@pytest.mark.usefixtures("any_name")
@pytest.mark.parametrize("name", sorted(path.name for path in RUN_CAPTURES.iterdir()))
def test_a_run_of_an_earlier_lab_adds_up(tmp_path: Path, name: str) -> None:
    assert texts(contribute_kept(name, tmp_path)) == []


@pytest.mark.usefixtures("any_name")
def test_a_speed_that_was_changed_is_found_by_digest_and_median(folder: Path) -> None:
    def change(lines: Lines) -> None:
        case_id = transfers(lines)[3]["case_id"]
        for trial in transfers(lines):
            trial["elapsed_s"] *= 0.9 if trial["case_id"] == case_id else 1.0

    change_lines(folder, change)
    flaws = texts(folder)
    assert matching(rf"^{TRIALS}: (its SHA-256 is|has [0-9,]+ bytes)", flaws)
    assert matching(r"medians: .*: MB_per_s is .* recomputed from bytes and seconds", flaws)
    assert f"{record.NAME}: measured_sha256 is not that of {TRIALS}" in flaws


@pytest.mark.usefixtures("any_name")
def test_trial_ids_twice_are_found_though_nothing_can_be_computed(folder: Path) -> None:
    change_lines(folder, lambda lines: [*lines, lines[5]])
    assert matching("b001-0004: the trial_id of line 6 again|stands in line 6 already", texts(folder))


NAMES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "host": (lambda run: run["hosts"]["client"].update(hostname="marsgate"), r"a name was left in it.*: marsgate"),
    "home": (lambda run: run["hosts"]["client"].update(home="/Users/annabelle"), r"\(user\): annabelle"),
    "address": (lambda run: run.update(title="the NAS at 10.20.30.41"), r"\(ipv4\): 10\.20\.30\.41"),
    "hardware address": (lambda run: run.update(instance="a4:83:e7:12:34:56"), r"\(mac\): a4:83:e7:12:34:56"),
    "password": (lambda run: run.update(ended="smb://user-1:hunter2@host-1/share-1: no"),
        r"a name was left in it \(password\): \*\*\*$"),
    "disk": (lambda run: run.update(closed={"afp": "ata-WDC_WD40_WD-WCC7K0ABCDEF: I/O error"}), r"\(device\): ata-WDC"),
    "seal": (lambda run: run.update(seal="0" * 64), "seal: no copy without names has it"),
    "path": (lambda run: run.update(hosts_file="/home/ann/hosts.ini"), "hosts_file: no copy without names has it"),
    "never replaced": (lambda run: run.pop("replaced"), "replaced: missing"),
}  # fmt: skip


def test_names_that_were_left_in_a_run_or_a_trial_are_refused(folder: Path) -> None:
    flaws = forge(folder, run=lambda run: [change(run) for change, _ in NAMES.values()])
    assert len(flaws) == len(NAMES)
    for name, (_, expected) in NAMES.items():
        assert matching(rf"^{RUN}: .*{expected}", flaws), name
    mount = {"mount": "//ann@nas.fritz.box/Photos on /Volumes/Photos"}
    flaws = forge(folder, lines=lambda lines: lines[7]["effective"].update(mount))
    assert matching(rf"^{TRIALS}: line 8: a name was left in it \(mail\): ann@nas", flaws)


RUNS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "seed": (lambda run: run.update(seed=5), "seed 5: the sweep has 20110918"),
    "sweep": (lambda run: run.update(sweep_text=run["sweep_text"].replace("20110918", "7")), "by sweep and seed"),
    "no sweep": (lambda run: run.update(sweep_text="]"), "the order cannot be computed: not valid TOML"),
    "uncollection tool": (lambda run: run.update(sweep_text=run["sweep_text"].replace('"rsync"', '"teleport"')),
        "sweep_text: the order cannot be computed: "),
    "schema": (lambda run: run.update(schema=99), "schema 99 is newer"),
    "no schema": (lambda run: run.pop("schema"), "names no schema"),
    "hosts": (lambda run: run.update(hosts=[]), "hosts cannot be"),
    "size": (
        lambda run: run.update(
            payload_bytes=-3, sweep_text=run["sweep_text"].replace('size = "16 MiB"', "seconds = 1")
        ), "payload_bytes: -3",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("any_name")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_none_is_refused(folder: Path, name: str) -> None:
    change, expected = RUNS[name]
    change_run(folder, change)
    assert expected in "\n".join(texts(folder))


def test_a_manifest_that_a_sweep_names_is_not_read(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    os.mkfifo(secret)  # whoever opened it would wait for ever
    text = f'name = "x"\n[workload]\nkind = "tree"\nmanifest = "{secret}"\n[factors]\nprotocol = ["smb"]\n'
    flaws = forge(folder, run=lambda run: run.update(sweep_text=text))
    assert matching(rf"^{RUN}: sweep_text: the order cannot be computed: manifest\.txt: ", flaws)


@pytest.mark.usefixtures("any_name")
def test_a_run_twice_and_its_trials_are_found(folder: Path, tmp_path: Path, whole: Path, whole_delay: Path) -> None:
    collection = Collection()
    collection.add("the first", read_records(whole))
    change_run(folder, lambda run: run.update(title="another title"))  # names are no part of what was measured
    seal(folder)
    assert texts(whole, collection) == texts(folder, collection) == [f"{TRIALS}: the same run as the first"]
    other = Path(shutil.copytree(whole_delay, tmp_path / "other"))
    assert texts(other, collection) == []
    taken = [json.loads(line) for line in (whole / TRIALS).read_text().splitlines()]

    def change(lines: Lines) -> None:
        for at in (9, 10):
            lines[at] = next(trial for trial in taken if trial["trial_id"] == lines[at]["trial_id"])

    change_lines(other, change)
    seal(other)
    same = matching("the same trial", texts(other, collection))
    expected = rf"^{TRIALS}: line 10: b001-\d+: the same trial as in the first, and so in 1 more lines"
    assert len(same) == len(matching(expected, same)) == 1, same


@pytest.mark.usefixtures("any_name")
def test_a_run_that_was_cut_short_has_the_first_slots_of_its_plan(folder: Path) -> None:
    change_run(folder, lambda run: run.update(ended="interrupted", finished_at=None, load=run["load"][:1]))
    assert forge(folder, lines=lambda lines: lines[:50]) == []


@pytest.mark.usefixtures("any_name")
def test_a_measured_share_is_complete_after_whole_blocks(folder: Path) -> None:
    """`lab measure` ends when its time is over: what it lacks is no more than whole blocks at the end."""
    change_lines(folder, lambda lines: [trial for trial in lines if trial["block"] != 6])
    assert forge(folder, run=lambda run: run.update(target={"protocol": "smb"})) == []
    flaws = forge(folder, lines=lambda lines: [trial for trial in lines if trial["trial_id"] != "b005-0028"])
    assert matching(rf"^{TRIALS}: b005-0028 \(.*\) is missing", flaws)


def test_very_many_findings_are_cut(folder: Path) -> None:
    (folder / TRIALS).write_text("x\n" * 10_000)
    flaws = texts(folder)
    assert (len(flaws), flaws[-1].endswith("the others are left out")) == (MOST_FLAWS + 1, True)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=20),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)  # fmt: skip


@at_most(5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_it_verifying_ends_with_a_list(whole: Path, tmp_path: Path, data: st.DataObject) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "any", dirs_exist_ok=True))
    name = data.draw(st.sampled_from([RUN, TRIALS, record.NAME]))
    value = data.draw(VALUES)
    content = (folder / name).read_text().splitlines()
    place = slice(at := data.draw(st.integers(0, 20)), at + 1) if name == TRIALS else slice(None)
    fields = json.loads("\n".join(content[place]))
    key = data.draw(st.sampled_from(sorted(fields)))
    content[place] = [json.dumps(fields | {key: value})]
    changed = fields.get(key) != value or type(fields.get(key)) is not type(value)
    (folder / name).write_text("".join(f"{line}\n" for line in content))
    assert bool(verify(folder)) or not changed or name == record.NAME
