"""Contributions from elsewhere: what adds up is taken, and each thing that was forged is refused by its name."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.contributions import Lines, change_lines, change_run, of_example, seal, texts, transfers

from lab.contribution import record
from lab.contribution.finding import MOST_FINDINGS
from lab.contribution.packed import opened
from lab.contribution.verify import Known, read_records, verify
from lab.results.packed_run import RUN, SAMPLES, TRIALS


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_example(tmp_path_factory.mktemp("contributions") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "contribution"))


@pytest.mark.parametrize("name", ["example", "example-delay"])
def test_the_runs_that_come_with_the_lab_add_up(tmp_path: Path, name: str) -> None:
    assert texts(of_example(tmp_path / name, name)) == []


def test_a_speed_that_was_changed_is_found_by_digest_and_median(folder: Path) -> None:
    def change(lines: Lines) -> None:
        case_id = transfers(lines)[3]["case_id"]
        for one in transfers(lines):
            one["elapsed_s"] *= 0.9 if one["case_id"] == case_id else 1.0

    change_lines(folder, change)
    said = texts(folder)
    assert any(re.match(rf"{TRIALS}: (its SHA-256 is|has [0-9,]+ bytes)", text) for text in said)
    assert any(re.search(r"medians: .*: MB_per_s is .* recomputed from bytes and seconds", text) for text in said)
    assert f"{record.NAME}: measured_sha256 is not that of {TRIALS}" in said


# What a forger does who computes all digests and medians again: the change, and what is found all the same
FORGED: dict[str, tuple[Callable[[Lines], Lines | None], str]] = {}


def forged(found: str) -> Callable[[Callable[[Lines], Lines | None]], Callable[[Lines], Lines | None]]:
    def note(change: Callable[[Lines], Lines | None]) -> Callable[[Lines], Lines | None]:
        FORGED[change.__name__.replace("_", " ")] = change, found
        return change

    return note


@forged(r"line \d+: b\d+-\d+: [0-9.]+ MB/s, where no test of the link reached more than [0-9.]+: more than noise")
def a_speed_beyond_the_link(lines: Lines) -> None:
    transfers(lines)[0]["elapsed_s"] /= 30


@forged(r"line \d+: b\d+-\d+: [0-9.]+ MB/s, and the client's interface has [0-9.]+")
def a_speed_beyond_the_interface(lines: Lines) -> None:
    for one in transfers(lines):
        one["elapsed_s"] /= 200
    for one in lines:
        if one["protocol"] == "link":
            one["size_bytes"] *= 200
            one["elapsed_s"] *= 1.0
    for one in transfers(lines):
        one["ceiling_bytes_per_s"] = None


@forged(r"b001-0005 \(.*\) is missing")
def a_missing_trial(lines: Lines) -> Lines:
    return [one for one in lines if one["trial_id"] != "b001-0005"]


@forged(r"b006-\d+ \(.*\) is missing")
def a_last_block_left_out(lines: Lines) -> Lines:
    return [one for one in lines if one["block"] != 6]


@forged(r"line \d+: b001-0004 stands behind b001-0005, which comes after it by sweep and seed")
def two_lines_swapped(lines: Lines) -> None:
    one, other = (next(at for at, line in enumerate(lines) if line["trial_id"] == f"b001-000{n}") for n in (4, 5))
    lines[one], lines[other] = lines[other], lines[one]


@forged(r"line \d+: b001-0004: case_id is '.*', and '.*' by sweep and seed")
def two_trials_swapped(lines: Lines) -> None:
    one, other = (next(line for line in lines if line["trial_id"] == f"b001-000{n}") for n in (4, 5))
    for name in ("trial_id", "position"):
        one[name], other[name] = other[name], one[name]


@forged(r"line \d+: b001-0004: tool is '.*', and '.*' by sweep and seed")
def another_tool(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["tool"] = "rsync" if one["tool"] == "cp" else "cp"


@forged(r"line \d+: b001-0004: options: server_sync: not as the sweep has it")
def another_option(lines: Lines) -> None:
    next(line for line in lines if line["trial_id"] == "b001-0004")["options"]["server_sync"] = "async"


@forged(r"line \d+: b001-0004: size_bytes is 1, and 16777216 by sweep and seed")
def another_payload(lines: Lines) -> None:
    next(line for line in lines if line["trial_id"] == "b001-0004")["size_bytes"] = 1


@forged(r"line \d+: b099-0001: the sweep and its seed give no such trial")
def a_trial_of_no_block(lines: Lines) -> None:
    lines.append(lines[-3] | {"trial_id": "b099-0001", "block": 99})


@forged(r"line \d+: b001-0004: wire_[rt]x_bytes 1,000 is less than the payload \(16,777,216 bytes\)")
def what_came_from_a_cache(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["wire_tx_bytes"] = one["wire_rx_bytes"] = 1000


@forged(r"line \d+: b001-0004: wire_[rt]x_bytes is null, and the trial is ok")
def nothing_counted(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["wire_tx_bytes"] = one["wire_rx_bytes"] = None


@forged(r"line \d+: b001-0004: ceiling_bytes_per_s 2e\+08 is what no test of the link in block 1 gave")
def another_ceiling(lines: Lines) -> None:
    next(line for line in lines if line["trial_id"] == "b001-0004")["ceiling_bytes_per_s"] = 2e8


@forged(r"line \d+: b001-0005 began [0-9.]+ s after b001-0004, which took [0-9.]+ s")
def trials_at_the_same_time(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["elapsed_s"] = 9.0


@forged(r"line \d+: b001-0005 began 359\d\.\d s before b001-0004, which stands above it")
def a_time_before_the_one_above(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0005")
    one["started_at"] = one["started_at"].replace("T15:", "T14:")


@forged(r"line \d+: b006-\d+ ended \d+ s after the run")
def a_time_after_the_run(lines: Lines) -> None:
    transfers(lines)[-1]["started_at"] = "2026-11-26T16:58:00.000+00:00"


@forged(r"line \d+: b001-0006: the measurement of line \d+ again")
def a_trial_copied(lines: Lines) -> None:
    one, other = (next(line for line in lines if line["trial_id"] == f"b001-000{n}") for n in (5, 6))
    for name in ("started_at", "elapsed_s", "wire_tx_bytes", "wire_rx_bytes"):
        other[name] = one[name]


@pytest.mark.parametrize("name", FORGED)
def test_what_a_careful_forger_changed_is_refused_by_name(folder: Path, name: str) -> None:
    change, found = FORGED[name]
    change_lines(folder, change)
    seal(folder)
    said = texts(folder)
    assert [text for text in said if re.match(rf"{TRIALS}: (.*: )?{found}|{TRIALS}: {found}", text)], said


def test_trial_ids_twice_are_found_though_nothing_can_be_computed(folder: Path) -> None:
    def change(lines: Lines) -> None:
        lines.append(lines[5])

    change_lines(folder, change)
    said = texts(folder)
    assert any("b001-0004: the trial_id of line 6 again" in text or "stands in line 6 already" in text for text in said)


@pytest.mark.parametrize("kept", [0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_found(folder: Path, kept: float) -> None:
    content = (folder / TRIALS).read_bytes()
    (folder / TRIALS).write_bytes(content[: int(kept * len(content))])
    said = texts(folder)
    assert any(re.match(rf"{TRIALS}: line \d+: it has no end: the file was cut off", text) for text in said)
    assert any(re.match(rf"{TRIALS}: line \d+: not a trial", text) for text in said)
    assert any(re.match(rf"{TRIALS}: has [0-9,]+ bytes, and", text) for text in said)


NAMES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "host": (lambda run: run["hosts"]["client"].update(hostname="marsgate"), r"a name was left in it.*: marsgate"),
    "home": (lambda run: run["hosts"]["client"].update(home="/Users/annabelle"), r"\(user\): annabelle"),
    "address": (lambda run: run.update(title="the NAS at 10.20.30.41"), r"\(ipv4\): 10\.20\.30\.41"),
    "hardware address": (lambda run: run.update(title="a4:83:e7:12:34:56"), r"\(mac\): a4:83:e7:12:34:56"),
    "seal": (lambda run: run.update(seal="0" * 64), "seal: no copy without names has it"),
    "path": (lambda run: run.update(hosts_file="/home/ann/hosts.ini"), "hosts_file: no copy without names has it"),
    "never replaced": (lambda run: run.pop("replaced"), "replaced: missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_was_left_in_is_refused(folder: Path, name: str) -> None:
    change, found = NAMES[name]
    change_run(folder, change)
    seal(folder)
    assert [text for text in texts(folder) if re.match(rf"{RUN}: .*{found}|{RUN}: {found}", text)]


def test_a_name_in_a_trial_is_told_with_its_line(folder: Path) -> None:
    def change(lines: Lines) -> None:
        lines[7]["effective"]["mount"] = "//ann@nas.fritz.box/Photos on /Volumes/Photos"

    change_lines(folder, change)
    seal(folder)
    said = texts(folder)
    assert [text for text in said if re.match(rf"{TRIALS}: line 8: a name was left in it \(mail\): ann@nas", text)]


RUNS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "seed": (lambda run: run.update(seed=5), "seed 5: the sweep has 20110918"),
    "sweep": (lambda run: run.update(sweep_text=run["sweep_text"].replace("20110918", "7")), "by sweep and seed"),
    "no sweep": (lambda run: run.update(sweep_text="]"), "the order cannot be computed: not valid TOML"),
    "unknown tool": (
        lambda run: run.update(sweep_text=run["sweep_text"].replace('"rsync"', '"teleport"')),
        "sweep_text: the order cannot be computed: ",
    ),
    "schema": (lambda run: run.update(schema=99), "schema 99 is newer"),
    "no schema": (lambda run: run.pop("schema"), "names no schema"),
    "hosts": (lambda run: run.update(hosts=[]), "hosts cannot be"),
    "size": (
        lambda run: run.update(
            payload_bytes=-3, sweep_text=run["sweep_text"].replace('size = "16 MiB"', "seconds = 1")
        ), "payload_bytes: -3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_none_is_refused(folder: Path, name: str) -> None:
    change, found = RUNS[name]
    change_run(folder, change)
    assert any(found in text for text in texts(folder)), texts(folder)


def test_a_manifest_that_a_sweep_names_is_not_read(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    os.mkfifo(secret)  # whoever opened it would wait for ever
    text = f'name = "x"\n[workload]\nkind = "tree"\nmanifest = "{secret}"\n[factors]\nprotocol = ["smb"]\n'
    change_run(folder, lambda run: run.update(sweep_text=text))
    seal(folder)
    assert any(
        text.startswith(f"{RUN}: sweep_text: the order cannot be computed: manifest.txt: ") for text in texts(folder)
    )


def test_what_contribution_json_says_otherwise_is_found(folder: Path) -> None:
    said = json.loads((folder / record.NAME).read_text())
    said["medians"][0]["MB_per_s"] *= 1.001
    said["medians"][1]["n"] += 1
    said["hosts"]["client"]["cpu"] = "A faster one"
    lost = said["medians"].pop(2)
    (folder / record.NAME).write_text(json.dumps(said))
    found = texts(folder)
    assert len(found) == 4
    assert found[0] == f"{record.NAME}: hosts: not what run.json says of them"
    assert any(f"{lost['case_id']}: missing" in text for text in found)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 2}', "[" * 100_000, "\udcff", '{"schema": NaN}'])
def test_a_record_that_is_none_is_found(folder: Path, content: str) -> None:
    (folder / record.NAME).write_bytes(content.encode(errors="surrogateescape"))
    assert any(text.startswith(f"{record.NAME}: cannot be read: ") for text in texts(folder))


def test_a_record_of_a_newer_lab_and_none_at_all_are_found(folder: Path) -> None:
    said = json.loads((folder / record.NAME).read_text())
    (folder / record.NAME).write_text(json.dumps(said | {"schema": 9}))
    assert f"{record.NAME}: schema 9: this lab knows 1" in texts(folder)
    (folder / record.NAME).unlink()
    assert texts(folder) == [f"{record.NAME}: missing"]


def without_samples(folder: Path) -> Path:
    (folder / SAMPLES).unlink()
    return folder / SAMPLES


def link(folder: Path, name: str) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda folder: link(folder, TRIALS), f"{TRIALS}: a link, which is not followed"),
    "a link to nowhere": (lambda folder: without_samples(folder).symlink_to("nowhere"), f"{SAMPLES}: a link"),
    "another file": (lambda folder: (folder / "hosts.ini").write_text("x"), "hosts.ini: no file of a contribution"),
    "a folder": (lambda folder: (folder / "report").mkdir(), "report: no file of a contribution"),
    "a pipe": (lambda folder: os.mkfifo(without_samples(folder)), f"{SAMPLES}: no ordinary file"),
    "a large file": (lambda folder: os.truncate(folder / RUN, 1 << 34), f"{RUN}: 17,179,869,184 bytes: at most"),
    "many files": (
        lambda folder: [(folder / f"{number}.x").write_text("") for number in range(200)], ".: more than 20 files"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_no_file_of_a_contribution_is_not_opened(folder: Path, name: str) -> None:
    plant, found = PLANTED[name]
    plant(folder)
    said = texts(folder)
    assert any(text.startswith(found) for text in said), said


def test_a_place_that_is_no_folder_is_one_finding(tmp_path: Path) -> None:
    assert texts(tmp_path / "nowhere") == [".: cannot be read: No such file or directory"]


def test_a_file_that_is_not_named_is_found(folder: Path) -> None:
    said = json.loads((folder / record.NAME).read_text())
    del said["files"][SAMPLES]
    (folder / record.NAME).write_text(json.dumps(said))
    assert f"{SAMPLES}: not named in {record.NAME}" in texts(folder)


def test_the_same_run_twice_and_single_trials_of_it_are_found(folder: Path, tmp_path: Path, whole: Path) -> None:
    known = Known()
    known.add("the first", read_records(whole))
    assert texts(folder, known) == [f"{TRIALS}: the same run as the first"]
    other = of_example(tmp_path / "other", "example-delay")
    assert texts(other, known) == []
    taken = [json.loads(line) for line in (whole / TRIALS).read_text().splitlines()]

    def change(lines: Lines) -> None:
        lines[9] = next(one for one in taken if one["trial_id"] == lines[9]["trial_id"])

    change_lines(other, change)
    seal(other)
    assert any(
        re.match(rf"{TRIALS}: line 10: b001-\d+: the same trial as in the first", text) for text in texts(other, known)
    )


def test_another_copy_of_a_run_is_the_same_run(tmp_path: Path) -> None:
    """Whatever was replaced in it: names are no part of what was measured."""
    one, other = (of_example(tmp_path / name) for name in ("one", "other"))
    change_run(other, lambda run: run.update(title="another title"))
    seal(other)
    known = Known()
    known.add("one", read_records(one))
    assert texts(other, known) == [f"{TRIALS}: the same run as one"]


def test_a_run_that_was_cut_short_has_the_first_slots_of_its_plan(folder: Path) -> None:
    def change(lines: Lines) -> Lines:
        return lines[:50]

    change_lines(folder, change)
    change_run(folder, lambda run: run.update(ended="interrupted", finished_at=None))
    seal(folder)
    assert texts(folder) == []


def test_a_measured_share_is_complete_after_whole_blocks(folder: Path) -> None:
    """`lab measure` ends when its time is over: what it lacks is no more than whole blocks at the end."""
    change_lines(folder, lambda lines: [one for one in lines if one["block"] != 6])
    change_run(folder, lambda run: run.update(target={"protocol": "smb"}))
    seal(folder)
    assert texts(folder) == []
    change_lines(folder, lambda lines: [one for one in lines if one["trial_id"] != "b005-0028"])
    seal(folder)
    assert any(re.match(rf"{TRIALS}: b005-0028 \(.*\) is missing", text) for text in texts(folder))


def pack(folder: Path, archive: Path, **more: bytes) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in folder.iterdir():
            if path.name not in more:
                packed.write(path, f"top/{path.name}")
        for name, content in more.items():
            packed.writestr(f"top/{name}", content)
    return archive


def test_a_packed_contribution_is_verified_too_and_a_bomb_is_not_unpacked(folder: Path, tmp_path: Path) -> None:
    with opened(pack(folder, tmp_path / "whole.zip")) as (place, wrong):
        assert (wrong, texts(place)) == ([], [])
    with opened(pack(folder, tmp_path / "bomb.zip", **{RUN: b" " * (100 << 20)})) as (place, wrong):
        assert [str(one) for one in wrong] == ["bomb.zip: not a packed run: run.json is larger than 8 MiB"]
    with opened(pack(folder, tmp_path / "out.zip", **{"../../evil": b"x"})) as (place, wrong):
        assert (wrong, texts(place)) == ([], [])  # of what else it holds nothing is taken
        assert sorted(path.name for path in place.iterdir()) == [record.NAME, RUN, SAMPLES, TRIALS]
    (tmp_path / "none.zip").write_bytes(b"PK")
    with opened(tmp_path / "none.zip") as (place, wrong):
        assert str(wrong[0]).startswith("none.zip: not a packed run: ")


def test_very_many_findings_are_cut(folder: Path) -> None:
    (folder / TRIALS).write_text("x\n" * 10_000)
    said = texts(folder)
    assert len(said) == MOST_FINDINGS + 1
    assert said[-1].endswith("the others are left out")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=20),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_whatever_stands_in_it_verifying_ends_with_a_list(whole: Path, tmp_path: Path, data: st.DataObject) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "any", dirs_exist_ok=True))
    name = data.draw(st.sampled_from([RUN, TRIALS, record.NAME]))
    value = data.draw(VALUES)
    content = (folder / name).read_text().splitlines()
    if name == TRIALS:
        at = data.draw(st.integers(0, 20))
        one = json.loads(content[at])
        key = data.draw(st.sampled_from(sorted(one)))
        content[at] = json.dumps(one | {key: value})
    else:
        one = json.loads("\n".join(content))
        key = data.draw(st.sampled_from(sorted(one)))
        content = [json.dumps(one | {key: value})]
    changed = one.get(key) != value or type(one.get(key)) is not type(value)
    (folder / name).write_text("".join(f"{line}\n" for line in content))
    assert bool(verify(folder)) or not changed or name == record.NAME


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from([RUN, TRIALS]), st.integers(0, 2**30), st.integers(1, 255))
def test_no_byte_can_be_changed(whole: Path, tmp_path: Path, name: str, place: int, change: int) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "byte", dirs_exist_ok=True))
    content = bytearray((folder / name).read_bytes())
    content[place % len(content)] ^= change
    (folder / name).write_bytes(content)
    assert verify(folder)
