"""Many cases of one test that are all refused: which one is not, the test says."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(kind: type[Exception], words: str, case: object) -> Iterator[None]:
    """Fail where what runs inside raises no such error with these words (a pattern), and name the case."""
    try:
        yield
    except kind as error:
        if re.search(words, str(error)):
            return
        pytest.fail(f"{case!r}: {error}")
    pytest.fail(f"not refused: {case!r}")
