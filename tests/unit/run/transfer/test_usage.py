"""What a host did during a transfer, from readings before, during and after it."""

import json
from typing import Any

import pytest

from lab.base.present import present
from lab.platforms.readings import Connection, Disk, Process, Reading, Ticks
from lab.results.observed import TcpFacts
from lab.run.transfer.time_series import series
from lab.run.transfer.usage import carrier, usage

CORES = 4
CP, SERVER, OLD = (7, 100), (8, 101), (9, 102)
IDLE = Ticks(0, 0, 0, 0, 0, 0, 0, 0)


def usage_json(*readings: Reading, elapsed_s: float = 1.0) -> dict[str, Any]:
    return usage(readings, elapsed_s, CORES).to_json()


def core(busy: int, idle: int, **more: int) -> Ticks:
    return IDLE._replace(user=busy, idle=idle, **more)


def test_averages_are_of_the_first_and_the_last_reading_alone() -> None:
    before = {"usage_s": 1.0, "throttled_s": 0.5, "waited_s": 2.0}
    after = {"usage_s": 3.0, "throttled_s": 1.25, "waited_s": 2.1}
    first = Reading(10, group=before, net={"tx_bytes": 100, "rx_bytes": 5})
    odd = Reading(11, group={"usage_s": 99.0}, net={"tx_bytes": 101, "rx_bytes": 6})
    last = Reading(14, group=after, net={"tx_bytes": 900, "rx_bytes": 45})
    used = usage_json(first, odd, last, elapsed_s=4.0)
    assert (used["cpu_cores"], used["throttled_s"], used["waited_s"]) == (0.5, 0.75, 0.1)
    assert (used["tx_bytes"], used["rx_bytes"], used["samples"]) == (800, 40, 1)


def test_what_cores_did_is_a_share_of_all_their_time_and_the_busiest_is_named() -> None:
    first = Reading(0, cores={"cpu0": IDLE, "cpu1": IDLE})
    busy = Ticks(user=30, nice=10, system=40, idle=0, iowait=0, irq=5, softirq=10, steal=5)
    last = Reading(1, cores={"cpu0": busy, "cpu1": core(0, 90, iowait=10)})
    used = usage_json(first, last)
    shares = {name: used[name] for name in ("user", "system", "softirq", "iowait", "steal")}
    assert shares == {"user": 0.2, "system": 0.2, "softirq": 0.075, "iowait": 0.05, "steal": 0.025}
    assert (used["cores"], used["core_mean"], used["core_peak"]) == (2, 1.0, 1.0)


def test_where_no_core_was_seen_to_do_anything_their_number_is_known_all_the_same() -> None:
    used = usage_json(Reading(0, cores={"cpu0": IDLE}), Reading(0.01, cores={"cpu0": IDLE}), elapsed_s=0.01)
    assert (used["cores"], "core_mean" in used) == (CORES, False)


def test_a_peak_is_no_shorter_than_half_a_second() -> None:
    ticks = (0, 0, 10, 10, 10, 10, 10)  # the core is busy in one of six tenths of a second
    steps = [
        Reading(number / 10, cores={"cpu0": core(sum(ticks[: number + 1]) // 5, number * 10)}, net={"tx_bytes": sent})
        for number, sent in enumerate((0, 0, 1000, 1000, 1000, 1000, 1000))
    ]
    used = usage_json(*steps, elapsed_s=0.6)
    assert (used["peak_bytes_per_s"], used["core_peak"] < 0.2) == (2000, True)
    short = usage_json(Reading(0, net={"tx_bytes": 0}), Reading(0.2, net={"tx_bytes": 1000}), elapsed_s=0.2)
    assert short["peak_bytes_per_s"] == 5000, "the mean of a shorter transfer"


def test_the_busiest_process_is_found_though_it_ended_before_the_end() -> None:
    first = Reading(0, processes={SERVER: Process("smbd", 50.0), OLD: Process("cron", 700.0)})
    during = Reading(2, processes={CP: Process("cp", 1.8)})
    last = Reading(4, processes={SERVER: Process("smbd", 51.2), OLD: Process("cron", 700.0)})
    used = usage_json(first, during, last, elapsed_s=4.0)
    assert (used["process"], used["process_mean"]) == ("cp", 0.9)


def test_disks_are_summed_and_the_busiest_one_is_how_busy_they_were() -> None:
    first = Reading(0, disks={"sda": Disk(10, 20, 1.0), "sdb": Disk(0, 0, 0.0)})
    last = Reading(2, disks={"sda": Disk(1010, 20, 1.5), "sdb": Disk(1000, 300, 1.8)})
    used = usage_json(first, last, elapsed_s=2.0)
    assert (used["disk_read_bytes"], used["disk_written_bytes"], used["disk_busy"]) == (2000, 300, 0.9)


def test_the_least_memory_is_of_all_readings() -> None:
    used = usage_json(*(Reading(at_s, available_bytes=free) for at_s, free in ((0, 900), (1, 100), (2, 800))))
    assert used["memory_least_bytes"] == 100


def test_what_is_not_counted_or_began_again_is_left_out() -> None:
    assert usage_json(Reading(0), Reading(1)) == {"cores": CORES, "samples": 0}
    used = usage_json(Reading(0, net={"tx_bytes": 9, "rx_bytes": 1}), Reading(1, net={"tx_bytes": 3, "rx_bytes": 2}))
    assert ("tx_bytes" in used, used["rx_bytes"]) == (False, 1)


def connection(port: int, **facts: Any) -> Connection:
    return Connection(f"192.0.2.1:{port}", "192.0.2.2:445", TcpFacts(**facts))


def carried(*readings: Reading) -> TcpFacts:
    """The facts of the connection that carried the payload."""
    return present(carrier(readings)).tcp


def test_the_carrier_is_the_connection_that_moved_most_meanwhile() -> None:
    first = Reading(0, connections=(connection(1, acked_bytes=10**9), connection(2, acked_bytes=1000, retransmits=3)))
    last = connection(1, acked_bytes=10**9 + 5), connection(2, acked_bytes=8000, retransmits=4)
    tcp = carried(first, Reading(5, connections=last))
    assert (tcp.age_s, tcp.acked_bytes, tcp.retransmits) == (0.0, 7000, 1)


def test_a_connection_that_ended_is_known_from_its_last_sample() -> None:
    during = [Reading(at_s, connections=(connection(3, received_bytes=moved),)) for at_s, moved in ((1, 50), (4, 200))]
    tcp = carried(Reading(0), *during, Reading(4.5))
    assert (tcp.age_s, tcp.received_bytes) == (0.5, 200)


def test_the_carrier_counts_the_requests_of_this_transfer_and_its_usual_round_trip() -> None:
    states = [(100, 7, 90.0), (200, 20, 0.4), (900, 107, 0.6), (1000, 117, 3.0)]
    readings = [
        Reading(at_s, connections=(connection(1, acked_bytes=moved, data_segs_in=requests, rtt_ms=rtt_ms),))
        for at_s, (moved, requests, rtt_ms) in enumerate(states)
    ]
    tcp = carried(*readings)
    assert (tcp.data_segs_in, tcp.rtt_median_ms) == (110, 0.6)


def test_without_connections_there_is_no_carrier() -> None:
    assert carrier((Reading(0), Reading(1))) is None
    idle = (connection(1, acked_bytes=5),)
    assert carrier((Reading(0, connections=idle), Reading(1, connections=idle))) is None


def test_a_series_has_lists_of_one_length_and_counts_from_its_beginning() -> None:
    first = Reading(
        10, net={"tx_bytes": 100}, cores={"cpu0": core(0, 0)}, group={"usage_s": 3.0}, disks={"sda": Disk(5, 6, 0.0)},
        processes={SERVER: Process("smbd", 2.0)},
    )  # fmt: skip
    middle = Reading(10.1, net={"tx_bytes": 300}, connections=(connection(1, rtt_ms=0.2),))
    last = Reading(
        11, net={"tx_bytes": 900}, cores={"cpu0": core(50, 50)}, group={"usage_s": 3.5}, available_bytes=7,
        disks={"sda": Disk(25, 6, 0.0)}, processes={SERVER: Process("smbd", 2.5), OLD: Process("idle", 0.0)},
    )  # fmt: skip
    course = json.loads(json.dumps(series((first, middle, last))))
    assert (course["at_s"], course["tx_bytes"]) == ([0.0, 0.1, 1.0], [0, 200, 800])
    assert (course["cpu_s"], course["disk_read_bytes"]) == ([0.0, None, 0.5], [0, None, 20])
    assert (course["available_bytes"], course["core_busy"]) == ([None, None, 7], {"cpu0": [None, None, 0.5]})
    assert course["processes"] == [[1.0, {"smbd 8": 0.5}]]
    assert [row[:2] for row in course["connections"]] == [[0.1, "192.0.2.1:1 192.0.2.2:445"]]
    assert course["connections"][0][2]["rtt_ms"] == pytest.approx(0.2)


def test_a_series_has_what_each_core_did_since_the_reading_before() -> None:
    ticks = ((0, 0, 0), (1, 1, 3), (2, 5, 3))
    course = series([Reading(at_s, cores={"cpu0": core(busy, idle)}) for at_s, busy, idle in ticks])
    assert (course["core_busy"], course["user"]) == ({"cpu0": [None, 0.25, 1.0]}, [None, 0.25, 1.0])
