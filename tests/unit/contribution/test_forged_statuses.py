"""A trial that is told to be void, failed or good, against its own facts, is refused by its name."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.contributions import Lines, contribute_kept, forge, matching, transfers

from lab.results.packed_run import TRIALS

pytestmark = pytest.mark.usefixtures("any_name")
Change = Callable[[dict[str, Any]], object]
BARE: dict[str, object] = {
    "status": "failed", "elapsed_s": None, "client_cpu_s": None, "server_cpu_s": None, "wire_tx_bytes": None,
    "wire_rx_bytes": None, "retransmits": None, "effective": {}, "verified": False, "observed": {},
}  # fmt: skip
VOID: dict[str, str] = {
    "of no lab's": "other traffic",
    "none at all": "",
    "of bytes": "only 5 of 16777216 bytes crossed the client's interface eth0: something was cached",
    "of an MTU": "the MTU of the server was 1400 during the transfer, not 1500",
    "of buffers": "the TCP buffers of the client were (65536, 131072) during the transfer, not 131072",
    "of a sleep": "this machine slept for 9 s during the transfer",
    "of a clock": "the clock of client moved by 0.412 s against the controller's during the transfer",
    "of a start": "the clients did not start together: client started 0.200 s after the first (known to 0.001 s), and "
    "the shortest transfer took 1.00 s",
    "of a cache": "only 5 of 16777216 bytes were read from the server's disks: its cache was not cold",
    "of a pool": "the pool tank is DEGRADED",
    "of a link": "an outage: 1 carrier changes on the client",
    "of others": "disturbed: there was a backup",
}  # fmt: skip


def slowest_of(lines: Lines, protocol: str, count: int) -> Lines:
    trials = (trial for trial in transfers(lines) if trial["protocol"] == protocol)
    return sorted(trials, key=lambda trial: trial["elapsed_s"])[-count:]


@pytest.mark.parametrize("reason", VOID.values(), ids=VOID)
def test_the_slowest_good_trials_cannot_be_made_void(folder: Path, reason: str) -> None:
    changed: list[str] = []

    def change(lines: Lines) -> None:
        for trial in slowest_of(lines, "nfs", 8):
            trial |= {"status": "void", "reason": reason}
            changed.append(trial["trial_id"])

    flaws = forge(folder, lines=change)
    for trial_id in changed:
        expected = f"{trial_id}: is void ({reason:.80}), which its own facts do not bear out"
        assert any(expected in text for text in flaws), flaws


def test_a_good_trial_cannot_be_made_a_failed_one_while_anything_is_left_of_it(folder: Path) -> None:
    """Who takes all of its numbers away, and its course, is not found out: the docs say so."""

    def change(lines: Lines) -> None:
        first, second = slowest_of(lines, "smb", 2)
        first |= {"status": "failed", "reason": "client: cp: exit code 1"}
        second |= BARE | {"reason": "client: cp: exit code 1"}

    flaws = forge(folder, lines=change)
    assert matching(r"b\d+-\d+: failed, and has what only a transfer that ended well has: elapsed_s", flaws)
    assert matching(r"^samples.jsonl: line \d+: b\d+-\d+: a course of a trial that failed", flaws)


GOOD: dict[str, tuple[Change, str]] = {
    "an MTU": (lambda trial: trial["effective"].update(server_mtu="1400"),
        "is ok, and the MTU of the server was 1400 during"),
    "buffers": (lambda trial: trial["effective"].update(client_tcp_rmem="4096 1 7"),
        "is ok, and the TCP buffers of the client were"),
    "buffers that cannot be read": (lambda trial: trial["effective"].pop("client_tcp_wmem"),
        "is ok, and client: the TCP buffers cannot be read"),
    "not compared": (lambda trial: trial.update(verified=False), "verified is False, where what was moved is compared"),
    "a reason": (lambda trial: trial.update(reason="but slow"), "is ok, and has a reason not to be: but slow"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_trial_that_contradicts_what_it_claims_is_not_good(folder: Path, name: str) -> None:
    change, expected = GOOD[name]
    written = {"direction": "write", "tool": "cp"}

    def change_one(lines: Lines) -> None:
        change(next(trial for trial in transfers(lines) if trial.items() >= written.items()))

    assert matching(rf"^{TRIALS}: line \d+: b\d+-\d+: {expected}", forge(folder, change_one))


def test_void_trials_of_a_real_run_cannot_be_made_good(tmp_path: Path) -> None:
    """Settings of these hosts were changed by somebody else while they were measured."""

    def change(lines: Lines) -> None:
        for trial in lines:
            trial |= {"status": "ok", "reason": ""} if trial["status"] == "void" else {}

    flaws = forge(contribute_kept("faulty", tmp_path), lines=change)
    assert len(matching(r"is ok, and the TCP buffers of the server were \(65536, 131072\)", flaws)) == 2
    assert len(matching("is ok, and the MTU of the server was 1400", flaws)) == 2


def test_a_test_of_the_link_cannot_be_made_void_or_slower_than_it_was(folder: Path) -> None:
    reasons = ["", "an outage: 2 carrier changes on the client"]
    slower = "3.0 MB/s, less than half of its twin's 46.0: measured again, 46.3"

    def change(lines: Lines) -> None:
        tests = [trial for trial in lines if trial["protocol"] == "link" and trial["trial_id"].endswith("-after")]
        for test, reason in zip(tests, reasons, strict=False):
            test |= {"status": "void", "reason": reason}
        lines.append(tests[2] | {"trial_id": f"{tests[2]['trial_id']}-void", "status": "void", "reason": slower})

    flaws = forge(folder, lines=change)
    assert len(matching("-after: is void, and was not measured again", flaws)) == 2
    assert matching(r"-after-void: is void \(3\.0 MB/s, less than half.*it was not", flaws)


def test_a_failed_trial_that_was_measured_again_behind_all_others_is_whole(folder: Path) -> None:
    def retry(lines: Lines) -> None:
        one = next(one for one in transfers(lines) if one["block"] == 2)
        failed = BARE | {"trial_id": f"{one['trial_id']}-failed", "reason": "client: cp: exit code 1"}
        later = datetime.fromisoformat(lines[-1]["started_at"]) + timedelta(seconds=3)
        lines.append(one | {"started_at": later.isoformat(timespec="milliseconds")})
        one |= failed

    def end(run: dict[str, Any]) -> None:
        run["finished_at"] = (datetime.fromisoformat(run["finished_at"]) + timedelta(seconds=9)).isoformat()

    assert forge(folder, lines=retry, run=end) == []


def test_a_block_is_set_aside_as_a_whole_and_for_a_load_that_its_trials_saw(folder: Path) -> None:
    reason = "disturbed: others used 1.4 cores of the client and 1.4 cores of the server"

    def change(lines: Lines) -> None:
        trial = next(trial for trial in transfers(lines) if trial["block"] == 2)
        lines.append(trial | {"trial_id": f"{trial['trial_id']}-disturbed", "status": "void", "reason": reason})

    flaws = forge(folder, lines=change)
    assert matching(rf"^{TRIALS}: b002-\d+-disturbed is missing: others of its block", flaws)
    assert matching(r"was set aside \(others used 1\.4 cores.*nobody disturbed it", flaws)
