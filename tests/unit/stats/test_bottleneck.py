"""What each rule says of invented numbers, one at a time; tests/release/test_verdicts.py has real ones."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.observed_trials import BARE, FULL_LINK, IDLE_SIDE, ON_DISK, SIZE, TCP, WRITTEN, a_trial, judged, verdict
from support.synthetic_runs import make_trials, trial, write_run
from support.trial_lines import json_values

from lab.results.run_folder import load
from lab.stats.bottleneck import NUMBERS, verdicts

WINDOW = {"window_bytes": 104_000, "rwnd_limited_ms": 9000}
SMALL_WINDOW: dict[str, Any] = {"tcp_space": 65536, "elapsed_s": 10.0, "ceiling_bytes_per_s": 10.3e6, "tcp": WINDOW}
QUOTA = "server CPU: a quota kept it waiting 83 % of the time; it used 0.15 of a core"
# three digits, so that who computes it again finds the same speed
SLOWER_LINK = SMALL_WINDOW | {"tcp": WINDOW | {"rtt_median_ms": 10.46}}


@pytest.mark.parametrize(
    ("changes", "limit", "words"),
    [
        (FULL_LINK, "link", "link: 94 % of the ceiling"),
        (SLOWER_LINK, "latency × window", "window: 102 KiB per 10.5 ms is 9.94 MB/s"),
        (SMALL_WINDOW, "latency × window", "window: 102 KiB per 10 ms is 10.4 MB/s; 96 % of it was reached"),
        ({"server": {"process_mean": 0.98}}, "server CPU", "server CPU: smbd used 0.98 of one core"),
        ({"client": {"process_mean": 0.9}}, "client CPU", "client CPU: cp used 0.90 of one core"),
        ({"client": {"user": 0.6, "system": 0.35}}, "client CPU", "client CPU: 97 % of its 4 cores"),
        ({"server": {"softirq": 0.25, "core_mean": 0.97}}, "server CPU", "used 0.97 of one core"),
        ({"server": {"cpu_cores": 0.15, "throttled_s": 8.3}}, "server CPU", QUOTA),
        (ON_DISK | {"server": WRITTEN}, "disk", "disk: 96 % of what the store itself takes"),
        ({}, "protocol round trips", "98 KiB per round trip of 10 ms, where TCP allowed 707 KiB"),
        # of several that are near, one has precedence
        (SMALL_WINDOW | {"server": {"process_mean": 0.99}}, "server CPU", ""),  # fuller than the window
        (FULL_LINK | {"server": {"cpu_cores": 0.2, "throttled_s": 0.9}}, "server CPU", ""),  # it lowered the ceiling
        ({"server": {"cpu_cores": 0.1, "throttled_s": 6.0}}, "server CPU", ""),  # others had the core for the rest
        (FULL_LINK | {"server": {"cpu_cores": 0.2, "throttled_s": 0.05}}, "link", ""),  # a quota that was hardly felt
        (FULL_LINK | {"client": {"waited_s": 0.9}}, "link", ""),  # a busy machine, and yet all of the link
        (FULL_LINK | ON_DISK | {"more": {"store_ceiling_bytes_per_s": 97e6}}, "disk", ""),  # the disk is nearer
        (FULL_LINK | {"tcp": {"rwnd_limited_ms": 500}}, "link", ""),  # waited for the window, but was not bound by it
    ],
)
def test_each_limit_is_named_with_its_evidence(changes: dict[str, Any], limit: str, words: str) -> None:
    limited_by, evidence = verdict(a_trial(**changes))
    assert (limited_by, words in evidence) == (limit, True), evidence


SHARING = {"cores": 2, "user": 0.6, "system": 0.38, "softirq": 0.0, "core_mean": 0.99, "waited_s": 0.1}
WAITING = {"waited_s": 3.5, "link_cores": 0.0}


@pytest.mark.parametrize(
    ("client", "server", "both", "limit", "words"),
    [
        (1.4, 0.5, {}, "client CPU", "client CPU: 1.40 of 2 cores, 98 % busy, which it shares with the server"),
        (0.4, 1.5, {}, "server CPU", "server CPU: 1.50 of 2 cores"),
        (1.0, 0.9, {}, "protocol round trips", ""),  # neither host by itself
        (0.5, 0.2, {}, "protocol round trips", ""),  # others filled the machine
        (0.0, 1.9, {}, "server CPU", "server CPU: 1.90 of 2 cores"),  # less than a tick of the client's clock
        (0.4, 0.5, WAITING, "unclear", "others used 53 % of the cores, and the client waited for one 35 % of the time"),
        (0.4, 0.5, WAITING | {"waited_s": 6.0}, "disturbed", "waited for one 60 % of the time"),
        (0.4, 0.5, WAITING | {"link_cores": 1.0}, "unclear", ""),  # these carry the link and disturb nothing
    ],
)
def test_a_host_on_a_shared_machine(client: float, server: float, both: Any, limit: str, words: str) -> None:
    sides = {"client": SHARING | both | {"cpu_cores": client}, "server": SHARING | both | {"cpu_cores": server}}
    limited_by, evidence = verdict(a_trial(**sides), instance="here/1")
    assert (limited_by, words in evidence) == (limit, True), evidence


def test_another_near_limit_and_what_was_not_observed_are_said() -> None:
    both_limits = verdict(a_trial(**FULL_LINK, server={"process_mean": 0.9}))
    assert both_limits == ("link", "link: 94 % of the ceiling; also near: server CPU: smbd used 0.90 of one core")
    plain: dict[str, Any] = {"size_bytes": SIZE, "ceiling_bytes_per_s": 100e6}
    assert verdict(trial(**FULL_LINK | plain)) == ("unclear", "not observed; link: 94 % of the ceiling")
    limited_by, evidence = verdict(trial(**plain, elapsed_s=10.0, observed=BARE))
    assert limited_by == "unclear"
    assert evidence.startswith("not observed: the client's CPU, most of the TCP connection; ")
    assert verdict(trial(**FULL_LINK | plain, observed=BARE))[0] == "link"


def test_a_case_is_judged_by_the_medians_of_the_trials_that_count() -> None:
    speeds = [94e6, 93e6, 20e6]
    good = [a_trial(trial_id=f"b{n}", block=n, elapsed_s=SIZE / speed) for n, speed in enumerate(speeds, 1)]
    others = [
        a_trial(trial_id="void", status="void", reason="cached"),
        a_trial(trial_id="anchor", anchor=True),
        a_trial(trial_id="link", protocol="link", case_id="link-write"),
        a_trial(trial_id="store", protocol="store", case_id="store-write"),
        a_trial(trial_id="failed", case_id="other", status="failed", reason="stuck", elapsed_s=None),
    ]
    (row,) = judged(*good, *others).to_dict("records")
    assert (row["n"], row["limited_by"], row["case_id"]) == (3, "link", "afp-cp-write")
    assert [row[name] for name in ("bytes_per_s", "utilisation", "headroom")] == pytest.approx([93e6, 0.93, 0.07])


def test_a_whole_run_and_one_without_trials(tmp_path: Path) -> None:
    whole = verdicts(load(write_run(tmp_path, make_trials(blocks=1)).path))
    assert set(whole["limited_by"]) == {"unclear"}
    empty = verdicts(load(write_run(tmp_path, []).path))
    assert (len(empty), list(empty)) == (0, list(whole))
    assert set(NUMBERS) <= set(empty)


@at_most(60)
@given(part=st.dictionaries(st.sampled_from([*IDLE_SIDE, *TCP]), json_values), other=json_values)
def test_whatever_stands_in_a_file_gets_some_verdict(part: dict[str, Any], other: Any) -> None:
    observed = {"client": part, "server": other, "tcp": part, "store_ceiling_bytes_per_s": other}
    for instance in (None, "here/1"):
        rows = judged(trial(observed=observed, store="disk"), instance=instance)
        assert isinstance(rows.iloc[0]["evidence"], str)
