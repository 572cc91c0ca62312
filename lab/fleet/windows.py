"""Windows of time in which sweeps may run, such as nights and week-ends, in the controller's local time."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
PATTERN = re.compile(
    r"(?:(?P<first>[A-Z][a-z]{2})(?:-(?P<last>[A-Z][a-z]{2}))? )?"
    r"(?P<begin>[0-2][0-9]:[0-5][0-9])-(?P<end>[0-2][0-9]:[0-5][0-9])"
)
MINUTES_OF_A_DAY = 24 * 60
DAYS_AHEAD = 8  # within these every window opens and closes once


@dataclass(frozen=True)
class Window:
    """``begin`` and ``end`` are minutes after midnight, on ``days`` (0: Monday); the end may be on the next day."""

    days: frozenset[int]
    begin: int
    end: int

    def on(self, midnight: datetime) -> tuple[datetime, datetime] | None:
        """When the window opens and closes on the day of this midnight; None if it does not open on this day."""
        if midnight.weekday() not in self.days:
            return None
        end = self.end if self.end > self.begin else self.end + MINUTES_OF_A_DAY
        return midnight + timedelta(minutes=self.begin), midnight + timedelta(minutes=end)


def parse_window(text: object) -> Window:
    """Parse ``"22:00-06:00"``, ``"Sat 08:00-20:00"`` or ``"Mon-Fri 20:00-06:00"``. Raises ValueError."""
    expected = 'a window of time such as "22:00-06:00" or "Mon-Fri 20:00-06:00"'
    match = PATTERN.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f"is not {expected}")
    first, last = match["first"] or "Mon", match["last"] or match["first"] or "Sun"
    begin, end = (int(time[:2]) * 60 + int(time[3:]) for time in (match["begin"], match["end"]))
    if not {first, last} <= set(DAYS) or begin >= MINUTES_OF_A_DAY or end > MINUTES_OF_A_DAY:
        raise ValueError(f"is not {expected}: days are {', '.join(DAYS)}, hours 00:00 to 24:00")
    start, length = DAYS.index(first), (DAYS.index(last) - DAYS.index(first)) % len(DAYS) + 1
    return Window(frozenset((start + day) % len(DAYS) for day in range(length)), begin, end)


@dataclass(frozen=True)
class Opening:
    """A stretch of time in which sweeps may run, in seconds since 1970; ``end`` may be infinite."""

    begin: float
    end: float


ALWAYS = Opening(-math.inf, math.inf)


def next_opening(windows: Sequence[Window], now: float) -> Opening:
    """The opening that holds ``now``, or the next one, of windows that may overlap; endless without windows."""
    if not windows:
        return ALWAYS
    today = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    midnights = [today + timedelta(days=day) for day in range(-1, DAYS_AHEAD + 1)]
    spans = sorted(span for window, midnight in itertools.product(windows, midnights) if (span := window.on(midnight)))
    merged: list[list[float]] = []
    for begin, end in ((begin.timestamp(), end.timestamp()) for begin, end in spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return next(Opening(begin, end) for begin, end in merged if end > now)


def ends_at(windows: Sequence[Window], start: float, seconds: float) -> float:
    """When a task ends that begins at ``start``, takes ``seconds`` and runs in open windows alone."""
    now = start
    for _ in range(1000):  # no sweep takes years
        opening = next_opening(windows, now)
        now = max(now, opening.begin)
        if now + seconds <= opening.end:
            return now + seconds
        seconds -= opening.end - now
        now = opening.end
    return now + seconds
