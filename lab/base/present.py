"""What the types cannot tell: that a value which may be None is there."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """The value. Raises TypeError where it is None: an error of the lab's own, which ``python -O`` keeps."""
    if value is None:
        raise TypeError("a value that is always there is None")
    return value
