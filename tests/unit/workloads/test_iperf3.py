"""The report of iperf3: read with care, and asked for again where the server was between two tests."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import JSON
from support.fake_host import EmulatedHost
from support.paths import LINUX_CAPTURES

from lab.base.errors import LabFailure
from lab.workloads import iperf3


def parse(text: str) -> dict[str, float]:
    return iperf3.parse(text, "192.0.2.2 port 5201")


def capture(name: str) -> str:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["iperf3.json", "iperf3-reverse.json"])
def test_iperf3_counts_what_arrived(name: str) -> None:
    end = json.loads(capture(name))["end"]
    ceiling = parse(capture(name))
    assert ceiling["bytes"] == end["sum_received"]["bytes"]
    assert ceiling["bytes"] / ceiling["elapsed_s"] == pytest.approx(ceiling["bytes_per_s"], rel=1e-6)
    assert 100e6 < ceiling["bytes_per_s"] < 125e6  # the link of the capture had 1 Gbit/s
    assert ceiling["retransmits"] == end["sum_sent"]["retransmits"]


IPERF3 = """
tries=$(cat tries 2>/dev/null || echo 0); echo $((tries + 1)) >tries
[ "$tries" -lt {failures} ] && exec cat {capture}/{failed}
cat {capture}/iperf3.json
"""


def link_client(folder: Path, failures: int, failed: str) -> EmulatedHost:
    """A client whose iperf3 prints a failed report so many times, and a good one after that."""
    script = IPERF3.format(failures=failures, failed=failed, capture=LINUX_CAPTURES)
    return EmulatedHost(folder, {"iperf3": script}, ["cat"])


def test_a_read_is_what_the_server_sends_and_iperf3_says_itself_what_went_wrong() -> None:
    words = {way: iperf3.client_words((iperf3.NAME,), "192.0.2.2", way, 1, 5201) for way in ("read", "write")}
    assert [word for word in words["read"] if word not in words["write"]] == ["--reverse"]
    assert set(words["write"]) < set(words["read"])
    with pytest.raises(
        LabFailure, match=r"at 192.0.2.2 port 5201 \(iperf3: unable to connect .*: Connection refused\)"
    ):
        parse(capture("iperf3-refused.json"))


@pytest.mark.parametrize(("words", "meaning"), [
    ("error - the server is busy running a test. try again later", "the iperf3 at .* was busy with somebody else's"),
    ("unable to connect to server: No route to host", "there is no connection to 192.0.2.2 port 5201"),
    ("unable to send control message: Broken pipe", "the iperf3 at .* broke off the test"),
    ("unrecognized option '--reverse'", "does not know all that it was asked"),
    ("test authorization failed", "the iperf3 at 192.0.2.2 port 5201 makes no test .iperf3: test auth"),
])  # fmt: skip
@pytest.mark.parametrize(
    "report", ['{"start": {"connected": []}, "end": {}, "error": WORDS}', "{}\niperf3: WORDS", "iperf3: WORDS"]
)
def test_what_ended_a_test_is_its_own_cause_in_the_report_or_beside_it(report: str, words: str, meaning: str) -> None:
    is_json = report.endswith("}")
    with pytest.raises(LabFailure, match=meaning):
        parse(report.replace("WORDS", json.dumps(words) if is_json else words))


def test_lines_around_a_report_do_not_spoil_it() -> None:
    """esnet/iperf has printed warnings before it, an error behind it, and the whole of it twice."""
    report = capture("iperf3.json")
    for text in (f"warning: JSON data length overflow\n{report}", f"{report}\niperf3: getsockopt - Bad", report * 2):
        assert parse(text) == parse(report)


@pytest.mark.parametrize("failed", ["iperf3-reset.json", "iperf3-busy-3.9.json"])
def test_a_ceiling_that_met_the_server_between_two_tests_is_measured_again(tmp_path: Path, failed: str) -> None:
    client = link_client(tmp_path, 2, failed)
    assert iperf3.measure(client, (iperf3.NAME,), "192.0.2.2", "read", 1)["bytes"] > 0
    assert len(client.calls("iperf3")) == 3


@pytest.mark.parametrize(
    ("failures", "failed", "message", "is_tried_again"),
    [(1, "broken", ".*control socket has closed", False), (99, "refused", ".*Connection refused", True)],
)
def test_a_test_that_had_begun_or_whose_server_does_not_come_back_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, failed: str, message: str, is_tried_again: bool
) -> None:
    monkeypatch.setattr(iperf3, "RETRY_S", 0.3)
    client = link_client(tmp_path, failures, f"iperf3-{failed}.json")
    with pytest.raises(LabFailure, match=message):
        iperf3.measure(client, (iperf3.NAME,), "192.0.2.2", "read", 1)
    assert (len(client.calls("iperf3")) > 1) == is_tried_again


@pytest.mark.parametrize(
    ("part", "name", "value", "problem"),
    [("sum_received", "bytes", 0, "cannot be true: 0 bytes in 1.0"),
     ("sum_sent", "retransmits", -2, "sum_sent.retransmits is -2"),
     ("sum_received", "bits_per_second", "-nan", "sum_received.bits_per_second is '-nan'"),
     ("sum_received", "bytes", 10**17, "cannot be true: 1e[+]17 bytes in 1.0"),
     ("sum_received", "seconds", -0.5, "sum_received.seconds is -0.5")],
)  # fmt: skip
def test_a_number_that_cannot_be_true_is_named(part: str, name: str, value: object, problem: str) -> None:
    report = json.loads(capture("iperf3.json"))
    report["end"][part][name] = value
    with pytest.raises(LabFailure, match=problem):
        parse(json.dumps(report))


@pytest.mark.parametrize("value", [-1, 1.8446744073709552e19, 2**64 - 1, None])
def test_a_system_that_does_not_count_retransmits_has_none(value: object) -> None:
    """iperf3 writes -1, signed or not, or nothing, where the system's TCP_INFO lacks them."""
    report = json.loads(capture("iperf3.json"))
    report["end"]["sum_sent"] |= {"retransmits": value}
    if value is None:
        del report["end"]["sum_sent"]["retransmits"]
    assert "retransmits" not in parse(json.dumps(report))


@pytest.mark.parametrize(
    ("text", "printed"), [("", "nothing"), ('{\n "x": 1,\n "y": -nan\n}', '"y": -nan'), ("[1]", "[1]")]
)
def test_what_is_no_report_is_quoted_where_it_goes_wrong(text: str, printed: str) -> None:
    with pytest.raises(LabFailure, match=f"cannot be read; it printed: {re.escape(printed)}$"):
        parse(text)


TOTALS = st.fixed_dictionaries({"sum_received": JSON, "sum_sent": JSON}) | JSON


@given(st.text(max_size=50) | JSON.map(json.dumps) | TOTALS.map(lambda end: json.dumps({"end": end})))
def test_no_report_of_iperf3_whatever_is_another_error(text: str) -> None:
    with pytest.raises(LabFailure):
        parse(text)
