"""Tells the type checker that a value is not None."""

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """The value. Raises TypeError if it is None, unlike ``assert`` even under ``python -O``."""
    if value is None:
        raise TypeError("a value that is always there is None")
    return value
