"""Windows of time: what opens when, and when what runs in them alone ends."""

from datetime import datetime

import pytest

from lab.fleet.windows import ALWAYS, Opening, ends_at, next_opening, parse_window


def at(day: int, hour: float) -> float:
    """A time in November 2026, whose second day is a Monday."""
    return datetime(2026, 11, day).timestamp() + hour * 3600


@pytest.mark.parametrize(("texts", "now", "begin", "end"), [
    (["22:00-06:00"], at(3, 12), at(3, 22), at(4, 6)),
    (["22:00-06:00"], at(3, 3), at(2, 22), at(3, 6)),
    (["22:00-06:00"], at(3, 6), at(3, 22), at(4, 6)),
    (["Mon-Fri 20:00-06:00"], at(6, 23), at(6, 20), at(7, 6)),  # it goes on into Saturday
    (["Mon-Fri 20:00-06:00"], at(7, 7), at(9, 20), at(10, 6)),
    (["Sat-Sun 00:00-24:00"], at(4, 0), at(7, 0), at(9, 0)),  # two days are one stretch
    (["Fri-Mon 12:00-13:00"], at(3, 0), at(6, 12), at(6, 13)),
    (["Wed 08:00-09:00", "Wed 08:30-10:00"], at(2, 0), at(4, 8), at(4, 10)),
    (["00:00-24:00"], at(3, 5), at(2, 0), at(12, 0)),  # as far as is looked
    ([], at(3, 0), ALWAYS.begin, ALWAYS.end),
])  # fmt: skip
def test_a_window_is_open_now_or_opens_next(texts: list[str], now: float, begin: float, end: float) -> None:
    assert next_opening(tuple(map(parse_window, texts)), now) == Opening(begin, end)


def test_what_does_not_fit_into_a_window_goes_on_in_the_next() -> None:
    nights = (parse_window("22:00-06:00"),)
    assert ends_at(nights, at(3, 23), 3600) == at(4, 0)
    assert ends_at(nights, at(3, 12), 3600) == at(3, 23)
    assert ends_at(nights, at(3, 23), 10 * 3600) == at(5, 1)
    assert ends_at((), 5.0, 10.0) == 15.0


@pytest.mark.parametrize("text", ["", "22-6", "25:00-26:00", "22:00-06:60", "Mo 10:00-11:00", "24:00-01:00", 5, None])
def test_what_is_no_window_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is not a window of time such as"):
        parse_window(text)
