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
    ("given", "limit", "words"),
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
def test_each_limit_is_named_with_its_evidence(given: dict[str, Any], limit: str, words: str) -> None:
    limited_by, evidence = verdict(a_trial(**given))
    assert limited_by == limit, evidence
    assert words in evidence


def test_the_nearer_limit_is_named_and_the_other_one_said() -> None:
    both_limits = verdict(a_trial(**FULL_LINK, server={"process_mean": 0.9}))
    assert both_limits == ("link", "link: 94 % of the ceiling; also near: server CPU: smbd used 0.90 of one core")


SHARING = {"cores": 2, "user": 0.6, "system": 0.38, "softirq": 0.0, "core_mean": 0.99, "waited_s": 0.1}


@pytest.mark.parametrize(
    ("client", "server", "limit", "words"),
    [
        (1.4, 0.5, "client CPU", "client CPU: 1.40 of 2 cores, 98 % busy, which it shares with the server"),
        (0.4, 1.5, "server CPU", "server CPU: 1.50 of 2 cores"),
        (1.0, 0.9, "protocol round trips", ""),  # neither host by itself
        (0.5, 0.2, "protocol round trips", ""),  # others filled the machine
        (0.0, 1.9, "server CPU", "server CPU: 1.90 of 2 cores"),  # less than a tick of the client's clock
    ],
)
def test_a_host_on_a_shared_machine_answers_for_itself(client: float, server: float, limit: str, words: str) -> None:
    sides = {"client": SHARING | {"cpu_cores": client}, "server": SHARING | {"cpu_cores": server}}
    limited_by, evidence = verdict(a_trial(**sides), instance="here/1")
    assert limited_by == limit, evidence
    assert words in evidence


@pytest.mark.parametrize(("link_cores", "limit"), [(0.0, "disturbed"), (1.0, "unclear")])
def test_what_carries_the_link_of_a_local_lab_disturbs_nothing(link_cores: float, limit: str) -> None:
    both = SHARING | {"waited_s": 3.5, "link_cores": link_cores}
    sides = {"client": both | {"cpu_cores": 0.4}, "server": both | {"cpu_cores": 0.5}}
    limited_by, evidence = verdict(a_trial(**sides), instance="here/1")
    assert limited_by == limit, evidence


def test_what_was_not_observed_is_said() -> None:
    old = trial(**FULL_LINK | {"size_bytes": SIZE, "ceiling_bytes_per_s": 100e6})
    assert verdict(old) == ("unclear", "not observed; link: 94 % of the ceiling")
    mac = trial(size_bytes=SIZE, elapsed_s=10.0, ceiling_bytes_per_s=100e6, observed=BARE)
    limited_by, evidence = verdict(mac)
    assert limited_by == "unclear"
    assert evidence.startswith("not observed: the client's CPU, most of the TCP connection; ")
    full = trial(**FULL_LINK | {"size_bytes": SIZE, "ceiling_bytes_per_s": 100e6, "observed": BARE})
    assert verdict(full)[0] == "link"


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
    assert row["bytes_per_s"] == pytest.approx(93e6)
    assert (row["utilisation"], row["headroom"]) == (pytest.approx(0.93), pytest.approx(0.07))


def test_a_whole_run_and_one_without_trials(tmp_path: Path) -> None:
    whole = verdicts(load(write_run(tmp_path, make_trials(blocks=1)).path))
    assert set(whole["limited_by"]) == {"unclear"}
    empty = verdicts(load(write_run(tmp_path, []).path))
    assert len(empty) == 0
    assert list(empty.columns) == list(whole.columns)
    assert set(NUMBERS) <= set(empty.columns)


@at_most(60)
@given(part=st.dictionaries(st.sampled_from([*IDLE_SIDE, *TCP]), json_values), other=json_values)
def test_whatever_stands_in_a_file_gets_some_verdict(part: dict[str, Any], other: Any) -> None:
    observed = {"client": part, "server": other, "tcp": part, "store_ceiling_bytes_per_s": other}
    for instance in (None, "here/1"):
        rows = judged(trial(observed=observed, store="disk"), instance=instance)
        assert isinstance(rows.iloc[0]["evidence"], str)
