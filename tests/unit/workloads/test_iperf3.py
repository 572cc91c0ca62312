"""The report of iperf3: read with care, and asked for again where the server was between two tests."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import JSON
from support.fake_host import EmulatedHost
from support.paths import LINUX_CAPTURES

from lab.base.errors import LabFailure
from lab.workloads import iperf3


def capture(name: str) -> str:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["iperf3.json", "iperf3-reverse.json"])
def test_iperf3_counts_what_arrived(name: str) -> None:
    end = json.loads(capture(name))["end"]
    found = iperf3.parse(capture(name))
    assert found["bytes"] == end["sum_received"]["bytes"]
    assert found["bytes"] / found["elapsed_s"] == pytest.approx(found["bytes_per_s"], rel=1e-6)
    assert 100e6 < found["bytes_per_s"] < 125e6  # the link of the capture had 1 Gbit/s
    assert found["retransmits"] == end["sum_sent"]["retransmits"]


def test_iperf3_says_itself_what_went_wrong() -> None:
    with pytest.raises(LabFailure, match=r"iperf3: unable to connect to server .*: Connection refused"):
        iperf3.parse(capture("iperf3-refused.json"))


IPERF3 = """
tries=$(cat tries 2>/dev/null || echo 0); echo $((tries + 1)) >tries
[ "$tries" -lt {failures} ] && exec cat {capture}/{failed}
cat {capture}/iperf3.json
"""


def link_client(folder: Path, failures: int, failed: str) -> EmulatedHost:
    """A client whose iperf3 prints a failed report so many times, and a good one after that."""
    script = IPERF3.format(failures=failures, failed=failed, capture=LINUX_CAPTURES)
    return EmulatedHost(folder, {"iperf3": script}, ["cat"])


def test_a_read_is_what_the_server_sends() -> None:
    words = {way: iperf3.client_words((iperf3.NAME,), "192.0.2.2", way, 1, 5201) for way in ("read", "write")}
    assert [word for word in words["read"] if word not in words["write"]] == ["--reverse"]
    assert set(words["write"]) < set(words["read"])


def test_a_ceiling_that_met_the_server_between_two_tests_is_measured_again(tmp_path: Path) -> None:
    client = link_client(tmp_path, 2, "iperf3-reset.json")
    assert iperf3.measure(client, (iperf3.NAME,), "192.0.2.2", "read", 1)["bytes"] > 0
    assert len(client.calls("iperf3")) == 3


def test_a_test_that_had_begun_is_no_other_the_second_time(tmp_path: Path) -> None:
    client = link_client(tmp_path, 1, "iperf3-broken.json")
    with pytest.raises(LabFailure, match="iperf3: control socket has closed unexpectedly"):
        iperf3.measure(client, (iperf3.NAME,), "192.0.2.2", "read", 1)
    assert len(client.calls("iperf3")) == 1


def test_a_server_that_does_not_come_back_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iperf3, "RETRY_S", 0.3)
    client = link_client(tmp_path, 99, "iperf3-refused.json")
    with pytest.raises(LabFailure, match="Connection refused"):
        iperf3.measure(client, (iperf3.NAME,), "192.0.2.2", "read", 1)
    assert len(client.calls("iperf3")) > 1


@given(st.text(max_size=50) | JSON.map(json.dumps) | JSON.map(lambda end: json.dumps({"end": end})))
def test_no_report_of_iperf3_whatever_is_another_error(text: str) -> None:
    with pytest.raises(LabFailure):
        iperf3.parse(text)


@given(JSON, JSON)
def test_no_total_of_iperf3_whatever_is_another_error(received: Any, sent: Any) -> None:
    with pytest.raises(LabFailure):
        iperf3.parse(json.dumps({"end": {"sum_received": received, "sum_sent": sent}}))
