"""A step in the rate inside a transfer: found where there is one, and said with what else changed."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from lab.base.present import present
from lab.hosts import Role
from lab.platforms.readings import Connection, Disk, Reading, Ticks
from lab.results.observed import RateStep, TcpFacts
from lab.run.transfer import rate_step
from lab.run.transfer.rate_step import describe

TICK_S = 0.1


def readings_of(rates: npt.NDArray[np.float64], system: npt.NDArray[np.float64] | None = None) -> list[Reading]:
    """What a host counted every 0.1 s at these rates; ``system`` are the cores busy in the kernel, of two."""
    moved = np.concatenate([[0], np.cumsum(rates * TICK_S)])
    busy = np.zeros(len(moved)) if system is None else np.concatenate([[0], np.cumsum(system * TICK_S * 100)])
    return [
        Reading(
            70 + TICK_S * number, net={"tx_bytes": 5000 + int(bytes_)},
            cores={"cpu0": Ticks(0, 0, round(kernel), 20 * number - round(kernel), 0, 0, 0, 0)},
            connections=(Connection("a:1", "b:2", TcpFacts(retransmits=3)),), disks={"sda": Disk(0, 400 * number, 0.0)},
        )
        for number, (bytes_, kernel) in enumerate(zip(moved, busy, strict=True))
    ]  # fmt: skip


def find_step(readings: list[Reading], count: str, begin_s: float, end_s: float) -> RateStep | None:
    """A step at the client; on the server, nothing changes but the bytes."""
    return rate_step.find_step({Role.CLIENT: readings, Role.SERVER: readings_of(dip())}, count, begin_s, end_s)


def noisy(rates: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.float64]:
    scattered: npt.NDArray[np.float64] = rates * (1 + 0.1 * np.random.default_rng(seed).standard_normal(len(rates)))
    return scattered


def dip() -> npt.NDArray[np.float64]:
    """6 s at 123 MB/s, with 68 MB/s from 2 to 4.5 s."""
    return np.where((np.arange(60) >= 20) & (np.arange(60) < 45), 68e6, 123e6)


@pytest.mark.parametrize("seed", range(5))
def test_a_slower_stretch_is_found_where_it_was(seed: int) -> None:
    step = present(find_step(readings_of(noisy(dip(), seed)), "tx_bytes", 0.0, 6.0))
    assert (step.begin_s, step.end_s) == pytest.approx((2.0, 4.5), abs=0.51)
    assert step.bytes_per_s == pytest.approx(68e6, rel=0.15)
    assert step.else_bytes_per_s == pytest.approx(123e6, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_an_even_rate_that_scatters_has_no_step(seed: int) -> None:
    assert find_step(readings_of(noisy(np.full(80, 1e8), seed)), "tx_bytes", 0.0, 8.0) is None


@pytest.mark.parametrize(
    ("rates", "end_s"),
    [
        (np.where(np.arange(60) < 30, 123e6, 115e6), 6.0),  # a step of 7 %: no more than ceilings differ by
        (dip()[:38], 3.8),  # too short for bins
        (np.where(np.arange(60) == 20, 10e6, 123e6), 6.0),  # a hiccup of a tenth of a second
    ],
)
def test_a_small_or_short_step_is_none(rates: npt.NDArray[np.float64], end_s: float) -> None:
    assert find_step(readings_of(rates), "tx_bytes", 0.0, end_s) is None


@pytest.mark.parametrize(("standard_errors", "is_found"), [(7, True), (5, False)])
def test_a_step_has_to_exceed_the_scatter_by_six_standard_errors(standard_errors: float, is_found: bool) -> None:
    half, step = 40, 0.3  # bins of half a second on each side; part of the rate
    # bins that lie above and below in turn: neighbours differ by twice as much
    error = 2 / (0.6745 * 2**0.5) * (1 / half + 1 / half) ** 0.5
    above = step / error / standard_errors
    rates = 1e8 * (1 - step * (np.arange(2 * half) >= half) + above * (-1) ** np.arange(2 * half))
    assert (find_step(readings_of(rates.repeat(5)), "tx_bytes", 0.0, half) is not None) is is_found


def test_samples_that_lack_the_count_tell_of_no_step() -> None:
    assert find_step(readings_of(dip()), "rx_bytes", 0.0, 6.0) is None
    assert find_step([], "tx_bytes", 0.0, 6.0) is None


def test_only_what_else_changed_is_reported() -> None:
    kernel = np.where((np.arange(60) >= 20) & (np.arange(60) < 45), 0.9, 0.3)
    step = present(find_step(readings_of(dip(), kernel), "tx_bytes", 0.0, 6.0))
    changed = "client, system CPU: 0.90 cores, else 0.30 cores"
    assert step.changed == (changed,)
    assert describe(step) == f"from 2.0 to 4.5 s the rate was 68 MB/s, else 123: {changed}"
    assert describe(replace(step, changed=())).endswith("else 123: nothing else that is sampled changed")
