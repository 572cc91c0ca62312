from datetime import UTC, datetime

import pytest

from lab.report.history import between, day

NEWEST = datetime(2030, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("2030-05-02T03:00", "2030-05-03T03:00", "between 2 and 3 May"),
        ("2030-04-30T03:00", "2030-05-03T03:00", "between 30 April and 3 May"),
        ("2029-12-31T03:00", "2030-01-01T03:00", "between 31 December 2029 and 1 January"),
        ("2029-05-02T03:00", "2029-05-03T03:00", "between 2 and 3 May 2029"),
        ("2030-05-02T03:00", "2030-05-02T14:30", "on 2 May, between 03:00 and 14:30 UTC"),
    ],
)
def test_the_time_between_two_runs(before: str, after: str, text: str) -> None:
    first, last = (datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (before, after))
    assert between(first, last, NEWEST) == text


def test_a_day_of_another_year_names_it() -> None:
    assert day(NEWEST, NEWEST) == "1 June"
    assert day(NEWEST.replace(year=2029), NEWEST) == "1 June 2029"
