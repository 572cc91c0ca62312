"""A step in the rate inside one transfer: a stretch that was clearly faster or slower than the rest.

The sampled bytes are cut into bins of equal time. Every stretch of bins is compared with all bins outside it, in
standard errors of that difference (the statistic of circular binary segmentation: Olshen et al., Circular binary
segmentation for the analysis of array-based DNA copy number data, 2004). The scatter of a bin follows from the median
absolute difference between neighbours, because a step enlarges only one or two of these differences.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lab.hosts import Role
from lab.platforms.readings import ALL_CORES, Reading
from lab.results.observed import RateStep

BIN_S = 0.5  # a shorter one holds a few requests only, and samples lie 0.1 s apart
FEWEST_BINS, MOST_BINS = 8, 100
SHORTEST = 2  # bins: one alone may be a hiccup
# Were bins normal, chance would bring one of 5000 stretches so far in one of 100,000 transfers. Simulated with bursts
# of requests, log-normal and dependent (0.8) rates of 0.1 s: in 0 to 3 of 100, and with the last in 8 of 100 of 30 s.
STANDARD_ERRORS = 6.0
LEAST_SCATTER = 0.02  # of the mean rate: bins are cut between samples, which costs that much
MATTERS = 0.85  # a rate that is nearer to the other one differs by no more than ceilings do
CHANGED = 1.5  # times as much, or as little: less goes with the rate itself
TICKS_PER_S = 100  # of Ticks
NORMAL_MAD = 0.6745  # median absolute value of a standard normal deviate

Readings = Sequence[Reading]
Floats = npt.NDArray[np.float64]


def _system_cpu(reading: Reading) -> float | None:
    if not reading.cores or ALL_CORES in reading.cores:
        return None
    return sum(core.system + core.irq + core.softirq for core in reading.cores.values()) / TICKS_PER_S


def _sent_again(reading: Reading) -> float | None:
    if not reading.connections:
        return None
    return sum(connection.tcp.retransmits or 0 for connection in reading.connections)


def _disk_megabytes(reading: Reading) -> float | None:
    if not reading.disks:
        return None
    return sum(disk.read_bytes + disk.written_bytes for disk in reading.disks.values()) / 1e6


# What may have changed, how it is counted and written, and the least per second that is worth mentioning
COUNTED = (
    ("system CPU", _system_cpu, "{:.2f} cores", 0.1),
    ("segments sent again", _sent_again, "{:.0f} a second", 5.0),
    ("disks", _disk_megabytes, "{:.0f} MB/s", 10.0),
)


def find_step(sides: Mapping[Role, Readings], count: str, begin_s: float, end_s: float) -> RateStep | None:
    """The clearest step at the client, in seconds since the first reading, and what else changed on both hosts.

    ``count`` is the counter of the payload's direction. The payload was on the wire from ``begin_s`` to ``end_s``. None
    if there is no step, or the transfer was too short to tell.
    """
    readings = sides[Role.CLIENT]
    moved = [(reading.at_s - readings[0].at_s, reading.net[count]) for reading in readings if count in reading.net]
    times, values = np.array(moved, dtype=float).T if len(moved) > FEWEST_BINS else (np.empty(0), np.empty(0))
    span_s = end_s - begin_s
    bins = min(MOST_BINS, int(min(span_s / BIN_S, len(times) - 1)))
    if bins < FEWEST_BINS:
        return None
    edges = np.linspace(begin_s, end_s, bins + 1)
    rates = np.diff(np.interp(edges, times, values)) / (span_s / bins)
    first, last = _clearest(rates)
    inside, outside = rates[first:last].mean(), np.delete(rates, slice(first, last)).mean()
    differs = min(inside, outside) < MATTERS * max(inside, outside)
    if not differs or abs(inside - outside) < STANDARD_ERRORS * _standard_error(rates, last - first):
        return None
    step = RateStep(
        begin_s=round(float(edges[first]), 2), end_s=round(float(edges[last]), 2), bytes_per_s=round(float(inside)),
        else_bytes_per_s=round(float(outside)),
    )  # fmt: skip
    return replace(step, changed=tuple(_changes(step, sides)))


def _changes(step: RateStep, sides: Mapping[Role, Readings]) -> Iterator[str]:
    """What else was different on the hosts during a step: processors, losses and disks."""
    for role, readings in sides.items():
        at_s = np.array([reading.at_s - readings[0].at_s for reading in readings])
        for name, count, pattern, least in COUNTED:
            values = np.array([count(reading) for reading in readings], dtype=float)
            if np.isnan(values).all():
                continue
            inside, outside = _per_second(at_s, values, step)
            if max(inside, outside) >= least and not 1 / CHANGED < (inside + 1e-9) / (outside + 1e-9) < CHANGED:
                yield f"{role}, {name}: {pattern.format(inside)}, else {pattern.format(outside)}"


def describe(step: RateStep) -> str:
    """A step as a remark."""
    from_s, to_s, rate, other = step.begin_s or 0, step.end_s or 0, step.bytes_per_s or 0, step.else_bytes_per_s or 0
    changes = "; ".join(step.changed or ()) or "nothing else that is sampled changed"
    return f"from {from_s:.1f} to {to_s:.1f} s the rate was {rate / 1e6:.0f} MB/s, else {other / 1e6:.0f}: {changes}"


def _per_second(at_s: Floats, values: Floats, step: RateStep) -> tuple[float, float]:
    """How fast a count grew in a step and outside, from the readings that have it."""
    known = np.isfinite(values)
    ends = [at_s[known][0], step.begin_s or 0.0, step.end_s or 0.0, at_s[known][-1]]
    _, begin, end, _ = stood = np.interp(ends, at_s[known], values[known])
    inside_s, all_s = ends[2] - ends[1], ends[3] - ends[0]
    inside, whole = end - begin, stood[3] - stood[0]
    return inside / inside_s, (whole - inside) / (all_s - inside_s) if all_s > inside_s else 0.0


def _clearest(rates: Floats) -> tuple[int, int]:
    """The stretch of bins that differs from the others by most standard errors: its first bin, and the bin after it."""
    sums, count = np.concatenate([[0.0], rates.cumsum()]), len(rates)
    pairs = itertools.combinations(range(count + 1), 2)
    stretches = [(first, last) for first, last in pairs if SHORTEST <= last - first <= count - SHORTEST]

    def distance(stretch: tuple[int, int]) -> float:
        length = stretch[1] - stretch[0]
        inside = sums[stretch[1]] - sums[stretch[0]]
        apart = abs(inside / length - (sums[-1] - inside) / (count - length))
        return float(apart / (1 / length + 1 / (count - length)) ** 0.5)

    return max(stretches, key=distance)


def _standard_error(rates: Floats, length: int) -> float:
    """The spread of the difference between ``length`` bins and the others."""
    scatter = float(np.median(np.abs(np.diff(rates)))) / (NORMAL_MAD * 2**0.5)
    scatter = max(scatter, LEAST_SCATTER * float(rates.mean()))
    return float(scatter * (1 / length + 1 / (len(rates) - length)) ** 0.5)
