"""What held a transfer back, where nothing of the server was seen."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.one_sided_runs import GIGABIT, LINK, SIZE, a_run, read, seen, verdict

from lab.results.one_sided import ClientLink, is_one_sided, link_of, share_of
from lab.stats.bottleneck import REMEDY, VERDICT, verdicts
from lab.stats.limit import line_rate, speed_label

WIFI = LINK | {"medium": "wireless", "duplex": None, "bits_per_s": 433 * 10**6, "interface": "wlan0"}
VPN = LINK | {"tunnel": True, "bits_per_s": 10**7, "interface": "tun0"}


def test_a_link_carries_what_frames_and_headers_leave_of_its_speed() -> None:
    """1448 of 1538 bytes of a frame and what goes with it: 117.7 MB/s of 1 Gbit/s, as iperf3 finds on real ones."""
    assert line_rate(ClientLink(bits_per_s=10**9, mtu=1500), None, {})["line_bytes_per_s"] == pytest.approx(
        117.69e6, 1e-4
    )
    jumbo = line_rate(ClientLink(bits_per_s=10**9, mtu=9000), None, {"mss": 8948})
    assert jumbo["line_bytes_per_s"] == pytest.approx(123.75e6, 1e-3)
    assert line_rate(ClientLink(bits_per_s=10**9), None, {"mss": 99999})["line_bytes_per_s"] == pytest.approx(GIGABIT)
    radio = ClientLink(bits_per_s=433 * 10**6, medium="wireless")
    assert line_rate(radio, None, {}) == {"line_bits_per_s": 433e6, "line_bytes_per_s": 433e6 / 8, "wifi": 1.0}
    assert line_rate(radio, 866e6, {})["line_bits_per_s"] == 866e6
    for unknown in (ClientLink(), ClientLink(bits_per_s=-1), ClientLink(bits_per_s=10**9, mtu=20)):
        assert line_rate(unknown, None, {}) == {}
    assert line_rate(ClientLink(bits_per_s=10**7, tunnel=True), None, {}) == {}, "what a tunnel names is no speed"
    assert [speed_label(bits) for bits in (1e8, 1e9, 2.5e9, 1e10, 866.7e6)] == [
        "100 Mbit/s", "1 Gbit/s", "2.5 Gbit/s", "10 Gbit/s", "867 Mbit/s",
    ]  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(list(LINK)), st.none() | st.integers(-(10**20), 10**20) | st.text() | st.booleans())
)
def test_whatever_stands_in_run_json_is_a_link_or_none(link: dict[str, Any]) -> None:
    frame = a_run([seen()], link=link, target=link)
    assert len(verdicts(frame)) == 1
    assert share_of(frame.attrs["run"]).server is None
    assert is_one_sided(frame.attrs["run"])
    assert isinstance(link_of(frame.attrs["run"]), ClientLink)


def test_a_link_that_is_full_is_certain_for_its_speed_is_a_fact() -> None:
    slow = LINK | {"bits_per_s": 10**8}
    assert verdict(seen(11.2), link=slow) == (
        "link",
        "certain",
        "link: 95 % of what 100 Mbit/s carries",
    )
    assert verdict(read(11.2), link=slow)[:2] == ("link", "certain")
    name, grade, evidence = verdict(seen(110.0))
    assert (name, grade) == ("link", "certain")
    assert "93 % of what 1 Gbit/s carries" in evidence


def test_what_is_faster_than_the_link_did_not_cross_it() -> None:
    name, _, evidence = verdict(seen(200.0))
    assert name != "link"
    assert "some of it did not cross the link" in evidence


def test_where_iperf3_has_measured_the_link_its_ceiling_counts() -> None:
    """Somewhere on the way it is slower than this machine's own end of it."""
    ceiling = [
        seen(
            95.0, protocol="link", tool="iperf3", trial_id=f"link-{shot}", case_id="link-write", position=0, observed={}
        )
        for shot in ("before", "after")
    ]
    trials = [*ceiling, seen(90.0, trial_id="t", ceiling_bytes_per_s=95e6)]
    row = verdicts(a_run(trials)).iloc[0]
    assert (row["limited_by"], row["link_share"]) == ("link", pytest.approx(90 / 95))
    assert "of the ceiling" in row["evidence"]


def test_where_client_and_link_are_idle_it_is_the_server_which_cannot_be_seen() -> None:
    for one in (seen(60.0), read(60.0)):
        name, grade, evidence = verdict(one)
        assert (name, grade) == ("the server or its disk", "probable")
        assert "neither the link (51 %) nor this machine (0.25 of a core) was full" in evidence
        assert "cannot be seen from here" in evidence


@pytest.mark.parametrize(
    ("one", "run", "reason"),
    [
        (seen(60.0), {"link": LINK | {"bits_per_s": None}}, "the speed of the link is not known"),
        (seen(60.0), {"link": VPN}, "the way is a tunnel"),
        (seen(60.0), {"link": {}}, "the speed of the link is not known"),
        (seen(103.0), {}, "most of the link was in use"),
        (seen(17.0), {"link": WIFI}, "most of the link was in use"),
        (seen(60.0, client={"process_mean": 0.8}), {}, "this machine was busy (0.80 of a core), though"),
        (seen(60.0, client={"waited_s": 1.0}), {}, "this machine waited for a free core 60 % of the time"),
        (seen(60.0, observed={"tcp": {}}), {}, "not observed: the processor of this machine"),
        (seen(60.0, observed={}), {}, "not observed"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_unclear_with_the_reason(one: Any, run: dict[str, Any], reason: str) -> None:
    name, grade, evidence = verdict(one, **run)
    assert (name, grade) == ("unclear", "unclear")
    assert reason in evidence


def test_a_core_of_the_client_that_is_full_is_named_with_its_process() -> None:
    name, grade, evidence = verdict(seen(60.0, client={"process": "mount_smbfs", "process_mean": 0.97}))
    assert (name, grade) == ("client CPU", "certain")
    assert "mount_smbfs used 0.97 of one core" in evidence


@pytest.mark.parametrize("what", ["signing", "encryption"])
def test_signing_and_encryption_are_named_with_evidence_of_the_processor_alone(what: str) -> None:
    protected = {what: "AES-128-GCM"}
    name, grade, evidence = verdict(
        seen(60.0, client={"process": "kworker", "process_mean": 0.97}, effective=protected)
    )
    assert (name, grade) == (f"SMB {what}", "probable")
    assert f"SMB {what} is on (AES-128-GCM), and client CPU: kworker used 0.97 of one core" in evidence
    assert verdict(seen(60.0, effective=protected))[0] == "the server or its disk"


def test_half_duplex_is_named() -> None:
    name, grade, evidence = verdict(seen(4.0), link=LINK | {"bits_per_s": 10**8, "duplex": "half"})
    assert (name, grade) == ("half duplex", "probable")
    assert "eth0 sends or receives" in evidence
    assert verdict(seen(11.0), link=LINK | {"bits_per_s": 10**8, "duplex": "half"})[0] == "link"


def test_wifi_is_named_where_half_of_its_rate_is_in_use() -> None:
    name, grade, evidence = verdict(seen(31.0), link=WIFI)
    assert (name, grade) == ("Wi-Fi", "probable")
    assert "57 % of the 433 Mbit/s at which its radio sends" in evidence
    assert verdict(seen(31.0, client={"wifi_bits_per_s": 173 * 10**6}), link=WIFI)[1:][1].startswith("Wi-Fi: 143 %")
    assert verdict(seen(8.0), link=WIFI)[0] == "the server or its disk", "a quarter of it is no full air"


def test_packets_that_were_lost_are_named() -> None:
    name, grade, evidence = verdict(seen(20.0, tcp={"retransmits": 1500}))
    assert (name, grade) == ("lost packets", "probable")
    assert "2.2 % of what was sent was sent again" in evidence
    assert verdict(seen(20.0, tcp={"retransmits": 50}))[0] == "the server or its disk"


def test_bytes_that_queue_on_the_way_are_a_link_that_is_narrower_there() -> None:
    """Whatever this end of it carries, and where that is not known."""
    queued = {"rtt_ms": 12.0, "rtt_median_ms": 12.0, "min_rtt_ms": 0.3, "busy_ms": 4900}
    for link in (LINK, {}):
        name, grade, evidence = verdict(seen(20.0, tcp=queued), link=link)
        assert (name, grade) == ("link", "probable")
        assert "the round trip grew from 0.3 to 12 ms under this load" in evidence
    for idle in ({"busy_ms": 2000}, {"rtt_median_ms": 0.6}, {"rwnd_limited_ms": 2000}):
        assert verdict(seen(20.0, tcp=queued | idle))[0] == "the server or its disk", idle


@pytest.mark.parametrize("one", [seen, read])
@pytest.mark.parametrize(
    ("rate", "link", "speed"),
    [
        (11.7, LINK, "100 Mbit/s"),
        (11.7, {}, "100 Mbit/s"),
        (113.0, {"interface": "eth0"}, "1 Gbit/s"),
        (113.0, LINK | {"bits_per_s": 10**10}, "1 Gbit/s"),
        (285.0, LINK | {"bits_per_s": 10**10}, "2.5 Gbit/s"),
        (119.0, {"mtu": 9000}, "1 Gbit/s"),
    ],
)
def test_a_rate_that_fills_a_usual_speed_is_a_narrower_part_of_the_way(
    one: Any, rate: float, link: dict[str, Any], speed: str
) -> None:
    name, grade, evidence = verdict(one(rate), link=link)
    assert (name, grade) == ("link", "probable")
    assert f"{rate:.3g} MB/s is just what {speed} of Ethernet carries" in evidence


def test_a_rate_beside_the_usual_speeds_is_none_of_them() -> None:
    for rate, link in ((100.0, {}), (108.0, {}), (10.5, LINK), (12.5, LINK), (11.7, WIFI), (11.7, VPN)):
        assert verdict(seen(rate), link=link)[0] != "link", rate


def test_where_iperf3_filled_the_way_a_usual_speed_is_chance() -> None:
    assert verdict(seen(11.7, ceiling_bytes_per_s=110e6))[0] == "the server or its disk"


def test_a_long_way_is_seen_where_the_speed_of_the_link_is_not_known() -> None:
    far = {"rtt_ms": 25.0, "min_rtt_ms": 20.0, "data_segs_in": SIZE // 65536, "busy_ms": 30000}
    assert verdict(seen(3.0, tcp=far), link={})[0] == "protocol round trips"


def test_a_flush_at_the_end_is_the_servers_disk() -> None:
    slow_end = {"after_last_byte_s": 2.0}
    name, grade, evidence = verdict(seen(40.0, wire=slow_end))
    assert (name, grade) == ("flush to disk", "probable")
    assert "2 of 2.5 s passed after the last byte was sent" in evidence
    assert verdict(read(40.0, wire=slow_end))[0] != "flush to disk"


def test_a_start_that_takes_most_of_the_time_is_named() -> None:
    assert verdict(seen(40.0, wire={"before_first_byte_s": 1.6}))[0] == "start-up"


@pytest.mark.parametrize("options", ["rw,sync,vers=4.2", "nodev,nosuid,synchronous"])
def test_a_mount_that_waits_for_each_write_is_named_for_writes(options: str) -> None:
    effective = {"mount_options": options}
    assert verdict(seen(20.0, effective=effective))[:2] == ("mount option sync", "probable")
    assert verdict(read(20.0, effective=effective))[0] == "the server or its disk"
    assert verdict(seen(20.0, effective={"mount_options": "rw,async"}))[0] == "the server or its disk"


def test_one_request_in_a_long_round_trip_is_named() -> None:
    far = {"rtt_ms": 25.0, "min_rtt_ms": 20.0, "data_segs_in": SIZE // 65536, "busy_ms": 30000}
    for one in (seen(3.0, tcp=far), read(3.0, tcp=far)):
        name, grade, evidence = verdict(one)
        assert (name, grade) == ("protocol round trips", "probable")
        assert "59 KiB in a round trip of 20 ms, which is about one request of 64 KiB" in evidence
    several = far | {"data_segs_in": SIZE // 4096}
    assert verdict(seen(3.0, tcp=several))[0] == "the server or its disk", "many were on the way at once"


def test_a_window_that_is_too_small_for_the_way_is_named() -> None:
    """64 KiB in 10 ms are 6.5 MB/s."""
    small = {"window_bytes": 65536, "rwnd_limited_ms": 14000, "busy_ms": 15000, "rtt_ms": 10.5, "min_rtt_ms": 10.0}
    name, grade, evidence = verdict(seen(6.3, tcp=small))
    assert (name, grade) == ("latency × window", "certain")
    assert "64 KiB per 10 ms is 6.55 MB/s" in evidence


def test_a_receiver_knows_its_own_window() -> None:
    far = {"rtt_ms": 10.5, "min_rtt_ms": 10.0, "data_segs_in": 20000}
    name, _, evidence = verdict(read(6.3, tcp=far, effective={"client_rcvbuf": 131072}))
    assert name == "latency × window"
    assert "64 KiB" in evidence


def test_others_that_kept_the_client_busy_come_first() -> None:
    load = [{"block": 1, "client": 3.0}]
    assert verdict(seen(60.0, client={"waited_s": 1.0}), load=load)[0] == "disturbed"


def test_cores_that_others_fill_are_no_limit_of_the_transfer() -> None:
    full: dict[str, Any] = {"user": 0.5, "system": 0.49, "process_mean": 0.4}
    name, grade, evidence = verdict(seen(60.0, client=full), load=[{"block": 1, "client": 3.0}])
    assert (name, grade) == ("disturbed", "probable")
    assert "others used 75 % of the cores while nothing was measured, and client CPU: 100 % of its 4 cores" in evidence
    assert verdict(seen(60.0, client=full), load=[{"block": 1, "client": 0.1}])[:2] == ("client CPU", "certain")


def test_runs_that_saw_both_hosts_are_judged_as_before() -> None:
    both: dict[str, Any] = {"hosts": {"client": {}, "server": {}}}
    assert verdict(seen(60.0), **both)[0] == "unclear"
    assert verdict(seen(110.0), **both)[0] == "unclear", "the speed of an interface is no ceiling there"


counts = st.none() | st.integers(0, 10**10) | st.floats(0, 100)


def some_of(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), counts)


@given(
    rate=st.floats(0.001, 10_000),
    client=some_of("process_mean", "softirq", "user", "waited_s", "wifi_bits_per_s", "cores"),
    tcp=some_of("min_rtt_ms", "retransmits", "data_segs_in", "busy_ms", "window_bytes", "mss"),
    wire=some_of("before_first_byte_s", "after_last_byte_s"),
    link=st.sampled_from([LINK, WIFI, VPN, {}, LINK | {"duplex": "half"}]),
    direction=st.sampled_from([seen, read]),
)
def test_any_numbers_have_a_verdict(rate: float, client: Any, tcp: Any, wire: Any, link: Any, direction: Any) -> None:
    row = verdicts(a_run([direction(rate, client=client, tcp=tcp, wire=wire)], link=link)).iloc[0]
    assert row["limited_by"] in (*REMEDY, "unclear")
    assert row["grade"] in ("certain", "probable", "unclear")
    assert row["evidence"]
    assert row["utilisation"] is np.nan or not row["utilisation"] > 1 + 1e-9
    assert set(VERDICT) <= set(row.index)
