"""The link between two hosts: what its rate means, how tc is told, and when a frame of a relayed link arrives."""

from pathlib import Path

import pytest

from lab.local import delay_relay
from lab.local.delay_relay import QUIET_S, Processors, Wire
from lab.local.network import ETHERNET_OVERHEAD_BYTES, LARGEST_FRAME_BYTES, bits_per_second, token_bucket


@pytest.mark.parametrize(
    ("rate", "expected"),
    [("none", 0), ("1gbit", 1e9), ("2.5gbit", 2.5e9), ("940mbit", 940e6), ("64kbit", 64e3), ("9600bit", 9600)],
)
def test_a_rate_is_bits_a_second(rate: str, expected: float) -> None:
    assert bits_per_second(rate) == expected


def options_of(words: list[str]) -> dict[str, str]:
    return dict(zip(words[1::2], words[2::2], strict=True))


@pytest.mark.parametrize("rate", ["100mbit", "1gbit", "10gbit"])
def test_frames_are_spaced_by_a_bucket_that_holds_little_more_than_one(rate: str) -> None:
    options = options_of(token_bucket(rate, relayed=False))
    assert (options["rate"], options["overhead"]) == (rate, str(ETHERNET_OVERHEAD_BYTES))
    peak, bucket = bits_per_second(options["peakrate"]), int(options["minburst"])
    assert 1 < peak / bits_per_second(rate) <= 1.1
    assert bucket > LARGEST_FRAME_BYTES, "tc drops a frame that is larger"
    assert (bucket - LARGEST_FRAME_BYTES) * 8 / peak <= 50e-6


def test_where_a_relay_spaces_them_tc_holds_the_rate_alone() -> None:
    assert set(options_of(token_bucket("1gbit", relayed=True))) == {"rate", "burst", "latency", "overhead"}


def arrivals(wire: Wire, frames: list[tuple[float, int]]) -> list[float]:
    """When frames arrive that were sent at these times with so many bytes."""
    for sent_at, size in frames:
        wire.put(bytes(size), sent_at)
    return [at for at, _ in wire.frames]


def test_frames_sent_at_once_arrive_one_after_the_other() -> None:
    time = (1514 + ETHERNET_OVERHEAD_BYTES) * 8 / 1e9
    assert arrivals(Wire(1e9, 0.25), [(5.0, 1514)] * 3) == pytest.approx([5.25 + n * time for n in (1, 2, 3)])


def test_a_frame_after_a_pause_waits_for_none_and_passes_no_faster() -> None:
    time = (1514 + ETHERNET_OVERHEAD_BYTES) * 8 / 1e9
    assert arrivals(Wire(1e9, 0.0), [(0.0, 1514), (9.0, 1514), (9.0, 1514)]) == pytest.approx(
        [time, 9 + time, 9 + 2 * time]
    )


def test_a_relay_that_reads_late_loses_none_of_the_rate() -> None:
    """Ten frames that a sender had ready were read in two parts, the second of them while the link was still busy."""
    time = (1514 + ETHERNET_OVERHEAD_BYTES) * 8 / 1e9
    late = arrivals(Wire(1e9, 0.0), [(0.0, 1514)] * 5 + [(4 * time, 1514)] * 5)
    assert late[-1] == pytest.approx(10 * time)


def test_a_link_without_a_rate_delays_alone() -> None:
    assert arrivals(Wire(0.0, 0.5), [(1.0, 60), (1.0, 9000)]) == [1.5, 1.5]


def test_what_comes_when_the_queue_is_full_is_lost_and_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.local.delay_relay.LONGEST_QUEUE", 2)
    wire = Wire(1e9, 0.0)
    assert arrivals(wire, [(0.0, 100)] * 5) == arrivals(Wire(1e9, 0.0), [(0.0, 100)] * 2)


def test_processors_stay_awake_from_the_first_frame_until_there_was_none_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    latency = tmp_path / "latency"
    latency.touch()
    monkeypatch.setattr(delay_relay, "LATENCY", str(latency))
    processors = Processors()
    waits = [processors.wait_s]
    for change in (processors.stay_awake, processors.stay_awake, processors.may_sleep, processors.may_sleep):
        change()
        waits.append(processors.wait_s)
    assert waits == [None, QUIET_S, QUIET_S, None, None]
    assert latency.read_bytes() == bytes(4)  # written once


def test_where_the_kernel_has_no_such_file_frames_pass_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delay_relay, "LATENCY", str(tmp_path / "missing"))
    processors = Processors()
    processors.stay_awake()
    assert processors.wait_s == QUIET_S
    processors.may_sleep()
    assert not (tmp_path / "missing").exists()
