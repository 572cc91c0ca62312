"""Conditions of `--fail-if`, such as ``write < 80 MB/s or read < 90 %`` and ``slower-than 10%``, and their judgement.

The exit code 3 for a condition that is met lets cron, a script or a monitor tell it from a failure.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab import stats
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.design.factors import Direction
from lab.results.json_object import RunJson

MET, CANNOT_TELL = 3, 1  # exit codes
LINK = "%"  # the unit of a share of what the link carries
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
# bytes per second, or of the link's
UNITS = {"MB/s": 1e6, "MiB/s": 2.0**20, "GB/s": 1e9, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8, LINK: 0.01}
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,6})?"  # what fits into a float without loss
_CONDITION = re.compile(rf"\s*(write|read)\s*(<=|>=|<|>)\s*({_NUMBER})\s*({'|'.join(UNITS)})\s*")
_SLOWER = re.compile(rf"\s*slower-than\s+({_NUMBER})\s*%\s*")
RIGHT = (
    "right are 'write < 80 MB/s', 'read <= 90 %' (of the link) and 'write < 700 Mbit/s or read < 80 MB/s'; units: "
    f"{', '.join(UNITS)}"
)


@dataclass(frozen=True)
class Condition:
    """One comparison of a direction's speed with a limit: ``number`` of ``unit``, one of UNITS."""

    direction: Direction
    comparison: str
    number: float
    unit: str

    def __str__(self) -> str:
        number = f"{self.number:.6f}".rstrip("0").rstrip(".")
        return f"{self.direction} {self.comparison} {number} {self.unit}"


@dataclass(frozen=True)
class Speed:
    """The median speed of one direction in bytes per second, its 95 % interval, and what the link carries, else NaN."""

    median: float
    low: float
    high: float
    link: float


@dataclass(frozen=True)
class Judgement:
    """Whether a condition is met, None if that cannot be told; and a sentence on why."""

    condition: Condition
    is_met: bool | None
    sentence: str

    def to_json(self) -> dict[str, object]:
        """The judgement as JSON values."""
        return {"condition": str(self.condition), "met": self.is_met, "why": self.sentence}


def parse_conditions(text: str) -> list[Condition]:
    """The conditions in ``text``, joined by ``or``. Raises :class:`BadInput`."""
    conditions = []
    for part in re.split(r"\bor\b", text):
        match = _CONDITION.fullmatch(part)
        if match is None or float(match[3]) == 0:
            raise BadInput(f"--fail-if: {one_line(part.strip(), 80)!r} is no condition", RIGHT)
        conditions.append(Condition(Direction(match[1]), match[2], float(match[3]), match[4]))
    return conditions


def parse_slower_than(text: str) -> float:
    """The percent of ``slower-than 10%``. Raises :class:`BadInput`."""
    match = _SLOWER.fullmatch(text)
    if match is None or not 0 <= float(match[1]) < 100:
        right = "right is 'slower-than 10%', with any number from 0 to below 100"
        raise BadInput(f"--fail-if: {one_line(text, 80)!r} is no condition", right)
    return float(match[1])


def speeds_of(trials: stats.Trials) -> dict[Direction, Speed]:
    """The speed of each direction that has a good trial: that of its fastest protocol and tool, by their medians.

    The link carries what iperf3 measured beside these trials, else what the client's interface names.
    """
    encoded = stats.encode(trials)
    named = _named_link(encoded.frame.attrs.get("run", {}))
    speeds: dict[Direction, Speed] = {}
    for (*_, direction), group in stats.measured(encoded).groupby(list(stats.POOLED), sort=False):
        values = group["bytes_per_s"].to_numpy(dtype=float)
        ceiling = float(group["ceiling_bytes_per_s"].astype(float).median())
        speed = Speed(float(np.median(values)), *stats.median_interval(values), ceiling if ceiling > 0 else named)
        way = Direction(str(direction))
        if way not in speeds or speed.median >= speeds[way].median:
            speeds[way] = speed
    return speeds


def _named_link(run: RunJson) -> float:
    """The speed that the client's interface names, in bytes per second, or NaN."""
    link: object = run.get("link")
    speeds = [link.get("bits_per_s") if isinstance(link, Mapping) else None]
    speeds += [run.get("hosts", {}).get("client", {}).get("link_bits_per_s")]
    return next((bits / 8 for bits in speeds if isinstance(bits, int | float) and bits > 0), np.nan)


def judge(conditions: Sequence[Condition], speeds: Mapping[Direction, Speed]) -> list[Judgement]:
    """Each condition judged by the median; if its interval holds the limit, the sentence says that it is not clear."""
    return [_judge(condition, speeds.get(condition.direction)) for condition in conditions]


def _judge(condition: Condition, speed: Speed | None) -> Judgement:
    if speed is None:
        return Judgement(condition, None, f"{condition}: cannot be told: no {condition.direction} counts")
    scale = UNITS[condition.unit] * (speed.link if condition.unit == LINK else 1)
    if np.isnan(scale):
        return Judgement(condition, None, f"{condition}: cannot be told: the speed of the link is not known")
    median, low, high = (value / scale for value in (speed.median, speed.low, speed.high))
    is_met = COMPARISONS[condition.comparison](median, condition.number)
    interval = "" if np.isnan(low) else f" [{low:.4g}, {high:.4g}]"
    doubt = ", not clear: the interval holds the limit" if low <= condition.number <= high else ""
    measured = f"{condition.direction} is {median:.4g}{interval} {condition.unit}"
    return Judgement(condition, is_met, f"{condition}: {'met' if is_met else 'not met'}{doubt}; {measured}")


def exit_code(judgements: Sequence[Judgement]) -> int:
    """MET if any condition is met, else CANNOT_TELL if one could not be told, else 0."""
    if any(judgement.is_met for judgement in judgements):
        return MET
    return CANNOT_TELL if any(judgement.is_met is None for judgement in judgements) else 0
