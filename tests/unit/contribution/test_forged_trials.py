"""What a forger changes in the trials of a contribution is refused by its name, whatever he computes again."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.contributions import Lines, change_lines, texts, transfers

from lab.contribution import verify
from lab.results.packed_run import TRIALS

# What a forger does who computes all digests and medians again: the change, and what is found all the same
FORGED: dict[str, tuple[Callable[[Lines], Lines | None], str]] = {}


def hours_later(started_at: str, hours: int) -> str:
    return (datetime.fromisoformat(started_at) + timedelta(hours=hours)).isoformat(timespec="milliseconds")


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


@forged(r"line \d+: b001-0004: is ok, and only 1000 of 16777216 bytes crossed the client's interface")
def what_came_from_a_cache(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["wire_tx_bytes"] = one["wire_rx_bytes"] = 1000


@forged(r"line \d+: b001-0004: is ok, and what crossed the wire is not counted")
def nothing_counted(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["wire_tx_bytes"] = one["wire_rx_bytes"] = None


@forged(r"line \d+: b001-0004: ceiling_bytes_per_s 2e\+08, and the test of the link before it gave [0-9.e+]+")
def another_ceiling(lines: Lines) -> None:
    next(line for line in lines if line["trial_id"] == "b001-0004")["ceiling_bytes_per_s"] = 2e8


@forged(r"line \d+: b001-0005 began [0-9.]+ s after b001-0004, which took [0-9.]+ s")
def trials_at_the_same_time(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    one["elapsed_s"] = 9.0


@forged(r"line \d+: b001-0005 began 359\d\.\d s before b001-0004, which stands above it")
def a_time_before_the_one_above(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0005")
    one["started_at"] = hours_later(one["started_at"], -1)


@forged(r"line \d+: b006-\d+ ended \d+ s after the run")
def a_time_after_the_run(lines: Lines) -> None:
    last = transfers(lines)[-1]
    last["started_at"] = hours_later(last["started_at"], 1)


@forged(r"line \d+: b001-0006: the measurement of line \d+ again")
def a_trial_copied(lines: Lines) -> None:
    one, other = (next(line for line in lines if line["trial_id"] == f"b001-000{n}") for n in (5, 6))
    for name in ("started_at", "elapsed_s", "wire_tx_bytes", "wire_rx_bytes"):
        other[name] = one[name]


@forged(r"b001-link-mtu1500-tcp65536-write is missing")
def a_test_of_the_link_left_out(lines: Lines) -> Lines:
    for one in transfers(lines):
        if (one["block"], one["mtu"], one["tcp_space"], one["direction"]) == (1, 1500, 65536, "write"):
            one["ceiling_bytes_per_s"] = None
    return [one for one in lines if one["trial_id"] != "b001-link-mtu1500-tcp65536-write"]


@forged(r"b003-link-mtu\d+-tcp\d+-read-after is missing")
def all_second_tests_of_a_block_left_out(lines: Lines) -> Lines:
    return [one for one in lines if one["block"] != 3 or not one["trial_id"].endswith("-after")]


@forged(r"line \d+: b002-link-mtu1400-tcp1-read: the sweep and its seed give no such test of the link")
def a_test_of_no_network(lines: Lines) -> None:
    lines.append(next(one for one in lines if one["protocol"] == "link") | {
        "trial_id": "b002-link-mtu1400-tcp1-read", "block": 2, "mtu": 1400, "tcp_space": 1,
    })  # fmt: skip


@forged(r"line \d+: b001-0004: client_cpu_s [0-9.]+ in elapsed_s [0-9.]+ are [0-9.]+ cores, not [0-9.]+")
def seconds_that_fit_the_clock_alone(lines: Lines) -> None:
    next(line for line in lines if line["trial_id"] == "b001-0004")["elapsed_s"] *= 1.05


@forged(r"line \d+: b001-0004: observed\.wire\.overhead is [0-9.]+, and [0-9.]+ by what was counted")
def bytes_on_the_wire(lines: Lines) -> None:
    one = next(line for line in lines if line["trial_id"] == "b001-0004")
    for name in ("wire_tx_bytes", "wire_rx_bytes"):
        one[name] += 100_000


@forged(r"line \d+: b001-0001-2: the measurement of line \d+ again, and so in \d+ more lines")
def all_trials_twice(lines: Lines) -> Lines:
    return [*lines, *(one | {"trial_id": f"{one['trial_id']}-2"} for one in transfers(lines))]


@pytest.mark.usefixtures("any_name")
@pytest.mark.parametrize("name", FORGED)
def test_what_a_careful_forger_changed_is_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for check in ("check_digests", "_check_record"):  # he computed again what they look at
        monkeypatch.setattr(verify, check, lambda *_: iter(()))
    change, found = FORGED[name]
    change_lines(folder, change)
    said = texts(folder)
    assert [text for text in said if re.match(rf"{TRIALS}: (.*: )?{found}|{TRIALS}: {found}", text)], said
