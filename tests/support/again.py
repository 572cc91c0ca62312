"""Runs a test of the scenarios in the breadth tier, with other parameters."""

import functools
from collections.abc import Callable

import pytest


def again(test: Callable[..., None], names: str, *values: object) -> Callable[..., None]:
    """The test with its marks, parametrized by these values of these names alone."""

    @functools.wraps(test)
    def same(**arguments: object) -> None:
        test(**arguments)

    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name != "parametrize"]
    same.__dict__["pytestmark"] = [*marks, pytest.mark.parametrize(names, values).mark]
    return same
