"""A trial that is told to be void, failed or good, against its own facts, is refused by its name."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.contributions import Lines, contribute_kept, forge, transfers

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
    own = [one for one in transfers(lines) if one["protocol"] == protocol]
    return sorted(own, key=lambda one: one["elapsed_s"])[-count:]


@pytest.mark.parametrize("reason", VOID.values(), ids=VOID)
def test_the_slowest_good_trials_cannot_be_made_void(folder: Path, reason: str) -> None:
    changed: list[str] = []

    def change(lines: Lines) -> None:
        for one in slowest_of(lines, "nfs", 8):
            one |= {"status": "void", "reason": reason}
            changed.append(one["trial_id"])

    findings = forge(folder, lines=change)
    for trial_id in changed:
        expected = f"{trial_id}: is void ({reason:.80}), which its own facts do not bear out"
        assert any(expected in one for one in findings), findings


def test_a_good_trial_cannot_be_made_a_failed_one_while_anything_is_left_of_it(folder: Path) -> None:
    """Who takes all of its numbers away, and its course, is not found out: the docs say so."""

    def change(lines: Lines) -> None:
        first, second = slowest_of(lines, "smb", 2)
        first |= {"status": "failed", "reason": "client: cp: exit code 1"}
        second |= BARE | {"reason": "client: cp: exit code 1"}

    findings = forge(folder, lines=change)
    failed = r"b\d+-\d+: failed, and has what only a transfer that ended well has: elapsed_s"
    assert any(re.search(failed, one) for one in findings)
    assert any(re.match(r"samples.jsonl: line \d+: b\d+-\d+: a course of a trial that failed", one) for one in findings)


GOOD: dict[str, tuple[Change, str]] = {
    "an MTU": (
        lambda one: one["effective"].update(server_mtu="1400"), "is ok, and the MTU of the server was 1400 during"
    ),
    "buffers": (
        lambda one: one["effective"].update(client_tcp_rmem="4096 1 7"), "is ok, and the TCP buffers of the client were"
    ),
    "buffers that cannot be read": (
        lambda one: one["effective"].pop("client_tcp_wmem"), "is ok, and client: the TCP buffers cannot be read"
    ),
    "not compared": (lambda one: one.update(verified=False), "verified is False, where what was moved is compared"),
    "a reason": (lambda one: one.update(reason="but slow"), "is ok, and has a reason not to be: but slow"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_trial_that_contradicts_what_it_claims_is_not_good(folder: Path, name: str) -> None:
    change, expected_text = GOOD[name]
    written = {"direction": "write", "tool": "cp"}

    def change_one(lines: Lines) -> None:
        change(next(one for one in transfers(lines) if one.items() >= written.items()))

    findings = forge(folder, change_one)
    assert [one for one in findings if re.match(rf"{TRIALS}: line \d+: b\d+-\d+: {expected_text}", one)]


def test_void_trials_of_a_real_run_cannot_be_made_good(tmp_path: Path) -> None:
    """Settings of these hosts were changed by somebody else while they were measured."""
    folder = contribute_kept("faulty", tmp_path)

    def change(lines: Lines) -> None:
        for one in lines:
            if one["status"] == "void":
                one |= {"status": "ok", "reason": ""}

    findings = forge(folder, lines=change)
    assert len([one for one in findings if "is ok, and the TCP buffers of the server were (65536, 131072)" in one]) == 2
    assert len([one for one in findings if "is ok, and the MTU of the server was 1400" in one]) == 2


def test_a_test_of_the_link_cannot_be_made_void_or_slower_than_it_was(folder: Path) -> None:
    reasons = ["", "an outage: 2 carrier changes on the client"]
    reasons.append("3.0 MB/s, less than half of its twin's 46.0: measured again, 46.3")

    def change(lines: Lines) -> None:
        tests = [one for one in lines if one["protocol"] == "link" and one["trial_id"].endswith("-after")]
        for one, reason in zip(tests, reasons, strict=False):
            again = one | {"trial_id": f"{one['trial_id']}-void"} if "again" in reason else one
            again |= {"status": "void", "reason": reason}
            if again is not one:
                lines.append(again)

    findings = forge(folder, lines=change)
    assert len([one for one in findings if re.search("-after: is void, and was not measured again", one)]) == 2
    assert [one for one in findings if re.search(r"-after-void: is void \(3\.0 MB/s, less than half.*it was not", one)]


def test_a_block_is_set_aside_as_a_whole_and_for_a_load_that_its_trials_saw(folder: Path) -> None:
    reason = "disturbed: others used 1.4 cores of the client and 1.4 cores of the server"

    def change(lines: Lines) -> None:
        one = next(one for one in transfers(lines) if one["block"] == 2)
        lines.append(one | {"trial_id": f"{one['trial_id']}-disturbed", "status": "void", "reason": reason})

    findings = forge(folder, lines=change)
    assert [one for one in findings if re.match(rf"{TRIALS}: b002-\d+-disturbed is missing: others of its block", one)]
    assert [one for one in findings if "was set aside (others used 1.4 cores" in one and "nobody disturbed it" in one]
