"""Days as a person says them: `3 March`, `between 2 and 3 May`; in UTC, as everything of a run."""

from __future__ import annotations

from datetime import datetime


def day(at: datetime, newest: datetime) -> str:
    """The day, such as ``3 March``; with its year where that is not the year of ``newest``."""
    return f"{at.day} {at:%B}" if at.year == newest.year else f"{at.day} {at:%B} {at.year}"


def between(before: datetime, after: datetime, newest: datetime) -> str:
    """The time between two moments, such as ``between 2 and 3 May``; with the time of day where it is one day."""
    if before.date() == after.date():
        return f"on {day(after, newest)}, between {before:%H:%M} and {after:%H:%M} UTC"
    is_one_month = (before.year, before.month) == (after.year, after.month)
    return f"between {before.day if is_one_month else day(before, newest)} and {day(after, newest)}"
