"""The link between two hosts: what its rate means, how tc is told, and when a frame of a relayed link arrives."""

from pathlib import Path

import pytest

from lab.local import delay_relay
from lab.local.delay_relay import QUIET_S, Processors, Wire
from lab.local.network import ETHERNET_OVERHEAD_BYTES, LARGEST_FRAME_BYTES, bits_per_second, token_bucket

FRAME_S = (1514 + ETHERNET_OVERHEAD_BYTES) * 8 / 1e9  # a frame of 1514 bytes at 1 Gbit/s


@pytest.mark.parametrize(("rate", "expected"), [
    ("none", 0), ("1gbit", 1e9), ("2.5gbit", 2.5e9), ("940mbit", 940e6), ("64kbit", 64e3), ("9600bit", 9600),
])  # fmt: skip
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
    # where a relay spaces frames, tc holds the rate alone
    assert set(options_of(token_bucket(rate, relayed=True))) == {"rate", "burst", "latency", "overhead"}


def arrivals(wire: Wire, frames: list[tuple[float, int]]) -> list[float]:
    """When frames arrive that were sent at these times with so many bytes."""
    for sent_at, size in frames:
        wire.put(bytes(size), sent_at)
    return [at for at, _ in wire.frames]


@pytest.mark.parametrize(("wire", "frames", "expected"), [
    (Wire(1e9, 0.25), [(5.0, 1514)] * 3, [5.25 + number * FRAME_S for number in (1, 2, 3)]),
    # after a pause a frame waits for none and passes no faster
    (Wire(1e9, 0.0), [(0.0, 1514), (9.0, 1514), (9.0, 1514)], [FRAME_S, 9 + FRAME_S, 9 + 2 * FRAME_S]),
    # frames that a sender had ready are read in two parts, the second while the link is still busy
    (Wire(1e9, 0.0), [(0.0, 1514)] * 5 + [(4 * FRAME_S, 1514)] * 5, [number * FRAME_S for number in range(1, 11)]),
    (Wire(0.0, 0.5), [(1.0, 60), (1.0, 9000)], [1.5, 1.5]),
])  # fmt: skip
def test_frames_arrive_by_rate_and_delay(wire: Wire, frames: list[tuple[float, int]], expected: list[float]) -> None:
    assert arrivals(wire, frames) == pytest.approx(expected, rel=1e-12)


def test_what_comes_when_the_queue_is_full_is_lost_and_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.local.delay_relay.LONGEST_QUEUE", 2)
    wire = Wire(1e9, 0.0)
    assert arrivals(wire, [(0.0, 100)] * 5) == arrivals(Wire(1e9, 0.0), [(0.0, 100)] * 2)


def test_processors_stay_awake_until_no_frame_came_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(delay_relay, "LATENCY", str(tmp_path / "missing"))
    processors = Processors()
    processors.stay_awake()
    assert processors.wait_s == QUIET_S
    processors.may_sleep()
    assert not (tmp_path / "missing").exists()
