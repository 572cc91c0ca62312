"""What held a transfer back, where nothing of the server was seen."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.observed_trials import GIGABIT, LINK, SIZE, a_run, read, seen
from support.observed_trials import client_verdict as verdict

from lab.results.one_sided import ClientLink, is_one_sided, link_of, share_of
from lab.stats.bottleneck import REMEDY, VERDICT, verdicts
from lab.stats.limit import line_rate, speed_label

WIFI = LINK | {"medium": "wireless", "duplex": None, "bits_per_s": 433 * 10**6, "interface": "wlan0"}
VPN = LINK | {"tunnel": True, "bits_per_s": 10**7, "interface": "tun0"}


def test_a_link_carries_what_frames_and_headers_leave_of_its_speed() -> None:
    """1448 of 1538 bytes of a frame and what goes with it: 117.7 MB/s of 1 Gbit/s, as iperf3 finds on real ones."""
    plain = line_rate(ClientLink(bits_per_s=10**9, mtu=1500), None, {})
    assert plain["line_bytes_per_s"] == pytest.approx(117.69e6, 1e-4)
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


ANYTHING = st.none() | st.integers(-(10**20), 10**20) | st.text() | st.booleans()


@given(st.dictionaries(st.sampled_from(list(LINK)), ANYTHING))
def test_whatever_stands_in_run_json_is_a_link_or_none(link: dict[str, Any]) -> None:
    frame = a_run([seen()], link=link, target=link)
    assert len(verdicts(frame)) == 1
    assert share_of(frame.attrs["run"]).server is None
    assert is_one_sided(frame.attrs["run"])
    assert isinstance(link_of(frame.attrs["run"]), ClientLink)


SLOW, TENFOLD = LINK | {"bits_per_s": 10**8}, LINK | {"bits_per_s": 10**10}
HALF = SLOW | {"duplex": "half"}
BOTH: dict[str, Any] = {"hosts": {"client": {}, "server": {}}}  # a run that saw both hosts
SERVER, UNCLEAR = "the server or its disk", ("unclear", "unclear")
IDLE = "nor this machine (0.25 of a core) was full; what the server does cannot be seen from here"
QUEUED = {"rtt_ms": 12.0, "rtt_median_ms": 12.0, "min_rtt_ms": 0.3, "busy_ms": 4900}
FAR = {"rtt_ms": 25.0, "min_rtt_ms": 20.0, "data_segs_in": SIZE // 65536, "busy_ms": 30000}
SMALL = {"window_bytes": 65536, "rwnd_limited_ms": 14000, "busy_ms": 15000, "rtt_ms": 10.5, "min_rtt_ms": 10.0}
RECEIVING = {"tcp": {"rtt_ms": 10.5, "min_rtt_ms": 10.0, "data_segs_in": 20000}, "effective": {"client_rcvbuf": 131072}}
MANY = FAR | {"data_segs_in": SIZE // 20000}  # requests were on the way at once
TINY = {"window_bytes": 10240, "min_rtt_ms": 0.005, "rtt_median_ms": 0.27, "busy_ms": 2700, "rwnd_limited_ms": 2400}
FULL_CORES: dict[str, Any] = {"user": 0.5, "system": 0.49, "process_mean": 0.4}
CORE = {"process": "kworker", "process_mean": 0.97}
MOUNT = CORE | {"process": "mount_smbfs"}
SHELL = CORE | {"process": "sh"}
ALL_BUSY = "client CPU: 100 % of its 4 cores, and others used as much while nothing was measured"
OTHERS: dict[str, Any] = {"load": [{"block": 1, "client": 3.0}]}
WAITED = "others used 75 % of the cores, and the client waited for one 36 % of the time"
OTHERS_BYTES = {"overhead": 0.92, "least_overhead": 0.07}
SIGNED, ENCRYPTED = {"signing": "AES-128-GCM"}, {"encryption": "AES-128-GCM"}
CIPHER = "is on (AES-128-GCM), and client CPU: kworker used 0.97 of one core"
AGAIN = "2.2 % of what was sent was sent again"
LATE = "2 of 2.5 s passed after the last byte was sent"
GREW = "the round trip grew from 0.3 to 12 ms under this load"
ONE_REQUEST = "59 KiB in a round trip of 20 ms, which is about one request of 64 KiB"


@pytest.mark.parametrize(
    ("trial", "run", "limit", "grade", "words"),
    [
        (seen(11.2), {"link": SLOW}, "link", "certain", "link: 95 % of what 100 Mbit/s carries"),
        (read(11.2), {"link": SLOW}, "link", "certain", ""),
        (seen(110.0), {}, "link", "certain", "93 % of what 1 Gbit/s carries"),
        (seen(60.0), {}, SERVER, "probable", f"neither the link (51 %) {IDLE}"),
        (read(60.0), {}, SERVER, "probable", f"neither the link (51 %) {IDLE}"),
        (seen(60.0, client=MOUNT), {}, "client CPU", "certain", "mount_smbfs used 0.97 of one core"),
        (seen(60.0, client=CORE, effective=SIGNED), {}, "SMB signing", "probable", f"SMB signing {CIPHER}"),
        (seen(60.0, client=CORE, effective=ENCRYPTED), {}, "SMB encryption", "probable", f"SMB encryption {CIPHER}"),
        (seen(4.0), {"link": HALF}, "half duplex", "probable", "eth0 sends or receives"),
        (seen(31.0), {"link": WIFI}, "Wi-Fi", "probable", "57 % of the 433 Mbit/s at which its radio sends"),
        (seen(20.0, tcp={"retransmits": 1500}), {}, "lost packets", "probable", AGAIN),
        # a narrower part of the way, whatever this end of the link carries, and if that is not known
        (seen(20.0, tcp=QUEUED), {"link": LINK}, "link", "probable", GREW),
        (seen(20.0, tcp=QUEUED), {"link": {}}, "link", "probable", GREW),
        (seen(40.0, wire={"after_last_byte_s": 2.0}), {}, "flush to disk", "probable", LATE),
        (seen(3.0, tcp=FAR), {}, "protocol round trips", "probable", ONE_REQUEST),
        (read(3.0, tcp=FAR), {}, "protocol round trips", "probable", ONE_REQUEST),
        (seen(6.3, tcp=SMALL), {}, "latency × window", "certain", "64 KiB per 10 ms is 6.55 MB/s"),
        (seen(60.0, client=FULL_CORES), {"load": [{"block": 1, "client": 3.0}]}, *UNCLEAR, ALL_BUSY),
        (seen(60.0, client=FULL_CORES | {"waited_s": 0.6}), OTHERS, "disturbed", "probable", WAITED),
        (
            seen(110.0, client=SHELL),
            {"load": [{"block": 1, "client": 1.0}]},
            "link",
            "certain",
            "93 % of what 1 Gbit/s",
        ),
        (seen(60.0, client=SHELL), {"load": [{"block": 1, "client": 1.0}]}, *UNCLEAR, "and others used as much"),
        (seen(60.0, client=SHELL), {}, "client CPU", "certain", "sh used 0.97 of one core"),
        # much of what crosses the link is not the transfer's
        (seen(60.0, wire=OTHERS_BYTES), {}, "others on the link", "probable", "they moved 48 MB/s beside the 60 MB/s"),
        (
            read(18.0, tcp={"mss": 1448, "out_of_order": 2000}),
            {},
            "lost packets",
            "probable",
            "2.9 % of what arrived came",
        ),
        (seen(25.0, tcp={"data_segs_in": 12207}), {}, "small requests", "probable", "12207 requests of 8 KiB"),
        (seen(17.0, tcp=TINY), {}, "latency × window", "certain", "the sender waited for it 89 % of the time"),
        (
            seen(3.0, tcp=FAR, wire={"before_first_byte_s": 0.6}, size_bytes=SIZE // 100),
            {},
            "protocol round trips",
            "",
            "",
        ),
        (seen(10.0, tcp={"busy_ms": 1000}), {}, SERVER, "probable", "but nothing was on the way 90 % of the time"),
        (seen(60.0, client=FULL_CORES), {"load": [{"block": 1, "client": 0.1}]}, "client CPU", "certain", ""),
        (seen(20.0, effective={"mount_options": "rw,sync,vers=4.2"}), {}, "mount option sync", "probable", ""),
        (seen(20.0, effective={"mount_options": "nodev,nosuid,synchronous"}), {}, "mount option sync", "probable", ""),
        (seen(60.0, effective=SIGNED), {}, SERVER, "", ""),  # without a full processor
        (seen(60.0, effective=ENCRYPTED), {}, SERVER, "", ""),
        (seen(11.0), {"link": HALF}, "link", "", ""),
        (seen(8.0), {"link": WIFI}, SERVER, "", ""),  # a quarter of a radio's rate does not fill the air
        (seen(20.0, tcp={"retransmits": 50}), {}, SERVER, "", ""),
        (seen(20.0, tcp=QUEUED | {"busy_ms": 2000}), {}, SERVER, "", ""),
        (seen(20.0, tcp=QUEUED | {"rtt_median_ms": 0.6}), {}, SERVER, "", ""),
        (seen(20.0, tcp=QUEUED | {"rwnd_limited_ms": 2000}), {}, SERVER, "", ""),
        (seen(11.7, ceiling_bytes_per_s=110e6), {}, SERVER, "", ""),  # iperf3 filled the way: a usual speed is chance
        (seen(3.0, tcp=FAR), {"link": {}}, "protocol round trips", "", ""),
        (seen(40.0, wire={"before_first_byte_s": 1.6}), {}, "start-up", "", ""),
        (read(20.0, effective={"mount_options": "rw,sync,vers=4.2"}), {}, SERVER, "", ""),
        (read(20.0, effective={"mount_options": "nodev,nosuid,synchronous"}), {}, SERVER, "", ""),
        (seen(20.0, effective={"mount_options": "rw,async"}), {}, SERVER, "", ""),
        (seen(3.0, tcp=MANY), {}, SERVER, "", ""),
        (seen(3.0, tcp=FAR | {"data_segs_in": SIZE // 4096}), {}, "small requests", "", ""),
        (seen(60.0, client={"waited_s": 1.0}), {"load": [{"block": 1, "client": 3.0}]}, "disturbed", "", ""),
        (seen(60.0), BOTH, "unclear", "", ""),
        (seen(110.0), BOTH, "unclear", "", ""),  # where an interface's speed is no ceiling
        (read(6.3, **RECEIVING), {}, "latency × window", "", "64 KiB"),
        (seen(60.0), {"link": LINK | {"bits_per_s": None}}, *UNCLEAR, "the speed of the link is not known"),
        (seen(60.0), {"link": VPN}, *UNCLEAR, "the way is a tunnel"),
        (seen(60.0), {"link": {}}, *UNCLEAR, "the speed of the link is not known"),
        (seen(103.0), {}, *UNCLEAR, "most of the link was in use"),
        (seen(17.0), {"link": WIFI}, *UNCLEAR, "most of the link was in use"),
        (seen(60.0, client={"process_mean": 0.8}), {}, *UNCLEAR, "this machine was busy (0.80 of a core), though"),
        (seen(60.0, client={"waited_s": 1.0}), {}, *UNCLEAR, "this machine waited for a free core 60 % of the time"),
        (seen(60.0, observed={"tcp": {}}), {}, *UNCLEAR, "not observed: the processor of this machine"),
        (seen(60.0, observed={}), {}, *UNCLEAR, "not observed"),
    ],
)
def test_a_limit_is_named(trial: Any, run: dict[str, Any], limit: str, grade: str, words: str) -> None:
    name, sure, evidence = verdict(trial, **run)
    assert (name, grade or sure, words in evidence) == (limit, sure, True), evidence


def test_some_evidence_is_said_or_excluded() -> None:
    assert verdict(seen(11.2), link=SLOW)[2] == "link: 95 % of what 100 Mbit/s carries"
    name, _, evidence = verdict(seen(200.0))
    assert name != "link"
    assert "some of it did not cross the link" in evidence
    assert verdict(seen(31.0, client={"wifi_bits_per_s": 173 * 10**6}), link=WIFI)[2].startswith("Wi-Fi: 143 %")
    assert verdict(read(40.0, wire={"after_last_byte_s": 2.0}))[0] != "flush to disk"
    # the ceiling of iperf3 counts if the way is slower than this end
    link: dict[str, Any] = {"protocol": "link", "tool": "iperf3", "case_id": "link-write", "position": 0}
    ceiling = [seen(95.0, trial_id=f"link-{shot}", observed={}, **link) for shot in ("before", "after")]
    row = verdicts(a_run([*ceiling, seen(90.0, trial_id="t", ceiling_bytes_per_s=95e6)])).iloc[0]
    assert (row["limited_by"], row["link_share"]) == ("link", pytest.approx(90 / 95))
    assert "of the ceiling" in row["evidence"]


@pytest.mark.parametrize("made", [seen, read])
@pytest.mark.parametrize(
    ("rate", "link", "speed"),
    [
        (11.7, LINK, "100 Mbit/s"), (11.7, {}, "100 Mbit/s"), (113.0, {"interface": "eth0"}, "1 Gbit/s"),
        (113.0, TENFOLD, "1 Gbit/s"), (285.0, TENFOLD, "2.5 Gbit/s"), (119.0, {"mtu": 9000}, "1 Gbit/s"),
    ],
)  # fmt: skip
def test_a_rate_that_fills_a_usual_speed(made: Any, rate: float, link: dict[str, Any], speed: str) -> None:
    name, grade, evidence = verdict(made(rate), link=link)
    assert (name, grade) == ("link", "probable")
    assert f"{rate:.3g} MB/s is just what {speed} of Ethernet carries" in evidence
    for beside, of in ((100.0, {}), (108.0, {}), (10.5, LINK), (12.5, LINK), (11.7, WIFI), (11.7, VPN)):
        assert verdict(seen(beside), link=of)[0] != "link", beside


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
    assert row["limited_by"] in {*REMEDY, "unclear"}
    assert row["grade"] in ("certain", "probable", "unclear")
    assert row["evidence"]
    assert row["utilisation"] is np.nan or not row["utilisation"] > 1 + 1e-9
    assert set(VERDICT) <= set(row.index)
