"""What a forger changes in the trials of a contribution is refused by name, whatever else he computes again."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.contributions import Lines, change_lines, matching, texts, transfers

from lab.contribution import verify
from lab.results.packed_run import TRIALS


def numbered(lines: Lines, *numbers: int) -> Lines:
    """Trials of the first block by their numbers."""
    return [next(trial for trial in lines if trial["trial_id"] == f"b001-000{number}") for number in numbers]


def with_fourth(**facts: Any) -> Callable[[Lines], None]:
    return lambda lines: numbered(lines, 4)[0].update(facts)


def hours_later(trial: dict[str, Any], hours: int) -> None:
    started_at = datetime.fromisoformat(trial["started_at"]) + timedelta(hours=hours)
    trial["started_at"] = started_at.isoformat(timespec="milliseconds")


def speed_beyond_the_interface(lines: Lines) -> None:
    for trial in transfers(lines):
        trial["elapsed_s"] /= 200
        trial["ceiling_bytes_per_s"] = None
    for test in lines:
        test["size_bytes"] *= 200 if test["protocol"] == "link" else 1


def swap_lines(lines: Lines) -> None:
    first, second = (lines.index(trial) for trial in numbered(lines, 4, 5))
    lines[first], lines[second] = lines[second], lines[first]


def swap_trials(lines: Lines) -> None:
    first, second = numbered(lines, 4, 5)
    for name in ("trial_id", "position"):
        first[name], second[name] = second[name], first[name]


def another_tool(lines: Lines) -> None:
    (trial,) = numbered(lines, 4)
    trial["tool"] = "rsync" if trial["tool"] == "cp" else "cp"


def copy_measurement(lines: Lines) -> None:
    original, copy = numbered(lines, 5, 6)
    copy.update({name: original[name] for name in ("started_at", "elapsed_s", "wire_tx_bytes", "wire_rx_bytes")})


def without_a_test_of_the_link(lines: Lines) -> Lines:
    for trial in transfers(lines):
        if (trial["block"], trial["mtu"], trial["tcp_space"], trial["direction"]) == (1, 1500, 65536, "write"):
            trial["ceiling_bytes_per_s"] = None
    return [trial for trial in lines if trial["trial_id"] != "b001-link-mtu1500-tcp65536-write"]


def link_test_of_no_network(lines: Lines) -> None:
    test = {"trial_id": "b002-link-mtu1400-tcp1-read", "block": 2, "mtu": 1400, "tcp_space": 1}
    lines.append(next(trial for trial in lines if trial["protocol"] == "link") | test)


def more_on_the_wire(lines: Lines) -> None:
    (trial,) = numbered(lines, 4)
    for name in ("wire_tx_bytes", "wire_rx_bytes"):
        trial[name] += 100_000


# The change of a forger who computes all digests and medians again, and the flaw that he cannot avoid
FORGED: dict[str, tuple[Callable[[Lines], Lines | None], str]] = {
    "a speed beyond the link": (
        lambda lines: transfers(lines)[0].update(elapsed_s=transfers(lines)[0]["elapsed_s"] / 30),
        r"line \d+: b\d+-\d+: [0-9.]+ MB/s, where no test of the link reached more than [0-9.]+: more than noise",
    ),
    "a speed beyond the interface": (speed_beyond_the_interface,
        r"line \d+: b\d+-\d+: [0-9.]+ MB/s, and the client's interface has [0-9.]+"),
    "a missing trial": (lambda lines: [trial for trial in lines if trial["trial_id"] != "b001-0005"],
        r"b001-0005 \(.*\) is missing"),
    "a last block left out": (lambda lines: [trial for trial in lines if trial["block"] != 6],
        r"b006-\d+ \(.*\) is missing"),
    "two lines swapped": (swap_lines,
        r"line \d+: b001-0004 stands behind b001-0005, which comes after it by sweep and seed"),
    "two trials swapped": (swap_trials, r"line \d+: b001-0004: case_id is '.*', and '.*' by sweep and seed"),
    "another tool": (another_tool, r"line \d+: b001-0004: tool is '.*', and '.*' by sweep and seed"),
    "another option": (lambda lines: numbered(lines, 4)[0]["options"].update(server_sync="async"),
        r"line \d+: b001-0004: options: server_sync: not as the sweep has it"),
    "another payload": (with_fourth(size_bytes=1),
        r"line \d+: b001-0004: size_bytes is 1, and 16777216 by sweep and seed"),
    "a trial of no block": (lambda lines: [*lines, lines[-3] | {"trial_id": "b099-0001", "block": 99}],
        r"line \d+: b099-0001: the sweep and its seed give no such trial"),
    "what came from a cache": (with_fourth(wire_tx_bytes=1000, wire_rx_bytes=1000),
        r"line \d+: b001-0004: is ok, and only 1000 of 16777216 bytes crossed the client's interface"),
    "nothing counted": (with_fourth(wire_tx_bytes=None, wire_rx_bytes=None),
        r"line \d+: b001-0004: is ok, and what crossed the wire is not counted"),
    "another ceiling": (with_fourth(ceiling_bytes_per_s=2e8),
        r"line \d+: b001-0004: ceiling_bytes_per_s 2e\+08, and the test of the link before it gave [0-9.e+]+"),
    "trials at the same time": (with_fourth(elapsed_s=9.0),
        r"line \d+: b001-0005 began [0-9.]+ s after b001-0004, which took [0-9.]+ s"),
    "a time before the one above": (lambda lines: hours_later(numbered(lines, 5)[0], -1),
        r"line \d+: b001-0005 began 359\d\.\d s before b001-0004, which stands above it"),
    "a time after the run": (lambda lines: hours_later(transfers(lines)[-1], 1),
        r"line \d+: b006-\d+ ended \d+ s after the run"),
    "a trial copied": (copy_measurement, r"line \d+: b001-0006: the measurement of line \d+ again"),
    "a test of the link left out": (without_a_test_of_the_link, "b001-link-mtu1500-tcp65536-write is missing"),
    "all second tests of a block left out": (
        lambda lines: [trial for trial in lines if trial["block"] != 3 or not trial["trial_id"].endswith("-after")],
        r"b003-link-mtu\d+-tcp\d+-read-after is missing",
    ),
    "a test of no network": (link_test_of_no_network,
        r"line \d+: b002-link-mtu1400-tcp1-read: the sweep and its seed give no such test of the link"),
    "seconds that fit the clock alone": (
        lambda lines: numbered(lines, 4)[0].update(elapsed_s=numbered(lines, 4)[0]["elapsed_s"] * 1.05),
        r"line \d+: b001-0004: client_cpu_s [0-9.]+ in elapsed_s [0-9.]+ are [0-9.]+ cores, not [0-9.]+",
    ),
    "bytes on the wire": (more_on_the_wire,
        r"line \d+: b001-0004: observed\.wire\.overhead is [0-9.]+, and [0-9.]+ by what was counted"),
    "all trials twice": (
        lambda lines: [*lines, *(trial | {"trial_id": f"{trial['trial_id']}-2"} for trial in transfers(lines))],
        r"line \d+: b001-0001-2: the measurement of line \d+ again, and so in \d+ more lines",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("any_name")
@pytest.mark.parametrize("name", FORGED)
def test_what_a_careful_forger_changed_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for check in ("check_digests", "_check_record"):  # he computed again what they look at
        monkeypatch.setattr(verify, check, lambda *_: iter(()))
    change, expected = FORGED[name]
    change_lines(folder, change)
    flaws = texts(folder)
    assert matching(rf"^{TRIALS}: (.*: )?{expected}", flaws), flaws
